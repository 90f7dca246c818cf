package iostat

import (
	"context"
	"os"
	"strings"
	"testing"
)

func dumps(t *testing.T, r Root, ctx context.Context, disks ...string) map[string]Dump {
	t.Helper()
	out := map[string]Dump{}
	for _, d := range r.Dumps(ctx, disks, []int{10}) {
		if _, ok := out[d.Name]; ok {
			t.Errorf("%s twice", d.Name)
		}
		out[d.Name] = d
	}
	return out
}

func TestDumps(t *testing.T) {
	r := unpack(t, "devices/dm.txtar")
	put(t, r.proc("sys/vm/dirty_ratio"), "20\n")
	put(t, r.proc("sys/vm/lowmem_reserve_ratio"), "256\t256\t32\n")
	put(t, r.proc("sys/vm/stat_refresh"), "secret\n")
	put(t, r.proc("sys/kernel/numa_balancing"), "0\n")
	put(t, r.sys("kernel/mm/transparent_hugepage/enabled"), "always [madvise] never\n")
	put(t, r.sys("block/dm-1/queue/read_ahead_kb"), "128\n")
	put(t, r.sys("block/nvme0n1/queue/scheduler"), "[none] mq-deadline\n")
	put(t, r.pid(10, "limits"), "Max open files 1024\n")
	put(t, r.proc("cpuinfo"), strings.Repeat("x", maxDumpBytes+1))
	put(t, r.proc("version"), "Linux\x00\xff\n")
	got := dumps(t, r, context.Background(), "dm-1", "nosuch")
	for name, want := range map[string]string{
		"sysctl-vm": "dirty_ratio = 20\nlowmem_reserve_ratio = 256\t256\t32\n", "sysctl-other": "kernel/numa_balancing = 0\n",
		"memory-and-clock": "kernel/mm/transparent_hugepage/enabled = always [madvise] never\n",
		"block-dm-1":       "read_ahead_kb = 128\n", "block-nvme0n1": "scheduler = [none] mq-deadline\n", "process-10-limits": "Max open files 1024\n",
		"version": "Linux �\n",
	} {
		if d := got[name]; d.Text != want || d.Err != "" {
			t.Errorf("%s: want %q, got %+v", name, want, d)
		}
	}
	if d := got["mountinfo"]; !strings.Contains(d.Text, "/dev/mapper/vg0-data") || d.Err != "" {
		t.Errorf("mountinfo: got %+v", d)
	}
	if d := got["cpuinfo"]; len(d.Text) != maxDumpBytes || !strings.Contains(d.Err, "cut") {
		t.Errorf("cpuinfo: %d bytes, %q", len(d.Text), d.Err)
	}
	for _, name := range []string{"block-dm-0", "meminfo", "process-10-cgroup"} { // not there
		if d, ok := got[name]; !ok || d.Err == "" || d.Text != "" {
			t.Errorf("%s: want a note, got %+v", name, d)
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, d := range dumps(t, r, ctx, "dm-1") {
		if d.Text != "" || !strings.Contains(d.Err, "canceled") {
			t.Errorf("%s: want it left out, got %+v", name, d)
		}
	}
}

func TestDumpsHere(t *testing.T) {
	if _, err := os.Stat("/proc/sys/vm"); err != nil {
		t.Skip("no /proc/sys/vm")
	}
	if d := dumps(t, Root{}, context.Background())["sysctl-vm"]; !strings.Contains(d.Text, "dirty_ratio = ") {
		t.Errorf("got %+v", d)
	}
}
