package step

import (
	"insertbench/iostat"
	"insertbench/results"
)

// extras are the figures that explain the costs but that nothing is divided
// by: memory pressure, throttling, steal, the redo log's own disks, and what
// the sampling itself took.
func (s *measure) extras() map[string]results.Metric {
	m := map[string]results.Metric{
		"sampler_cpu_us": {Value: s.samplerUS, Unit: "us", Source: "CPU of this client's own sampling, in client_cpu_us too"},
	}
	d := iostat.Between(s.first, s.last)
	m["clock_step_seconds"] = results.Metric{
		Value: results.Known(d.ClockStepSeconds), Unit: "s", Source: "wall clock against monotonic clock; rates use the monotonic one",
	}
	if !s.meter.local {
		return m
	}
	add := func(name, unit, source string, v *float64) {
		m[name] = results.Metric{Value: v, Unit: unit, Source: source}
	}
	add("host_steal_percent", "%", "/proc/stat", number(d.StealPercent))
	add("host_iowait_percent", "%", "/proc/stat", number(d.IOWaitPercent))
	add("host_major_faults", "faults", "/proc/vmstat pgmajfault", number(d.Paging.MajorFaults))
	add("host_swap_in_pages", "pages", "/proc/vmstat pswpin", number(d.Paging.SwapInPages))
	add("host_swap_out_pages", "pages", "/proc/vmstat pswpout", number(d.Paging.SwapOut))
	add("host_cpu_stall_us", "us", "/proc/pressure/cpu some", number(d.Pressure.CPU.SomeUS))
	add("host_io_stall_us", "us", "/proc/pressure/io some", number(d.Pressure.IO.SomeUS))
	add("host_memory_stall_us", "us", "/proc/pressure/memory some", number(d.Pressure.Memory.SomeUS))
	if d.Cgroup.OK {
		c := d.Cgroup.V
		add("cgroup_cpu_us", "us", "cgroup "+c.Path, number(c.UsageUS))
		add("cgroup_throttled_us", "us", "cgroup "+c.Path, number(c.ThrottledUS))
		add("cgroup_memory_bytes", "B", "cgroup "+c.Path+", at the end", number(c.MemoryBytes))
		add("cgroup_memory_limit_hits", "hits", "cgroup "+c.Path, number(c.LimitHits))
	}
	if len(s.meter.pids) > 0 {
		server := "/proc/PID of the server's process tree"
		add("server_read_bytes", "B", server+", io", number(d.Server.ReadBytes))
		add("server_write_bytes", "B", server+", io", number(d.Server.WriteBytes))
		add("server_threads", "threads", server+", at the end", number(d.Server.Threads))
		add("server_voluntary_switches", "switches", server+", task/TID/status", number(d.Server.VoluntarySwitches))
		add("server_involuntary_switches", "switches", server+", task/TID/status", number(d.Server.InvoluntarySwitches))
		if s.meter.pss {
			add("server_pss_bytes", "B", server+", smaps_rollup at the end", number(d.Server.PSSBytes))
		}
	}
	s.addLogDisks(d, add)
	return m
}

// addLogDisks shows the disks of logs outside the data directory apart; they
// are in the sums too.
func (s *measure) addLogDisks(d iostat.Delta, add func(name, unit, source string, v *float64)) {
	if len(s.meter.logDisks) == 0 {
		return
	}
	apart := d.SumOf(s.meter.logDisks...)
	source := "/sys/block stat of the disks of logs elsewhere: " + join(s.meter.logDisks)
	var reads, writes, readKB, writtenKB *float64
	if apart.OK {
		reads, writes = results.Known(float64(apart.V.Reads)), results.Known(float64(apart.V.Writes))
		readKB, writtenKB = results.Known(apart.V.ReadKB()), results.Known(apart.V.WrittenKB())
	}
	add("log_reads", "reads", source, reads)
	add("log_writes", "writes", source, writes)
	add("log_read_kb", "KiB", source, readKB)
	add("log_written_kb", "KiB", source, writtenKB)
}
