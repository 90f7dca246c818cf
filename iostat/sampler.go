package iostat

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/procfs/blockdevice"
)

// Watch says what to sample beside the host itself.
type Watch struct {
	Disks  []string // kernel names, with or without /dev/; whole disks, partitions or stacked devices
	Server []int    // root pids of the server's process trees
	Client int      // our own pid; 0 for none
}

// Sample is one reading of everything. Counters only grow, except where noted; see Between for
// differences.
type Sample struct {
	At time.Time // with the monotonic clock, taken just before the disks are read

	Disks []DiskSample // in the order of Watch.Disks
	sum   []int        // which of them make the total
	of    *Sampler
	order int64 // of this reading among those of its Sampler

	CPU             Opt[CPUTicks] // of the host since boot, /proc/stat
	CPUs            Opt[int64]    // CPUs online
	ContextSwitches Opt[int64]    // of the host since boot, /proc/stat ctxt
	Forks           Opt[int64]    // processes and threads created since boot
	Running         Opt[int64]    // tasks that can run, now
	Blocked         Opt[int64]    // tasks that wait for disk, now

	Load     Opt[Load] // /proc/loadavg
	Memory   Memory    // now, /proc/meminfo
	Paging   Paging    // since boot, /proc/vmstat
	Pressure Pressure  // since boot, /proc/pressure
	Cgroup   Opt[Cgroup]

	Server Process // the trees of Watch.Server together
	Client Process // the process Watch.Client alone: a server it started itself, or a hook, is not the client's work

	CostUS Opt[int64] // CPU this reading took, microseconds; not known off Linux
	TookUS int64      // wall time this reading took, microseconds
	Notes  []string   // what could not be read, a sentence each
}

// Sampler reads the counters below a Root. It is not safe for concurrent use.
type Sampler struct {
	root      Root
	now       func() time.Time
	rd        *reader
	sys       blockdevice.FS
	disks     []*disk
	sum       []int
	server    *tree
	client    *tree
	clientErr error
	cgroup    *cgroup
	notes     []string
	order     int64 // of the last reading
}

// NewSampler prepares to read what w names, and takes note of the processes there are. A disk or
// process that does not exist is an error.
func NewSampler(r Root, w Watch) (*Sampler, error) { return newSampler(r, w, time.Now) }

func newSampler(r Root, w Watch, now func() time.Time) (*Sampler, error) {
	s := &Sampler{root: r, now: now, rd: &reader{}}
	if err := s.watchDisks(w.Disks); err != nil {
		return nil, fmt.Errorf("watch disks: %w", err)
	}
	var err error
	if len(w.Server) > 0 {
		if s.server, err = newTree(r, s.rd, w.Server, false, now()); err != nil {
			return nil, fmt.Errorf("watch the server: %w", err)
		}
		s.cgroup = newCgroup(r, w.Server[0])
	}
	if w.Client != 0 {
		// Off Linux there is no /proc; the client's figures are then not known, which is no reason
		// to refuse.
		if s.client, err = newTree(r, s.rd, []int{w.Client}, true, now()); err != nil {
			s.client, s.clientErr = nil, err
		}
	}
	return s, nil
}

func (s *Sampler) watchDisks(names []string) error {
	for _, name := range names {
		d, err := s.root.findDisk(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(s.disks, func(o *disk) bool { return o.name == d.name }) {
			s.disks = append(s.disks, d)
		}
	}
	if len(s.disks) == 0 {
		return nil
	}
	var err error
	if s.sys, err = blockdevice.NewFS(s.root.proc(), s.root.sys()); err != nil {
		return err
	}
	s.sum = s.root.countOnce(s.disks)
	for _, d := range s.disks {
		// The first reading is where the counters start.
		if _, err := d.sample(s.sys); err != nil && !d.uncounted {
			return err
		}
	}
	return nil
}

// Counted names the disks whose sum is the total: each transfer once, so without partitions of a
// watched disk and without what lies beneath a watched device.
func (s *Sampler) Counted() []string {
	var names []string
	for _, i := range s.sum {
		names = append(names, s.disks[i].name)
	}
	return names
}

// Sample takes one reading. What can't be read is not known and noted.
func (s *Sampler) Sample() Sample { return s.sample(false, false) }

// SampleEnds takes the reading at an end of a step: with new children of the server looked for,
// with context switches of each thread summed, and with the proportional set size if pss is set.
// Reading that makes the kernel walk all of a server's memory, which stalls a large one.
func (s *Sampler) SampleEnds(pss bool) Sample { return s.sample(true, pss) }

func (s *Sampler) sample(ends, pss bool) Sample {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPU()
	s.notes = nil
	s.order++
	out := Sample{At: s.now(), sum: s.sum, of: s, order: s.order}
	s.sampleDisks(&out)
	s.sampleHost(&out)
	if s.server != nil {
		out.Server = s.sampleTree(s.server, out.At, ends, pss, "the server")
		out.Cgroup = s.cgroup.sample(s.rd)
	}
	if s.clientErr != nil && s.hasProc() {
		s.note("the client: %v", s.clientErr)
	}
	if s.client != nil {
		out.Client = s.sampleTree(s.client, out.At, ends, false, "the client")
	}
	out.Notes = s.notes
	out.TookUS = s.now().Sub(out.At).Microseconds()
	if after := threadCPU(); before.OK && after.OK {
		out.CostUS = Some(after.V - before.V)
	}
	return out
}

func (s *Sampler) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *Sampler) sampleDisks(out *Sample) {
	if len(s.disks) == 0 {
		return
	}
	out.Disks = make([]DiskSample, 0, len(s.disks))
	for _, d := range s.disks {
		ds, err := d.sample(s.sys)
		if err != nil {
			s.note("%v", err)
		}
		out.Disks = append(out.Disks, ds)
	}
}

// hasProc reports whether this system has a /proc at all.
func (s *Sampler) hasProc() bool { return exists(s.root.proc()) }

func (s *Sampler) sampleHost(out *Sample) {
	if !s.hasProc() {
		s.note("this system has no %s: what the host and processes use is not known", s.root.proc())
		return
	}
	b, err := s.rd.read(s.root.proc("stat"))
	if err == nil {
		var h hostStat
		if h, err = parseStat(b); err == nil {
			out.CPU = Some(h.cpu)
			out.CPUs = known(h.cpus, h.cpus > 0)
		}
		out.ContextSwitches, out.Forks, out.Running, out.Blocked = h.ctxt, h.forks, h.running, h.blocked
	}
	if err != nil {
		s.note("host CPU: %v", err)
	}
	s.file(func(b []byte) { out.Load = parseLoad(b) }, "loadavg")
	s.file(func(b []byte) { out.Memory = parseMeminfo(b) }, "meminfo")
	s.file(func(b []byte) { out.Paging = parseVMStat(b) }, "vmstat")
	// Pressure is a build and boot option: its absence is nothing to remark on.
	p := &out.Pressure
	for name, to := range map[string]*Stall{"cpu": &p.CPU, "io": &p.IO, "memory": &p.Memory} {
		if b, err := s.rd.read(s.root.proc("pressure", name)); err == nil {
			*to = parseStall(b)
		}
	}
}

func (s *Sampler) file(parse func([]byte), name string) {
	b, err := s.rd.read(s.root.proc(name))
	if err != nil {
		s.note("host: %v", err)
		return
	}
	parse(b)
}

func (s *Sampler) sampleTree(t *tree, at time.Time, ends, pss bool, who string) Process {
	if ends || at.Sub(t.scanned) >= rescanEvery {
		t.scan(at)
	}
	out := t.sample()
	switch {
	case t.problem != nil:
		s.note("%s: %v", who, t.problem)
	case t.ioDenied:
		s.note("%s: bytes read and written are not known, as /proc/PID/io may be read by its owner "+
			"and by root only", who)
	}
	if ends {
		t.ends(&out, pss)
	}
	return out
}
