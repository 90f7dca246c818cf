package iostat

import "time"

// Row is one device in a live view, with the columns of iostat -kx (sysstat 12). Rates are per
// second of the window; an average over requests is not known in a window without any, where iostat
// prints 0.
type Row struct {
	Device string

	ReadsPerS, ReadKBPerS, ReadMergesPerS, ReadMergedPercent, ReadAwaitMS, ReadSizeKB                 Opt[float64]
	WritesPerS, WrittenKBPerS, WriteMergesPerS, WriteMergedPercent, WriteAwaitMS, WriteSizeKB         Opt[float64]
	DiscardsPerS, DiscardedKBPerS, DiscardMergesPerS, DiscardMergedPercent, DiscardAwaitMS, DiscardKB Opt[float64]
	FlushesPerS, FlushAwaitMS                                                                         Opt[float64]
	QueueLength, UtilPercent                                                                          Opt[float64]
}

// HostRow is the line above the devices: percents of all CPUs as in iostat's avg-cpu, and the
// server's processes.
type HostRow struct {
	User, Nice, System, IOWait, Steal, Idle Opt[float64]

	ServerCPUPercent Opt[float64] // of one core, as top shows it
	ServerRSSBytes   Opt[int64]
	ContextPerS      Opt[float64]
}

// View is what happened on the devices and CPUs between two samples.
type View struct {
	At      time.Time // the end of the window
	Seconds float64
	Host    HostRow
	Rows    []Row
}

// NewView compares two samples of the same Sampler.
func NewView(a, b Sample) View {
	d := Between(a, b)
	v := View{At: b.At, Seconds: d.Seconds, Host: hostRow(d)}
	for _, disk := range d.Disks {
		v.Rows = append(v.Rows, diskRow(disk, d.Seconds))
	}
	return v
}

func hostRow(d Delta) HostRow {
	var h HostRow
	if d.CPU.OK {
		c := d.CPU.V
		for _, p := range []struct {
			to    *Opt[float64]
			ticks int64
		}{
			{&h.User, c.User}, {&h.Nice, c.Nice}, {&h.System, c.System + c.IRQ + c.SoftIRQ},
			{&h.IOWait, c.IOWait}, {&h.Steal, c.Steal}, {&h.Idle, c.Idle},
		} {
			*p.to = percent(p.ticks, c.Total())
		}
	}
	if us := d.Server.CPUUS; us.OK {
		h.ServerCPUPercent = ratio(float64(us.V)/1e4, d.Seconds)
	}
	h.ServerRSSBytes = d.Server.RSSBytes
	if d.ContextSwitches.OK {
		h.ContextPerS = ratio(float64(d.ContextSwitches.V), d.Seconds)
	}
	return h
}

// ratio is not known for a window or a count of zero.
func ratio(a, b float64) Opt[float64] {
	if b <= 0 {
		return Opt[float64]{}
	}
	return Some(a / b)
}

// diskRow has the formulas of sysstat's iostat.c and rd_stats.c.
func diskRow(d DiskDelta, seconds float64) Row {
	r := Row{Device: d.Name}
	if !d.Counts.OK || seconds <= 0 {
		return r
	}
	c := d.Counts.V
	per := func(n int64) Opt[float64] { return Some(float64(n) / seconds) }
	each := func(total, n int64) Opt[float64] { return ratio(float64(total), float64(n)) }
	kb := func(sectors int64) Opt[float64] { return Some(float64(sectors) / 2 / seconds) }
	size := func(sectors, n int64) Opt[float64] { return ratio(float64(sectors)/2, float64(n)) }
	merged := func(merges, n int64) Opt[float64] { return ratio(100*float64(merges), float64(merges+n)) }

	r.ReadsPerS, r.ReadKBPerS, r.ReadMergesPerS = per(c.Reads), kb(c.ReadSectors), per(c.ReadMerges)
	r.ReadMergedPercent, r.ReadAwaitMS = merged(c.ReadMerges, c.Reads), each(c.ReadMS, c.Reads)
	r.ReadSizeKB = size(c.ReadSectors, c.Reads)
	r.WritesPerS, r.WrittenKBPerS, r.WriteMergesPerS = per(c.Writes), kb(c.WriteSectors), per(c.WriteMerges)
	r.WriteMergedPercent, r.WriteAwaitMS = merged(c.WriteMerges, c.Writes), each(c.WriteMS, c.Writes)
	r.WriteSizeKB = size(c.WriteSectors, c.Writes)
	if c.Discards.OK {
		n, sectors := c.Discards.V, c.DiscardSectors.V
		r.DiscardsPerS, r.DiscardedKBPerS, r.DiscardMergesPerS = per(n), kb(sectors), per(c.DiscardMerges.V)
		r.DiscardMergedPercent, r.DiscardAwaitMS = merged(c.DiscardMerges.V, n), each(c.DiscardMS.V, n)
		r.DiscardKB = size(sectors, n)
	}
	if c.Flushes.OK {
		r.FlushesPerS, r.FlushAwaitMS = per(c.Flushes.V), each(c.FlushMS.V, c.Flushes.V)
	}
	r.QueueLength = Some(float64(c.QueueMS) / 1000 / seconds)
	r.UtilPercent = Some(float64(c.BusyMS) / 10 / seconds)
	return r
}

// Column is one column of a live view: its name as in iostat, and what it means.
type Column struct {
	Name   string
	Legend string
	disk   func(Row) Opt[float64]
	host   func(HostRow) Opt[float64]
}

// DeviceColumns are the columns of iostat -kx, in its order.
var DeviceColumns = []Column{
	{"r/s", "reads per second, after merging", func(r Row) Opt[float64] { return r.ReadsPerS }, nil},
	{"rkB/s", "kB (1,024 bytes) read per second", func(r Row) Opt[float64] { return r.ReadKBPerS }, nil},
	{"rrqm/s", "reads merged per second", func(r Row) Opt[float64] { return r.ReadMergesPerS }, nil},
	{"%rrqm", "percent of reads merged", func(r Row) Opt[float64] { return r.ReadMergedPercent }, nil},
	{"r_await", "average milliseconds of a read, queue included", func(r Row) Opt[float64] { return r.ReadAwaitMS }, nil},
	{"rareq-sz", "average kB of a read", func(r Row) Opt[float64] { return r.ReadSizeKB }, nil},
	{"w/s", "writes per second, after merging", func(r Row) Opt[float64] { return r.WritesPerS }, nil},
	{"wkB/s", "kB (1,024 bytes) written per second", func(r Row) Opt[float64] { return r.WrittenKBPerS }, nil},
	{"wrqm/s", "writes merged per second", func(r Row) Opt[float64] { return r.WriteMergesPerS }, nil},
	{"%wrqm", "percent of writes merged", func(r Row) Opt[float64] { return r.WriteMergedPercent }, nil},
	{"w_await", "average milliseconds of a write, queue included", func(r Row) Opt[float64] { return r.WriteAwaitMS }, nil},
	{"wareq-sz", "average kB of a write", func(r Row) Opt[float64] { return r.WriteSizeKB }, nil},
	{"d/s", "discards per second, after merging", func(r Row) Opt[float64] { return r.DiscardsPerS }, nil},
	{"dkB/s", "kB (1,024 bytes) discarded per second", func(r Row) Opt[float64] { return r.DiscardedKBPerS }, nil},
	{"drqm/s", "discards merged per second", func(r Row) Opt[float64] { return r.DiscardMergesPerS }, nil},
	{"%drqm", "percent of discards merged", func(r Row) Opt[float64] { return r.DiscardMergedPercent }, nil},
	{"d_await", "average milliseconds of a discard, queue included", func(r Row) Opt[float64] { return r.DiscardAwaitMS }, nil},
	{"dareq-sz", "average kB of a discard", func(r Row) Opt[float64] { return r.DiscardKB }, nil},
	{"f/s", "flushes per second; not counted for partitions, md and dm", func(r Row) Opt[float64] { return r.FlushesPerS }, nil},
	{"f_await", "average milliseconds of a flush", func(r Row) Opt[float64] { return r.FlushAwaitMS }, nil},
	{"aqu-sz", "average number of requests in flight", func(r Row) Opt[float64] { return r.QueueLength }, nil},
	{"%util", "percent of time with a request in flight; 100 is not the limit of a device that works in parallel", func(r Row) Opt[float64] { return r.UtilPercent }, nil},
}

// HostColumns are those of the line above the devices.
var HostColumns = []Column{
	{"%user", "percent of all CPUs in user mode", nil, func(h HostRow) Opt[float64] { return h.User }},
	{"%nice", "percent in user mode at low priority", nil, func(h HostRow) Opt[float64] { return h.Nice }},
	{"%system", "percent in the kernel, interrupts included", nil, func(h HostRow) Opt[float64] { return h.System }},
	{"%iowait", "percent idle with a request outstanding", nil, func(h HostRow) Opt[float64] { return h.IOWait }},
	{"%steal", "percent taken by the hypervisor", nil, func(h HostRow) Opt[float64] { return h.Steal }},
	{"%idle", "percent idle", nil, func(h HostRow) Opt[float64] { return h.Idle }},
	{"cs/s", "context switches per second", nil, func(h HostRow) Opt[float64] { return h.ContextPerS }},
	{"srv_cpu", "CPU of the server's processes, percent of one core", nil, func(h HostRow) Opt[float64] { return h.ServerCPUPercent }},
	{"srv_rss", "resident memory of the server's processes, GiB", nil, func(h HostRow) Opt[float64] {
		return known(float64(h.ServerRSSBytes.V)/(1<<30), h.ServerRSSBytes.OK)
	}},
}
