package iostat

import (
	"bytes"
	"path"
	"strings"
)

// Cgroup is one reading of the control group a process runs in. Counters are since the group was
// made. Version 1 keeps CPU and memory in hierarchies of their own
// (Documentation/admin-guide/cgroup-v1/), version 2 in one (admin-guide/cgroup-v2.rst).
type Cgroup struct {
	Path        string     `json:"path"` // of version 2, else of the memory or the cpu hierarchy
	UsageUS     Opt[int64] `json:"usage_us"`
	UserUS      Opt[int64] `json:"user_us"`   // version 2 only
	SystemUS    Opt[int64] `json:"system_us"` // version 2 only
	Periods     Opt[int64] `json:"periods"`   // of the CPU quota
	Throttled   Opt[int64] `json:"throttled_periods"`
	ThrottledUS Opt[int64] `json:"throttled_us"`
	MemoryBytes Opt[int64] `json:"memory_bytes"`  // now, page cache included
	LimitBytes  Opt[int64] `json:"limit_bytes"`   // not known when there is no limit
	LimitHits   Opt[int64] `json:"limit_hits"`    // times memory was at its limit: memory.events max, memory.failcnt
	MemoryPeak  Opt[int64] `json:"peak_bytes"`    // version 2: since 5.19
	CPUQuotaUS  Opt[int64] `json:"cpu_quota_us"`  // CPU time per period; not known when there is no quota
	CPUPeriodUS Opt[int64] `json:"cpu_period_us"` //
}

// cgroup knows where the files of one group are. Each is the directory of a controller, empty when
// the group has none.
type cgroup struct {
	path                 string
	unified              string // version 2
	cpu, cpuacct, memory string // version 1
}

// cgroupPaths are the paths of one process by controller, from /proc/PID/cgroup; version 2 has the
// empty name.
func cgroupPaths(b []byte) map[string]string {
	paths := map[string]string{}
	for {
		line, rest, ok := nextLine(b)
		if !ok {
			return paths
		}
		b = rest
		// hierarchy-ID:controller-list:path; the path may hold colons
		part := bytes.SplitN(line, []byte(":"), 3)
		if len(part) != 3 || len(part[2]) == 0 || part[2][0] != '/' || bytes.IndexByte(part[2], 0) >= 0 {
			continue
		}
		p := path.Clean(string(part[2]))
		for name := range strings.SplitSeq(string(part[1]), ",") {
			paths[name] = p
		}
	}
}

// newCgroup finds the group of a process. It is nil when there is none but the root, which is the
// whole host, or none this process can see.
func newCgroup(r Root, pid int) *cgroup {
	b, err := readFile(r.pid(pid, "cgroup"))
	if err != nil {
		return nil
	}
	paths := cgroupPaths(b)
	g := &cgroup{}
	find := func(name, file string, dirs ...string) string {
		p, ok := paths[name]
		if !ok || p == "/" && !(name == "" && exists(r.sys("fs/cgroup/memory.current"))) {
			return ""
		}
		for _, dir := range dirs {
			if full := r.sys("fs/cgroup", dir, p); exists(full + "/" + file) {
				g.path = p
				return full
			}
		}
		return ""
	}
	g.cpu = find("cpu", "cpu.stat", "cpu", "cpu,cpuacct")
	g.cpuacct = find("cpuacct", "cpuacct.usage", "cpuacct", "cpu,cpuacct")
	g.memory = find("memory", "memory.usage_in_bytes", "memory")
	g.unified = find("", "cgroup.procs", ".", "unified")
	if g.path == "" {
		return nil
	}
	return g
}

func (g *cgroup) sample(rd *reader) Opt[Cgroup] {
	if g == nil {
		return Opt[Cgroup]{}
	}
	out := Cgroup{Path: g.path}
	one := func(dir, file string) Opt[int64] {
		if dir == "" {
			return Opt[int64]{}
		}
		b, err := rd.read(dir + "/" + file)
		if err != nil {
			return Opt[int64]{}
		}
		line, _, _ := nextLine(b)
		return oneInt(line)
	}
	g.sampleV1(rd, &out, one)
	g.sampleV2(rd, &out, one)
	return Some(out)
}

// noLimit is what version 1 writes for "no limit" is at least: the largest number of pages, in
// bytes.
const noLimit = 1 << 62

func (g *cgroup) sampleV1(rd *reader, out *Cgroup, one func(dir, file string) Opt[int64]) {
	if ns := one(g.cpuacct, "cpuacct.usage"); ns.OK {
		out.UsageUS = Some(ns.V / 1000)
	}
	out.MemoryBytes = one(g.memory, "memory.usage_in_bytes")
	out.MemoryPeak = one(g.memory, "memory.max_usage_in_bytes")
	out.LimitHits = one(g.memory, "memory.failcnt")
	if limit := one(g.memory, "memory.limit_in_bytes"); limit.OK && limit.V < noLimit {
		out.LimitBytes = limit
	}
	if g.cpu == "" {
		return
	}
	if quota := one(g.cpu, "cpu.cfs_quota_us"); quota.OK { // -1 without a quota, which is no number here
		out.CPUQuotaUS, out.CPUPeriodUS = quota, one(g.cpu, "cpu.cfs_period_us")
	}
	if b, err := rd.read(g.cpu + "/cpu.stat"); err == nil {
		parseCgroupCPU(b, out)
	}
}

func (g *cgroup) sampleV2(rd *reader, out *Cgroup, one func(dir, file string) Opt[int64]) {
	if g.unified == "" {
		return
	}
	if b, err := rd.read(g.unified + "/cpu.stat"); err == nil {
		parseCgroupCPU(b, out)
	}
	if v := one(g.unified, "memory.current"); v.OK {
		out.MemoryBytes = v
		out.LimitBytes = one(g.unified, "memory.max") // "max" is no number: no limit
		out.MemoryPeak = one(g.unified, "memory.peak")
	}
	if b, err := rd.read(g.unified + "/memory.events"); err == nil {
		keyed(b, func(key, value []byte) {
			if string(key) == "max" {
				out.LimitHits = oneInt(value)
			}
		})
	}
	if b, err := rd.read(g.unified + "/cpu.max"); err == nil {
		line, _, _ := nextLine(b)
		quota, rest := nextField(line)
		if v, ok := parseInt(quota); ok {
			out.CPUQuotaUS, out.CPUPeriodUS = Some(v), oneInt(rest)
		}
	}
}

// parseCgroupCPU reads cpu.stat of either version: version 1 has throttled_time in nanoseconds,
// version 2 throttled_usec.
func parseCgroupCPU(b []byte, out *Cgroup) {
	keyed(b, func(key, value []byte) {
		v := oneInt(value)
		if !v.OK {
			return
		}
		switch string(key) {
		case "usage_usec":
			out.UsageUS = v
		case "user_usec":
			out.UserUS = v
		case "system_usec":
			out.SystemUS = v
		case "nr_periods":
			out.Periods = v
		case "nr_throttled":
			out.Throttled = v
		case "throttled_usec":
			out.ThrottledUS = v
		case "throttled_time":
			out.ThrottledUS = Some(v.V / 1000)
		}
	})
}
