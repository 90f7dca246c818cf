package iostat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestKernelLayouts(t *testing.T) {
	u := Opt[int64]{}
	for _, tc := range []struct {
		kernel            string
		discards, flushes Opt[int64]
		cpus              int64
		guest             int64
		cpuSome, cpuFull  Opt[int64]
		available         Opt[int64]
	}{
		{"4.15", u, u, 1, 0, u, u, Some[int64](1024000 * 1024)},
		{"5.4", Some[int64](7), u, 2, 7, Some[int64](1111), u, u},
		{"6.1", Some[int64](7), Some[int64](7), 2, 7, Some[int64](1111), Some[int64](0), u},
	} {
		t.Run(tc.kernel, func(t *testing.T) {
			r := unpack(t, "kernel/"+tc.kernel+".txtar")
			s, err := NewSampler(r, Watch{Disks: []string{"/dev/sda"}})
			if err != nil {
				t.Fatal(err)
			}
			a := s.Sample()
			// Each counter of the stat file grows by 7; those in flight are a level.
			before, err := os.ReadFile(r.sys("block/sda/stat"))
			if err != nil {
				t.Fatal(err)
			}
			var line []string
			for _, f := range strings.Fields(string(before)) {
				var v int
				fmt.Sscan(f, &v)
				line = append(line, fmt.Sprint(v+7))
			}
			put(t, r.sys("block/sda/stat"), strings.Join(line, " ")+"\n")
			d := Between(a, s.Sample())
			want := DiskCounters{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, tc.discards, tc.discards, tc.discards, tc.discards, tc.flushes, tc.flushes}
			if diff := cmp.Diff(Some(want), d.Total); diff != "" {
				t.Errorf("disk (-want +got):\n%s", diff)
			}
			if d.Disks[0].InFlight != Some[int64](10) {
				t.Errorf("in flight: want 3 + 7, got %v", d.Disks[0].InFlight)
			}
			if d.ReadKB != Some(3.5) || d.WrittenKB != Some(3.5) { // 7 × 512 / 1024
				t.Errorf("kB: want 3.5 and 3.5, got %v and %v", d.ReadKB, d.WrittenKB)
			}
			wantCPU := CPUTicks{1000, 20, 300, 5000, 400, 5, 15, 60, tc.guest, 0}
			if tc.guest > 0 {
				wantCPU.GuestNice = 8
			}
			if a.CPU != Some(wantCPU) || a.CPUs != Some(tc.cpus) || a.ContextSwitches != Some[int64](777000) || a.Forks != Some[int64](4321) ||
				a.Running != Some[int64](2) || a.Blocked != Some[int64](1) || a.Load != Some(Load{0.5, 0.25, 0.1}) {
				t.Errorf("host: got %+v", a)
			}
			if a.Memory.DirtyBytes != Some[int64](120*1024) || a.Memory.WritebackBytes != Some[int64](8*1024) || a.Memory.AvailableBytes != tc.available {
				t.Errorf("memory: got %+v", a.Memory)
			}
			if a.Paging.InKB != Some[int64](5000) || a.Paging.OutKB != Some[int64](6000) {
				t.Errorf("paging: got %+v", a.Paging)
			}
			if a.Pressure.CPU != (Stall{tc.cpuSome, tc.cpuFull}) {
				t.Errorf("pressure of cpu: got %+v", a.Pressure.CPU)
			}
			if len(a.Notes) > 0 {
				t.Errorf("notes: %q", a.Notes)
			}
			if a.CostUS.OK != (runtime.GOOS == "linux") {
				t.Errorf("the sample's own cost: got %v", a.CostUS)
			}
		})
	}
}

func TestBusyPercent(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	c := newClock()
	s, err := newSampler(r, Watch{}, c.now)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	c.advance(1500 * time.Millisecond)
	// user +30 nice +10 system +40 idle +90 iowait +10 irq +5 softirq +15 steal +20: busy 100 of
	// 220 ticks.
	put(t, r.proc("stat"), "cpu  1030 30 340 5090 410 10 30 80 17 9\nctxt 777500\n")
	d := Between(a, s.Sample())
	if d.Seconds != 1.5 || d.ClockStepSeconds != 0 {
		t.Errorf("window: got %v s, step %v", d.Seconds, d.ClockStepSeconds)
	}
	near := func(name string, got Opt[float64], want float64) {
		if !got.OK || got.V < want-1e-9 || got.V > want+1e-9 {
			t.Errorf("%s: want %v, got %v", name, want, got)
		}
	}
	near("busy", d.BusyPercent, 100.0*100/220)
	near("steal", d.StealPercent, 100.0*20/220)
	near("iowait", d.IOWaitPercent, 100.0*10/220)
	if d.BusyUS != Some[int64](1_000_000) { // 100 ticks of 10,000 µs
		t.Errorf("busy µs: got %v", d.BusyUS)
	}
	if d.ContextSwitches != Some[int64](500) || d.Forks.OK {
		t.Errorf("switches %v, forks %v", d.ContextSwitches, d.Forks)
	}
}

// The deltas of single seconds add up to the one between the ends, with wrapping counters and ticks
// that come late.
func TestSecondsAddUp(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	c := newClock()
	rng := rand.New(rand.NewPCG(1, 2))
	var v [17]uint64
	for i := range v {
		v[i] = 1<<32 - 5000 // all of them wrap at 32 bits within the first steps
	}
	ticks := [10]int64{}
	server := task{pid: 10, ppid: 1, start: 100, threads: 3, rssPages: 10}
	write := func() {
		var line []string
		for _, x := range v {
			line = append(line, fmt.Sprint(uint32(x)))
		}
		put(t, r.sys("block/sda/stat"), strings.Join(line, " ")+"\n")
		put(t, r.proc("stat"), "cpu "+strings.Trim(fmt.Sprint(ticks), "[]")+fmt.Sprintf("\nctxt %d\n", ticks[0]*7))
		server.put(t, r)
	}
	write()
	s, err := newSampler(r, Watch{Disks: []string{"sda"}, Server: []int{10}}, c.now)
	if err != nil {
		t.Fatal(err)
	}
	first := s.Sample()
	last := first
	var sum, counts int64
	var seconds float64
	for range 60 {
		for i := range v {
			v[i] += rng.Uint64N(3000)
		}
		for i := range ticks {
			ticks[i] += rng.Int64N(50)
		}
		server.user += rng.Int64N(50)
		server.written += rng.Int64N(1 << 20)
		write()
		c.advance(time.Second + time.Duration(rng.IntN(300))*time.Millisecond)
		now := s.Sample()
		d := Between(last, now)
		counts += d.Total.V.Reads + d.Total.V.WriteSectors + d.Total.V.QueueMS + d.Total.V.Flushes.V
		sum += d.CPU.V.Busy() + d.CPU.V.Total() + d.ContextSwitches.V + d.Server.CPUUS.V + d.Server.WriteBytes.V
		seconds += d.Seconds
		if !d.Total.OK || !d.Flushes.OK || !d.CPU.OK || !d.Server.CPUUS.OK || !d.Server.WriteBytes.OK {
			t.Fatalf("not known: %+v", d)
		}
		last = now
	}
	d := Between(first, last)
	if got := d.Total.V.Reads + d.Total.V.WriteSectors + d.Total.V.QueueMS + d.Total.V.Flushes.V; got != counts {
		t.Errorf("disk: seconds give %d, ends %d", counts, got)
	}
	// The counters started at 2^32 - 5000.
	if got, want := d.Total.V.Reads, int64(v[0]-(1<<32-5000)); got != want {
		t.Errorf("reads: want %d, got %d", want, got)
	}
	if got := d.CPU.V.Busy() + d.CPU.V.Total() + d.ContextSwitches.V + d.Server.CPUUS.V + d.Server.WriteBytes.V; got != sum {
		t.Errorf("host and server: seconds give %d, ends %d", sum, got)
	}
	if diff := seconds - d.Seconds; diff > 1e-6 || diff < -1e-6 {
		t.Errorf("seconds give %v, ends %v", seconds, d.Seconds)
	}
}

func TestAdvance(t *testing.T) {
	for _, tc := range []struct {
		name    string
		last, v uint64
		narrow  bool
		want    int64
		ok      bool
	}{
		{"grows", 10, 15, false, 5, true},
		{"stays", 10, 10, true, 0, true},
		{"32 bits wrap", 1<<32 - 3, 4, false, 7, true},
		{"time wraps", 1<<32 - 1, 0, true, 1, true},
		{"64 bits wrap", 1<<64 - 3, 4, false, 7, true},
		{"reset", 1000, 4, false, 0, false},
		{"reset of time", 1000, 4, true, 0, false},
		{"reset above 32 bits", 1 << 40, 4, false, 0, false},
	} {
		got, ok := advance(tc.last, tc.v, tc.narrow)
		if ok != tc.ok || ok && got != tc.want {
			t.Errorf("%s: want %d %v, got %d %v", tc.name, tc.want, tc.ok, got, ok)
		}
	}
}

func TestDeviceGoesAndComes(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	s, err := NewSampler(r, Watch{Disks: []string{"sda"}})
	if err != nil {
		t.Fatal(err)
	}
	stat := r.sys("block/sda/stat")
	text, err := os.ReadFile(stat)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	if err := os.Remove(stat); err != nil {
		t.Fatal(err)
	}
	b := s.Sample()
	if len(b.Notes) != 1 || !strings.Contains(b.Notes[0], "sda: the device is gone") {
		t.Errorf("notes: %q", b.Notes)
	}
	put(t, stat, string(text))
	c := s.Sample()
	put(t, stat, "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n") // reset
	e := s.Sample()
	put(t, stat, "2 0 0 0 0 0 0") // cut short
	f := s.Sample()
	put(t, stat, "5 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")
	g := s.Sample()
	for name, d := range map[string]Delta{"gone": Between(a, b), "back": Between(b, c), "across": Between(a, c), "reset": Between(c, e), "cut": Between(e, f)} {
		if d.Total.OK || d.Reads.OK || d.ReadKB.OK || d.Flushes.OK {
			t.Errorf("%s: want nothing known, got %+v", name, d.Total)
		}
	}
	if d := Between(e, g); d.Reads != Some[int64](4) || d.ReadKB != Some(4.0) {
		t.Errorf("a reading that failed once must not lose counts: got %v reads, %v kB", d.Reads, d.ReadKB)
	}
}

func TestPartitionAndSum(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	s, err := NewSampler(r, Watch{Disks: []string{"sda", "sda1"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Counted(); !cmp.Equal(got, []string{"sda"}) {
		t.Errorf("counted: want the disk without its partition, got %q", got)
	}
	a := s.Sample()
	put(t, r.sys("block/sda/stat"), "1010 10 16000 500 2000 20 64000 3000 3 1500 3500 50 5 8000 25 70 900\n")
	put(t, r.sys("block/sda/sda1/stat"), "104 1 1600 50 200 2 6400 300 0 150 350 0 0 0 0 0 0\n")
	d := Between(a, s.Sample())
	if d.Reads != Some[int64](10) || d.SumOf("sda1").V.Reads != 4 || d.SumOf("sdb").OK {
		t.Errorf("got %v reads, %+v of sda1, %+v of sdb", d.Reads, d.SumOf("sda1"), d.SumOf("sdb"))
	}
	if f := d.SumOf("sda1").V.Flushes; f.OK {
		t.Errorf("the kernel doesn't count flushes of partitions: want not known, got %v", f)
	}
}

func TestNewSamplerErrors(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	for name, tc := range map[string]struct {
		w    Watch
		want string
	}{
		"no such disk": {Watch{Disks: []string{"sdq"}}, `there is no block device "sdq"; there are sda`},
		"hostile name": {Watch{Disks: []string{"../../etc"}}, `there is no block device "..!..!etc"`},
		"no such pid":  {Watch{Server: []int{4242}}, "process 4242"},
	} {
		_, err := NewSampler(r, tc.w)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: want %q in the error, got %v", name, tc.want, err)
		}
	}
}

func TestNothingToRead(t *testing.T) {
	dir := t.TempDir()
	s, err := NewSampler(Root{dir + "/proc", dir + "/sys"}, Watch{Client: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	d := Between(a, s.Sample())
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"reads", "writes", "read_kb", "cpu_busy_percent", "context_switches", "disk"} {
		if v, ok := fields[k]; !ok || v != nil {
			t.Errorf("%s: want null, got %v", k, v)
		}
	}
	if len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "this system has no") {
		t.Errorf("want one note, got %q", a.Notes)
	}
}

// Samples in the wrong order and of two Samplers have no difference.
func TestBetweenStrangers(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	var all []Sample
	for range 2 {
		s, err := NewSampler(r, Watch{Disks: []string{"sda"}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s.Sample(), s.Sample())
	}
	if d := Between(all[0], all[1]); !d.Reads.OK || !d.CPU.OK {
		t.Errorf("want it known, got %+v", d)
	}
	for name, d := range map[string]Delta{"order": Between(all[1], all[0]), "samplers": Between(all[0], all[2])} {
		d.Seconds, d.ClockStepSeconds = 0, 0
		if diff := cmp.Diff(Delta{}, d); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A clock set back within the window leaves counts right and gives no rates.
func TestClockSetBack(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	c := newClock()
	s, err := newSampler(r, Watch{Disks: []string{"sda"}}, c.now)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	c.advance(-time.Hour)
	put(t, r.sys("block/sda/stat"), "1010 10 16000 500 2000 20 64000 3000 3 1500 3500 50 5 8000 25 70 900\n")
	b := s.Sample()
	if d := Between(a, b); d.Reads != Some[int64](10) || d.Seconds != -3600 {
		t.Errorf("want 10 reads in -3600 s, got %v in %v", d.Reads, d.Seconds)
	}
	if v := NewView(a, b); v.Rows[0].ReadsPerS.OK || v.Host.ContextPerS.OK {
		t.Errorf("want no rates, got %+v", v)
	}
}

func TestClockStep(t *testing.T) {
	a := Sample{At: time.Now()}
	b := Sample{At: a.At.Add(time.Second)}
	if d := Between(a, b); d.Seconds != 1 || d.ClockStepSeconds > 1e-6 || d.ClockStepSeconds < -1e-6 {
		t.Errorf("no step: got %v and %v", d.Seconds, d.ClockStepSeconds)
	}
}
