package iostat

import "math"

// Delta is what happened between two samples. Counts are integers: those of adjoining windows add
// up to the one of the whole, exactly. A value is not known when it was unknown at either end, when
// its device was replaced or reset in between, or when a counter went back.
type Delta struct {
	Seconds float64 `json:"seconds"` // monotonic, so with the real length of a late tick
	// ClockStepSeconds is how far the wall clock was set forward (back if negative) within the
	// window; small values are slewing.
	ClockStepSeconds float64 `json:"clock_step_seconds"`

	// The total over the disks that count each transfer once; a kB is 1,024 bytes, two sectors of
	// 512 (Documentation/block/stat.rst).
	Reads     Opt[int64]   `json:"reads"`
	Writes    Opt[int64]   `json:"writes"`
	ReadKB    Opt[float64] `json:"read_kb"`
	WrittenKB Opt[float64] `json:"written_kb"`
	Discards  Opt[int64]   `json:"discards"`
	Flushes   Opt[int64]   `json:"flushes"`

	Total Opt[DiskCounters] `json:"disk"`  // raw counters of that total
	Disks []DiskDelta       `json:"disks"` // each device of Watch.Disks

	// Host CPU from /proc/stat. Percents are of all states of all CPUs together.
	CPU             Opt[CPUTicks] `json:"cpu_ticks"`
	BusyPercent     Opt[float64]  `json:"cpu_busy_percent"`
	StealPercent    Opt[float64]  `json:"cpu_steal_percent"`
	IOWaitPercent   Opt[float64]  `json:"cpu_iowait_percent"`
	BusyUS          Opt[int64]    `json:"cpu_busy_us"`  // microseconds of one core: busy ticks × 10,000
	TotalUS         Opt[int64]    `json:"cpu_total_us"` // of all states of all CPUs: total ticks × 10,000
	ContextSwitches Opt[int64]    `json:"context_switches"`
	Forks           Opt[int64]    `json:"forks"`

	Paging   Paging      `json:"paging"`   // counts within the window
	Pressure Pressure    `json:"pressure"` // microseconds stalled within the window
	Cgroup   Opt[Cgroup] `json:"cgroup"`   // counters within the window; memory as at its end

	Server ProcessDelta `json:"server"`
	Client ProcessDelta `json:"client"`
}

// DiskDelta is the work of one device within the window.
type DiskDelta struct {
	Name     string            `json:"name"`
	Counts   Opt[DiskCounters] `json:"counts"`
	InFlight Opt[int64]        `json:"requests_in_flight"` // at the end
}

// ProcessDelta is what a process tree used within the window. RSS, peak RSS, threads, processes and
// PSS are those at its end.
type ProcessDelta struct {
	Process
	CPUUS Opt[int64] `json:"cpu_us"` // microseconds of one core: user and system ticks × 10,000
}

// ReadKB is what was read in units of 1,024 bytes.
func (c DiskCounters) ReadKB() float64 { return float64(c.ReadSectors) / 2 }

// WrittenKB is what was written in units of 1,024 bytes.
func (c DiskCounters) WrittenKB() float64 { return float64(c.WriteSectors) / 2 }

// Between subtracts a from the later sample b of the same Sampler. Of samples of two Samplers, or
// in the wrong order, nothing but the time between them is known.
func Between(a, b Sample) Delta {
	length := b.At.Sub(a.At)
	d := Delta{Seconds: length.Seconds()}
	d.ClockStepSeconds = (b.At.Round(0).Sub(a.At.Round(0)) - length).Seconds()
	if a.of != b.of || a.order > b.order {
		return d
	}
	d.disks(a, b)
	d.host(a, b)
	d.Server = betweenProcesses(a.Server, b.Server)
	d.Client = betweenProcesses(a.Client, b.Client)
	d.Cgroup = betweenCgroups(a.Cgroup, b.Cgroup)
	return d
}

func (d *Delta) disks(a, b Sample) {
	for i, db := range b.Disks {
		dd := DiskDelta{Name: db.Name, InFlight: known(db.InFlight, db.OK)}
		if i < len(a.Disks) {
			da := a.Disks[i]
			if da.OK && db.OK && da.Name == db.Name && da.Epoch == db.Epoch {
				dd.Counts = Some(db.combine(da.DiskCounters, -1))
			}
		}
		d.Disks = append(d.Disks, dd)
	}
	d.Total = d.sum(b.sum)
	if !d.Total.OK {
		return
	}
	t := d.Total.V
	d.Reads, d.Writes, d.ReadKB, d.WrittenKB = Some(t.Reads), Some(t.Writes), Some(t.ReadKB()), Some(t.WrittenKB())
	d.Discards, d.Flushes = t.Discards, t.Flushes
}

func (d *Delta) sum(index []int) Opt[DiskCounters] {
	var total Opt[DiskCounters]
	for n, i := range index {
		switch {
		case i >= len(d.Disks) || !d.Disks[i].Counts.OK:
			return Opt[DiskCounters]{}
		case n == 0:
			total = d.Disks[i].Counts
		default:
			total.V = total.V.combine(d.Disks[i].Counts.V, 1)
		}
	}
	return total
}

// SumOf adds up the named disks, as for a redo log on a device of its own. It is not known when one
// of them isn't.
func (d Delta) SumOf(names ...string) Opt[DiskCounters] {
	var index []int
	for _, name := range names {
		found := len(d.Disks)
		for i := range d.Disks {
			if d.Disks[i].Name == name {
				found = i
			}
		}
		index = append(index, found)
	}
	return d.sum(index)
}

// combine returns c + sign × o.
func (c DiskCounters) combine(o DiskCounters, sign int64) DiskCounters {
	c.Reads += sign * o.Reads
	c.ReadMerges += sign * o.ReadMerges
	c.ReadSectors += sign * o.ReadSectors
	c.ReadMS += sign * o.ReadMS
	c.Writes += sign * o.Writes
	c.WriteMerges += sign * o.WriteMerges
	c.WriteSectors += sign * o.WriteSectors
	c.WriteMS += sign * o.WriteMS
	c.BusyMS += sign * o.BusyMS
	c.QueueMS += sign * o.QueueMS
	both := func(to *Opt[int64], o Opt[int64]) {
		*to = known(to.V+sign*o.V, to.OK && o.OK)
	}
	both(&c.Discards, o.Discards)
	both(&c.DiscardMerges, o.DiscardMerges)
	both(&c.DiscardSectors, o.DiscardSectors)
	both(&c.DiscardMS, o.DiscardMS)
	both(&c.Flushes, o.Flushes)
	both(&c.FlushMS, o.FlushMS)
	return c
}

func (d *Delta) host(a, b Sample) {
	if a.CPU.OK && b.CPU.OK {
		if ticks := b.CPU.V.minus(a.CPU.V); !ticks.backwards() {
			d.CPU = Some(ticks)
			d.BusyUS = Some(ticks.Busy() * tickUS)
			d.TotalUS = Some(ticks.Total() * tickUS)
			d.BusyPercent = percent(ticks.Busy(), ticks.Total())
			d.StealPercent = percent(ticks.Steal, ticks.Total())
			d.IOWaitPercent = percent(ticks.IOWait, ticks.Total())
		}
	}
	d.ContextSwitches = grown(a.ContextSwitches, b.ContextSwitches)
	d.Forks = grown(a.Forks, b.Forks)
	p, q := a.Paging, b.Paging
	d.Paging = Paging{
		InKB: grown(p.InKB, q.InKB), OutKB: grown(p.OutKB, q.OutKB),
		SwapInPages: grown(p.SwapInPages, q.SwapInPages), SwapOut: grown(p.SwapOut, q.SwapOut),
		Faults: grown(p.Faults, q.Faults), MajorFaults: grown(p.MajorFaults, q.MajorFaults),
	}
	stall := func(a, b Stall) Stall { return Stall{grown(a.SomeUS, b.SomeUS), grown(a.FullUS, b.FullUS)} }
	before, after := a.Pressure, b.Pressure
	d.Pressure = Pressure{stall(before.CPU, after.CPU), stall(before.IO, after.IO), stall(before.Memory, after.Memory)}
}

// percent is not known for a window without a tick, and when idle or iowait went back so far that
// it would be outside 0 to 100.
func percent(part, whole int64) Opt[float64] {
	if whole <= 0 || part < 0 || part > whole {
		return Opt[float64]{}
	}
	return Some(100 * float64(part) / float64(whole))
}

// grown is b - a, allowing for one wrap of an unsigned long of 32 bits.
func grown(a, b Opt[int64]) Opt[int64] {
	if !a.OK || !b.OK {
		return Opt[int64]{}
	}
	if d := b.V - a.V; d >= 0 {
		return Some(d)
	}
	if a.V > math.MaxUint32 || a.V < 1<<31 {
		return Opt[int64]{}
	}
	d := b.V - a.V + 1<<32
	return known(d, d < 1<<31)
}

func betweenProcesses(a, b Process) ProcessDelta {
	d := ProcessDelta{Process: b}
	d.UserTicks, d.SystemTicks = since(a.UserTicks, b.UserTicks), since(a.SystemTicks, b.SystemTicks)
	d.ReadBytes, d.WriteBytes = since(a.ReadBytes, b.ReadBytes), since(a.WriteBytes, b.WriteBytes)
	d.CancelledBytes = since(a.CancelledBytes, b.CancelledBytes)
	d.VoluntarySwitches = since(a.VoluntarySwitches, b.VoluntarySwitches)
	d.InvoluntarySwitches = since(a.InvoluntarySwitches, b.InvoluntarySwitches)
	if d.UserTicks.OK && d.SystemTicks.OK {
		d.CPUUS = Some((d.UserTicks.V + d.SystemTicks.V) * tickUS)
	}
	return d
}

// since is b - a, not known when that is negative.
func since(a, b Opt[int64]) Opt[int64] {
	return known(b.V-a.V, a.OK && b.OK && b.V >= a.V)
}

func betweenCgroups(a, b Opt[Cgroup]) Opt[Cgroup] {
	if !a.OK || !b.OK || a.V.Path != b.V.Path {
		return Opt[Cgroup]{}
	}
	d := b
	for _, c := range []struct {
		to   *Opt[int64]
		a, b Opt[int64]
	}{
		{&d.V.UsageUS, a.V.UsageUS, b.V.UsageUS},
		{&d.V.UserUS, a.V.UserUS, b.V.UserUS}, {&d.V.SystemUS, a.V.SystemUS, b.V.SystemUS},
		{&d.V.Periods, a.V.Periods, b.V.Periods}, {&d.V.Throttled, a.V.Throttled, b.V.Throttled},
		{&d.V.ThrottledUS, a.V.ThrottledUS, b.V.ThrottledUS}, {&d.V.LimitHits, a.V.LimitHits, b.V.LimitHits},
	} {
		*c.to = since(c.a, c.b)
	}
	return d
}
