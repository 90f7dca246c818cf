package iostat

import (
	"os"
	"testing"
	"time"
)

// cpu returns user and system ticks of a sample that must know them.
func cpu(t *testing.T, p Process) [2]int64 {
	t.Helper()
	if !p.UserTicks.OK || !p.SystemTicks.OK {
		t.Fatalf("CPU is not known: %+v", p)
	}
	return [2]int64{p.UserTicks.V, p.SystemTicks.V}
}

func TestTree(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	c := newClock()
	root := task{pid: 10, ppid: 1, comm: "my) S 1 (sqld", user: 100, system: 10, cuser: 1000, csys: 500, threads: 5, start: 50, rssPages: 100, hwmKB: 800, read: 1000, written: 2000}
	child := task{pid: 11, ppid: 10, user: 30, system: 3, threads: 1, start: 60, rssPages: 10, hwmKB: 100, read: 500, written: 700}
	other := task{pid: 12, ppid: 1, user: 9999, system: 9999, threads: 1, start: 61}
	root.put(t, r)
	child.put(t, r)
	other.put(t, r)
	s, err := newSampler(r, Watch{Server: []int{10}}, c.now)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Sample().Server
	// What the root had waited for before (1000 and 500) is not its tree's work within any window.
	if got := cpu(t, p); got != [2]int64{130, 13} {
		t.Errorf("want 100 + 30 and 10 + 3, got %v", got)
	}
	page := s.server.pageSize
	if p.RSSBytes != Some(110*page) || p.PeakRSSBytes != Some[int64](900*1024) || p.Threads != Some[int64](6) || p.Processes != Some[int64](2) ||
		p.ReadBytes != Some[int64](1500) || p.WriteBytes != Some[int64](2700) {
		t.Errorf("got %+v", p)
	}

	// The child works on and ends; its parent waits for it and inherits 35 and 4, and its bytes.
	end(t, r, 11)
	root.cuser, root.csys, root.read, root.written = 1035, 504, 1000+600, 2000+750
	root.put(t, r)
	p = s.Sample().Server
	if got := cpu(t, p); got != [2]int64{135, 14} {
		t.Errorf("after the child ended: want 100 + 35 and 10 + 4, got %v", got)
	}
	if p.ReadBytes != Some[int64](1600) || p.WriteBytes != Some[int64](2750) {
		t.Errorf("bytes: want them once, got %v and %v", p.ReadBytes, p.WriteBytes)
	}

	// Another child starts and is found when /proc is looked through again, with all it did.
	child = task{pid: 13, ppid: 10, user: 20, system: 2, threads: 1, start: 70, read: 50, written: 60}
	child.put(t, r)
	c.advance(9 * time.Second)
	if got := cpu(t, s.Sample().Server); got != [2]int64{135, 14} {
		t.Errorf("before 10 s passed: got %v", got)
	}
	c.advance(time.Second)
	if got := cpu(t, s.Sample().Server); got != [2]int64{155, 16} {
		t.Errorf("after 10 s: want 135 + 20 and 14 + 2, got %v", got)
	}

	// It ends, and its parent ignores SIGCHLD: nothing is inherited, and what it was last seen with
	// is kept.
	end(t, r, 13)
	p = s.Sample().Server
	if got := cpu(t, p); got != [2]int64{155, 16} {
		t.Errorf("a child nobody waited for: want 155 and 16, got %v", got)
	}
	if p.ReadBytes != Some[int64](1650) || p.WriteBytes != Some[int64](2810) {
		t.Errorf("its bytes: want 1600 + 50 and 2750 + 60, got %v and %v", p.ReadBytes, p.WriteBytes)
	}
}

func TestTreeChildFoundByEnds(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	task{pid: 10, ppid: 1, user: 1, start: 50, threads: 1}.put(t, r)
	s, err := NewSampler(r, Watch{Server: []int{10}})
	if err != nil {
		t.Fatal(err)
	}
	task{pid: 20, ppid: 10, user: 5, start: 60, threads: 1}.put(t, r)
	task{pid: 30, ppid: 20, user: 7, start: 70, threads: 1}.put(t, r)
	put(t, r.pid(10, "task/10/status"), "voluntary_ctxt_switches:\t100\nnonvoluntary_ctxt_switches:\t1\n")
	put(t, r.pid(10, "task/15/status"), "voluntary_ctxt_switches:\t20\nnonvoluntary_ctxt_switches:\t2\n")
	put(t, r.pid(20, "task/20/status"), "voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t3\n")
	put(t, r.pid(30, "task/30/status"), "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t4\n")
	for _, pid := range []int{10, 20, 30} {
		// Documentation/filesystems/proc.rst, smaps_rollup
		put(t, r.pid(pid, "smaps_rollup"), "00100000-ff709000 ---p 00000000 00:00 0    [rollup]\nRss:   884 kB\nPss:   385 kB\nPss_Anon: 301 kB\n")
	}
	p := s.SampleEnds(true).Server
	if got := cpu(t, p); got != [2]int64{13, 0} {
		t.Errorf("want 1 + 5 + 7, got %v", got)
	}
	if p.VoluntarySwitches != Some[int64](127) || p.InvoluntarySwitches != Some[int64](10) || p.PSSBytes != Some[int64](3*385*1024) {
		t.Errorf("got %v, %v, %v", p.VoluntarySwitches, p.InvoluntarySwitches, p.PSSBytes)
	}
	if p := s.SampleEnds(false).Server; p.PSSBytes.OK {
		t.Errorf("PSS was not asked for: got %v", p.PSSBytes)
	}
	if p := s.Sample().Server; p.VoluntarySwitches.OK || p.PSSBytes.OK {
		t.Errorf("neither was asked for: got %+v", p)
	}
}

// A supervisor that restarts a server; the pid is used again by somebody else.
func TestTreeRootEnds(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	c := newClock()
	task{pid: 10, ppid: 1, user: 1, start: 50, threads: 1}.put(t, r)
	task{pid: 11, ppid: 10, user: 40, start: 60, threads: 1}.put(t, r)
	s, err := newSampler(r, Watch{Server: []int{10}}, c.now)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	end(t, r, 10)
	task{pid: 10, ppid: 1, comm: "cron", user: 5000, start: 999, threads: 1}.put(t, r)
	end(t, r, 11)
	task{pid: 11, ppid: 1, user: 42, start: 60, threads: 1}.put(t, r) // adopted by init
	b := s.Sample()
	if got := cpu(t, b.Server); got != [2]int64{43, 0} {
		t.Errorf("want 1 + 42 and nothing of the process that has the pid now, got %v", got)
	}
	c.advance(rescanEvery)
	end(t, r, 11)
	e := s.Sample()
	if e.Server != (Process{}) || len(e.Notes) == 0 {
		t.Errorf("all gone: want nothing known and a note, got %+v, %q", e.Server, e.Notes)
	}
	if d := Between(a, e).Server; d.CPUUS.OK || d.RSSBytes.OK {
		t.Errorf("want not known, got %+v", d)
	}
}

// A server that the client started and waited for is not the client's CPU.
func TestClientAlone(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	task{pid: 10, ppid: 1, user: 7, system: 3, cuser: 5, csys: 5, start: 50, threads: 9}.put(t, r)
	task{pid: 11, ppid: 10, user: 40, start: 60, threads: 1}.put(t, r)
	s, err := NewSampler(r, Watch{Client: 10, Server: []int{11}})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	task{pid: 10, ppid: 1, user: 8, system: 3, cuser: 500, csys: 500, start: 50, threads: 9}.put(t, r)
	b := s.SampleEnds(false)
	if got := cpu(t, b.Client); got != [2]int64{8, 3} || b.Client.Processes != Some[int64](1) {
		t.Errorf("want 8 and 3 of one process, got %+v", b.Client)
	}
	if d := Between(a, b).Client; d.CPUUS != Some[int64](10_000) {
		t.Errorf("want one tick, got %v", d.CPUUS)
	}
}

// A name may hold a newline; a process that ended and that nobody waited for holds no memory.
func TestTreeZombie(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	task{pid: 10, ppid: 1, comm: "a)\n9 (b", user: 7, start: 50, threads: 9, rssPages: 10, hwmKB: 50}.put(t, r)
	task{pid: 11, ppid: 10, user: 5, start: 60, threads: 1, read: 4, hwmKB: 9}.put(t, r)
	s, err := NewSampler(r, Watch{Server: []int{10}})
	if err != nil {
		t.Fatal(err)
	}
	s.Sample()
	end(t, r, 11)
	task{pid: 11, ppid: 10, user: 6, start: 60, state: "Z"}.put(t, r)
	if err := os.Remove(r.pid(11, "io")); err != nil {
		t.Fatal(err)
	}
	p := s.SampleEnds(false).Server
	if got := cpu(t, p); got != [2]int64{13, 0} {
		t.Errorf("want 7 + 6, got %v", got)
	}
	if p.Processes != Some[int64](1) || p.PeakRSSBytes != Some[int64](50*1024) || p.ReadBytes != Some[int64](4) {
		t.Errorf("got %+v", p)
	}
	end(t, r, 10)
	task{pid: 10, ppid: 1, user: 8, start: 50, state: "Z"}.put(t, r)
	if p := s.Sample(); p.Server != (Process{}) || len(p.Notes) == 0 {
		t.Errorf("all ended: want nothing known and a note, got %+v, %q", p.Server, p.Notes)
	}
}

func TestTreeIODenied(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	task{pid: 10, ppid: 1, user: 7, start: 50, threads: 9}.put(t, r)
	put(t, r.pid(10, "io"), "read_bytes: 1\nwrite_bytes: 12") // the last line is cut short
	s, err := NewSampler(r, Watch{Server: []int{10}})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Sample()
	if p.Server.ReadBytes.OK || p.Server.WriteBytes.OK || !p.Server.UserTicks.OK {
		t.Errorf("got %+v", p.Server)
	}
}
