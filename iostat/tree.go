package iostat

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"
)

// rescanEvery is how often the whole of /proc is looked through for new children.
const rescanEvery = 10 * time.Second

// Process is one reading of a process and all its descendants. CPU and bytes count since each
// process started.
//
// A child that ends must not make the sums go backwards. The kernel adds the CPU of a child to its
// parent when the parent waits for it (cutime, cstime), also of children never seen here; what a
// known child was last seen with is the lower bound for that. So the limit is: the CPU a process
// used between its last reading and its end is missed if its parent ignores SIGCHLD or died before
// it, and children that came and went under such a parent are missed altogether. Children that
// start between two looks through /proc (10 s) are counted from the next look on, with all they did
// since they started.
type Process struct {
	UserTicks   Opt[int64] `json:"user_ticks"`   // 1/100 s, /proc/PID/stat
	SystemTicks Opt[int64] `json:"system_ticks"` // 1/100 s, /proc/PID/stat
	// RSSBytes is what is resident, summed over processes: pages they share count for each;
	// /proc/PID/stat.
	RSSBytes Opt[int64] `json:"rss_bytes"`
	// PeakRSSBytes is the sum of each process's own peak since it started (VmHWM in
	// /proc/PID/status), read when /proc is looked through. Of a tree of several processes it is an
	// upper bound: their peaks may have been at different times.
	PeakRSSBytes Opt[int64] `json:"peak_rss_bytes"`
	Threads      Opt[int64] `json:"threads"`
	Processes    Opt[int64] `json:"processes"`
	// ReadBytes and WriteBytes are what the process had fetched from and sent to the storage layer,
	// page cache hits not counted (/proc/PID/io). Not known without the right to read it.
	// CancelledBytes of WriteBytes never reached a disk, as the file was truncated or removed
	// before.
	ReadBytes      Opt[int64] `json:"read_bytes"`
	WriteBytes     Opt[int64] `json:"write_bytes"`
	CancelledBytes Opt[int64] `json:"cancelled_write_bytes"`
	// Context switches summed over the threads alive now, /proc/PID/task/TID/status; and
	// proportional set size, /proc/PID/smaps_rollup. Both only where asked for with SampleEnds.
	VoluntarySwitches   Opt[int64] `json:"voluntary_switches"`
	InvoluntarySwitches Opt[int64] `json:"involuntary_switches"`
	PSSBytes            Opt[int64] `json:"pss_bytes"`
}

// proc is one process of a tree.
type proc struct {
	pid    int
	parent *proc // within the tree; nil for a root
	gone   bool
	stat   procStat
	first  procStat // children waited for before the process was known are not the tree's

	goneUser, goneSystem int64 // what known children were last seen with, when they went

	io, prevIO procIO
	ioOK       bool
	ioTaken    procIO // of the growth since prevIO, already explained by children that went
	hwm        Opt[int64]
}

// user is the process's own user time and that of its children that ended: what it waited for, at
// least what was seen.
func (t *tree) user(p *proc) int64 {
	if t.single {
		return p.stat.utime
	}
	return p.stat.utime + max(p.stat.cutime-p.first.cutime, p.goneUser)
}

func (t *tree) system(p *proc) int64 {
	if t.single {
		return p.stat.stime
	}
	return p.stat.stime + max(p.stat.cstime-p.first.cstime, p.goneSystem)
}

// tree follows processes and their descendants.
type tree struct {
	root     Root
	rd       *reader
	procs    []*proc // parents before their children
	pageSize int64
	single   bool // only the roots themselves, without the children they waited for

	orphanUser, orphanSystem int64 // of processes that went with nobody of the tree to inherit
	orphanIO                 procIO
	lastUser, lastSystem     int64
	lastIO                   procIO
	ioDenied                 bool
	problem                  error // why the last reading is not known
	scanned                  time.Time
}

func newTree(r Root, rd *reader, pids []int, single bool, now time.Time) (*tree, error) {
	t := &tree{root: r, rd: rd, single: single, pageSize: int64(os.Getpagesize())}
	for _, pid := range pids {
		st, err := t.readStat(pid)
		if err != nil {
			return nil, fmt.Errorf("process %d: %w; is it still running, and does this host show it?", pid, err)
		}
		t.add(&proc{pid: pid, stat: st, first: st})
	}
	t.scan(now)
	return t, nil
}

func (t *tree) add(p *proc) {
	for _, q := range t.procs {
		if q.pid == p.pid && q.stat.start == p.stat.start {
			return
		}
	}
	t.procs = append(t.procs, p)
}

func (t *tree) readStat(pid int) (procStat, error) {
	b, err := t.rd.read(t.root.pid(pid, "stat"))
	if err != nil {
		return procStat{}, err
	}
	return parseProcStat(b)
}

func (t *tree) readIO(p *proc) {
	b, err := t.rd.read(t.root.pid(p.pid, "io"))
	if err != nil {
		p.ioOK = p.ioOK && p.stat.ended() // it keeps what it was last seen with
		return
	}
	if io, ok := parseProcIO(b); ok {
		p.io, p.ioOK = io, true
	}
}

// scan looks for new descendants of the known processes, and reads peak RSS.
func (t *tree) scan(now time.Time) {
	first := t.scanned.IsZero()
	t.scanned = now
	if !t.single {
		t.findChildren(first)
	}
	for _, p := range t.procs {
		if b, err := t.rd.read(t.root.pid(p.pid, "status")); err == nil && !p.gone {
			p.hwm = parseProcStatus(b).hwmBytes
		}
	}
}

// findChildren adds descendants that aren't known yet. One found after the first look started under
// our eyes: all it waited for is the tree's.
func (t *tree) findChildren(first bool) {
	stats := map[int]procStat{}
	children := map[int][]int{}
	entries, err := os.ReadDir(t.root.proc())
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if st, err := t.readStat(pid); err == nil {
			stats[pid] = st
			children[st.ppid] = append(children[st.ppid], pid)
		}
	}
	known := map[int]bool{}
	for _, p := range t.procs {
		known[p.pid] = known[p.pid] || !p.gone
	}
	for i := 0; i < len(t.procs); i++ { // t.procs grows here: children are looked for under the new ones too
		p := t.procs[i]
		if p.gone || stats[p.pid].start != p.stat.start {
			continue
		}
		for _, pid := range children[p.pid] {
			if known[pid] {
				continue
			}
			known[pid] = true
			child := &proc{pid: pid, parent: p, stat: stats[pid]}
			if first {
				child.first = child.stat
			}
			t.add(child)
		}
	}
}

// sample reads every known process.
func (t *tree) sample() Process {
	t.problem = nil
	for _, p := range t.procs {
		if p.gone {
			continue
		}
		st, err := t.readStat(p.pid)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) || err == nil && st.start != p.stat.start:
			p.gone = true
			t.inherit(p)
			continue
		case err != nil:
			t.problem = fmt.Errorf("process %d: %w", p.pid, err)
			continue
		}
		p.stat = st
		p.prevIO, p.ioTaken = p.io, procIO{}
		t.readIO(p)
	}
	t.drop()
	if t.problem != nil {
		return Process{}
	}
	return t.sum()
}

// inherit passes on what a process that is gone had used.
func (t *tree) inherit(p *proc) {
	heir := p.parent
	for heir != nil && heir.gone {
		heir = heir.parent
	}
	if heir == nil {
		t.orphanUser += t.user(p)
		t.orphanSystem += t.system(p)
		t.orphanIO = t.orphanIO.plus(p.io)
		return
	}
	heir.goneUser += t.user(p)
	heir.goneSystem += t.system(p)
	// The kernel has added the child's bytes to the heir's by now if the heir waited for it: its
	// counters then grew by that much at least.
	t.readIO(heir)
	explained := heir.ioTaken.plus(p.io)
	if heir.io.read-heir.prevIO.read >= explained.read && heir.io.written-heir.prevIO.written >= explained.written {
		heir.ioTaken = explained
		return
	}
	t.orphanIO = t.orphanIO.plus(p.io)
}

func (a procIO) plus(b procIO) procIO {
	return procIO{a.read + b.read, a.written + b.written, a.cancelled + b.cancelled}
}

// drop forgets processes that are gone, once no child of theirs remains to look for an heir.
func (t *tree) drop() {
	needed := map[*proc]bool{}
	kept := 0
	for i := len(t.procs) - 1; i >= 0; i-- {
		p := t.procs[i]
		if !p.gone || needed[p] {
			kept++
			if p.parent != nil {
				needed[p.parent] = true
			}
			continue
		}
		t.procs[i] = nil
	}
	if kept == len(t.procs) {
		return
	}
	procs := make([]*proc, 0, kept)
	for _, p := range t.procs {
		if p != nil {
			procs = append(procs, p)
		}
	}
	t.procs = procs
}

func (t *tree) sum() Process {
	user, system, io := t.orphanUser, t.orphanSystem, t.orphanIO
	var rss, hwm, threads, processes int64
	ioOK, hwmOK := true, true
	for _, p := range t.procs {
		if p.gone {
			continue
		}
		user += t.user(p)
		system += t.system(p)
		io = io.plus(p.io)
		ioOK = ioOK && p.ioOK
		if p.stat.ended() {
			continue
		}
		processes++
		rss += p.stat.rssPages * t.pageSize
		threads += p.stat.threads
		hwm += p.hwm.V
		hwmOK = hwmOK && p.hwm.OK
	}
	t.ioDenied = !ioOK
	if processes == 0 {
		t.problem = errors.New("none of its processes is left")
		return Process{}
	}
	t.lastUser, t.lastSystem = max(t.lastUser, user), max(t.lastSystem, system)
	last := &t.lastIO
	last.read, last.written = max(last.read, io.read), max(last.written, io.written)
	last.cancelled = max(last.cancelled, io.cancelled)
	out := Process{
		UserTicks: Some(t.lastUser), SystemTicks: Some(t.lastSystem), RSSBytes: Some(rss),
		PeakRSSBytes: known(hwm, hwmOK), Threads: Some(threads), Processes: Some(processes),
	}
	if ioOK {
		out.ReadBytes, out.WriteBytes, out.CancelledBytes = Some(last.read), Some(last.written), Some(last.cancelled)
	}
	return out
}

// ends adds what is too dear to read every second: context switches over all threads and, if asked,
// PSS.
func (t *tree) ends(out *Process, pss bool) {
	var voluntary, involuntary, pssBytes int64
	switchesOK, pssOK := true, true
	for _, p := range t.procs {
		if p.gone || p.stat.ended() {
			continue
		}
		tasks, err := os.ReadDir(t.root.pid(p.pid, "task"))
		switchesOK = switchesOK && err == nil
		for _, task := range tasks {
			b, err := t.rd.read(t.root.pid(p.pid, "task", task.Name(), "status"))
			if err != nil {
				continue // the thread ended just now
			}
			s := parseProcStatus(b)
			switchesOK = switchesOK && s.voluntary.OK && s.involuntary.OK
			voluntary += s.voluntary.V
			involuntary += s.involuntary.V
		}
		if !pss {
			continue
		}
		b, err := t.rd.read(t.root.pid(p.pid, "smaps_rollup"))
		v := Opt[int64]{}
		if err == nil {
			v = parsePSS(b)
		}
		pssOK = pssOK && v.OK
		pssBytes += v.V
	}
	if !out.Processes.OK {
		return
	}
	out.VoluntarySwitches = known(voluntary, switchesOK)
	out.InvoluntarySwitches = known(involuntary, switchesOK)
	out.PSSBytes = known(pssBytes, pss && pssOK)
}
