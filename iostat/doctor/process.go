package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var processChecks = []Check{
	{
		Name: "same_cores", Level: Note, look: sameCores,
		Why: "the client's work is done on the server's CPUs: host CPU per operation includes it, " +
			"and the server has less",
		Change: "give each its own with taskset or numactl, or run the client on another host",
	},
	{
		Name: "cpu_quota", Level: Warning, look: cpuQuota,
		Why:    "the server is stopped when it has used its share of a period, which shows as latency",
		Change: "raise or remove the quota of its control group",
	},
	{
		Name: "memory_limit", Level: Note, look: memoryLimit,
		Why:    "the page cache the server's files may use counts against the limit too",
		Change: "raise or remove the limit of its control group, or keep the server's cache well below it",
	},
	{
		Name: "server_open_files", Level: Warning, look: openFiles("server"),
		Why: "a server with many tables or files closes and opens them again when the limit is low, " +
			"or fails",
		Change: "raise LimitNOFILE of its service, or ulimit -n",
	},
	{
		Name: "client_open_files", Level: Warning, look: openFiles("client"),
		Why:    "each connection takes a file: with more clients than the limit the run fails",
		Change: "ulimit -n 65536",
	},
}

func sameCores(h *host) string {
	if h.about.Client == 0 || len(h.about.Server) == 0 {
		return ""
	}
	client := h.allowed(h.about.Client)
	for _, pid := range h.about.Server {
		if shared := overlap(client, h.allowed(pid)); shared > 0 {
			return fmt.Sprintf("CPUs that both may run on: %d", shared)
		}
	}
	return ""
}

// allowed is the set of CPUs a process may run on, from Cpus_allowed_list in /proc/PID/status.
func (h *host) allowed(pid int) []cpuRange {
	for line := range strings.Lines(h.proc(strconv.Itoa(pid), "status")) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return parseCPUList(strings.TrimSpace(list))
		}
	}
	return nil
}

// cpuRange is a run of CPUs, both ends included.
type cpuRange struct{ first, last int }

// parseCPUList reads "0-3,8,10-11" (man 7 cpuset, list format). It is nil when it isn't one.
func parseCPUList(s string) []cpuRange {
	var out []cpuRange
	for part := range strings.SplitSeq(s, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 16)
		b, err2 := strconv.ParseUint(to, 10, 16)
		if err1 != nil || err2 != nil || a > b {
			return nil
		}
		out = append(out, cpuRange{int(a), int(b)})
	}
	return out
}

func overlap(a, b []cpuRange) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			n += max(0, min(x.last, y.last)-max(x.first, y.first)+1)
		}
	}
	return n
}

func cpuQuota(h *host) string {
	c := h.sample.Cgroup.V
	if !c.CPUQuotaUS.OK || !c.CPUPeriodUS.OK || c.CPUPeriodUS.V <= 0 {
		return ""
	}
	value := fmt.Sprintf("%.1f CPUs", float64(c.CPUQuotaUS.V)/float64(c.CPUPeriodUS.V))
	if c.Throttled.OK && c.Throttled.V > 0 {
		value += fmt.Sprintf(", stopped in %d periods so far", c.Throttled.V)
	}
	return value
}

func memoryLimit(h *host) string {
	if l := h.sample.Cgroup.V.LimitBytes; l.OK {
		return gib(l.V)
	}
	return ""
}

// fewFiles is the soft limit below which servers and clients get into trouble; MongoDB and MySQL
// ask for more at their start.
const fewFiles = 8192

func openFiles(who string) func(h *host) string {
	return func(h *host) string {
		pids := h.about.Server
		if who == "client" {
			pids = []int{h.about.Client}
		}
		var out []string
		for _, pid := range pids {
			if pid == 0 {
				continue
			}
			if n, ok := softLimit(h.proc(strconv.Itoa(pid), "limits"), "Max open files"); ok && n < fewFiles {
				out = append(out, strconv.Itoa(n))
			}
		}
		return strings.Join(slices.Compact(out), ", ")
	}
}

// softLimit reads a line of /proc/PID/limits: name, soft, hard, unit.
func softLimit(text, name string) (int, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			f := strings.Fields(rest)
			if len(f) == 0 {
				return 0, false
			}
			n, err := strconv.Atoi(f[0])
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}
