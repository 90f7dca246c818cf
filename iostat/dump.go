package iostat

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Dump is one raw text of the host's state at an end of a step.
type Dump struct {
	Name string // a file name, without its extension: "sysctl-vm", "block-sda", "mountinfo"
	Text string // as the kernel wrote it, or "name = value" lines of the files of a directory
	Err  string // why it is missing or not whole; empty when it is
}

// Bounds of a dump: the text of one file of a directory, and the whole.
const (
	maxValueBytes = 4 << 10
	maxDumpBytes  = 256 << 10
)

// Dumps reads what about the host may explain a run: sysctls under vm and a few of kernel and fs,
// memory, CPUs, mounts, the block queue settings of the disks and of all that is beneath them,
// limits and control group of the processes. Nothing here is fatal: what can't be read is noted in
// its Dump. ctx is looked at between files.
func (r Root) Dumps(ctx context.Context, disks []string, pids []int) []Dump {
	var out []Dump
	add := func(name string, read func() (string, error)) {
		d := Dump{Name: name}
		if err := ctx.Err(); err != nil {
			d.Err = fmt.Sprintf("not read: %v", err)
			out = append(out, d)
			return
		}
		text, err := read()
		if len(text) > maxDumpBytes {
			text, err = text[:maxDumpBytes], fmt.Errorf("cut at %d of %d bytes", maxDumpBytes, len(text))
		}
		if err != nil {
			d.Err = err.Error()
		}
		d.Text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", " "), string(utf8.RuneError))
		out = append(out, d)
	}
	file := func(name, path string) {
		add(name, func() (string, error) {
			b, err := readFile(path)
			return string(b), err
		})
	}
	add("sysctl-vm", func() (string, error) { return r.settings(r.proc("sys/vm")) })
	add("sysctl-other", func() (string, error) { return r.someSettings(r.proc("sys"), otherSysctls) })
	add("memory-and-clock", func() (string, error) { return r.someSettings(r.sys(), hostSettings) })
	for _, name := range []string{"version", "meminfo", "vmstat", "cpuinfo", "swaps", "self/mountinfo"} {
		file(filepath.Base(name), r.proc(name))
	}
	for _, name := range r.stack(disks) {
		add("block-"+name.name, func() (string, error) { return r.settings(r.sys("block", name.path(), "queue")) })
	}
	for _, pid := range pids {
		for _, name := range []string{"limits", "cgroup", "mountinfo"} {
			file(fmt.Sprintf("process-%d-%s", pid, name), r.pid(pid, name))
		}
	}
	return out
}

// otherSysctls are those outside vm that change how a database runs.
var otherSysctls = []string{
	"kernel/numa_balancing",
	"kernel/sched_autogroup_enabled",
	"kernel/perf_event_paranoid",
	"fs/aio-max-nr",
	"fs/file-max",
	"fs/nr_open",
	"net/core/somaxconn",
	"net/ipv4/tcp_congestion_control",
}

// hostSettings are those of /sys, beside the disks'.
var hostSettings = []string{
	"kernel/mm/transparent_hugepage/enabled",
	"kernel/mm/transparent_hugepage/defrag",
	"devices/system/clocksource/clocksource0/current_clocksource",
	"devices/system/node/online",
	"devices/system/cpu/online",
	"devices/system/cpu/smt/control",
	"devices/system/cpu/cpu0/cpufreq/scaling_governor",
	"devices/system/cpu/cpu0/cpufreq/scaling_driver",
	"devices/system/cpu/intel_pstate/no_turbo",
	"devices/system/cpu/cpufreq/boost",
}

// stack lists the whole disks among the devices and beneath them, which is where queue settings
// are.
func (r Root) stack(disks []string) []blockDev {
	var out []blockDev
	seen := map[string]bool{}
	for _, name := range disks {
		b, err := r.findBlock(r.deviceName(name))
		if err != nil {
			continue
		}
		r.descend(b, func(at blockDev, _ bool) {
			if at.parent == "" && !seen[at.name] {
				seen[at.name] = true
				out = append(out, at)
			}
		})
	}
	return out
}

// WholeDisks lists the whole disks among the devices and beneath them.
func (r Root) WholeDisks(devices []string) []string {
	var out []string
	for _, b := range r.stack(devices) {
		out = append(out, b.name)
	}
	return out
}

// settings reads the files of a directory as "name = value" lines.
func (r Root) settings(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		// Some only take a command, and reading vm.stat_refresh makes the kernel collect counters
		// from every CPU.
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o444 != 0 && e.Name() != "stat_refresh" {
			names = append(names, e.Name())
		}
	}
	return r.someSettings(dir, names)
}

// someSettings leaves out what this kernel doesn't have. Several values may stand on a line of
// their own, which becomes a semicolon.
func (r Root) someSettings(dir string, names []string) (string, error) {
	var out strings.Builder
	var failed []string
	for _, name := range names {
		value, err := readWord(filepath.Join(dir, name))
		switch {
		case os.IsNotExist(err):
			continue
		case err != nil:
			failed = append(failed, name)
			continue
		case len(value) > maxValueBytes:
			value = value[:maxValueBytes] + "..."
		}
		fmt.Fprintf(&out, "%s = %s\n", name, strings.ReplaceAll(value, "\n", "; "))
	}
	if len(failed) > 0 {
		return out.String(), fmt.Errorf("not readable: %s", strings.Join(failed, ", "))
	}
	return out.String(), nil
}
