package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

var cpuChecks = []Check{
	{
		Name: "cpu_governor", Level: Warning, look: governor,
		Why: "CPUs that slow down between bursts make CPU per operation and latency depend on what " +
			"ran before",
		Change: "cpupower frequency-set -g performance",
	},
	{
		Name: "cpu_turbo", Level: Note, look: turbo,
		Why: "with turbo, speed depends on temperature and on how many cores are busy, so runs " +
			"differ by some percent",
		Change: "write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to " +
			"/sys/devices/system/cpu/cpufreq/boost",
	},
	{
		Name: "smt", Level: Note, look: smt,
		Why: "two threads of a core share its units: CPU microseconds per operation grow when both " +
			"are busy",
		Change: "write off to /sys/devices/system/cpu/smt/control, or leave it the same for all runs",
	},
	{
		Name: "numa", Level: Note, look: numa,
		Why: "memory of another node is slower; where a server's cache lands differs from start to " +
			"start",
		Change: "start the server with numactl --interleave=all, or bind server and client to nodes of " +
			"their own",
	},
	{
		Name: "numa_balancing", Level: Note, look: numaBalancing,
		Why: "the kernel moves pages between nodes while the server runs, which takes CPU and adds " +
			"stalls",
		Change: "sysctl kernel.numa_balancing=0",
	},
	{
		Name: "clock_source", Level: Warning, look: clockSource,
		Why: "without a clock that is read in user space each latency taken costs a system call, of " +
			"the client and of the server",
		Change: "boot with clocksource=tsc tsc=reliable if the hardware allows it",
	},
	{
		Name: "virtual_machine", Level: Note, look: virtual,
		Why: "the hypervisor's other guests share CPU caches, memory bandwidth and disks, which " +
			"these counters don't show",
		Change: "compare runs of the same machine only, and repeat them",
	},
	{
		Name: "steal", Level: Warning, look: steal,
		Why: "the hypervisor gives this machine's CPU time to others: rates and latencies are theirs " +
			"as much as the server's",
		Change: "use a machine with CPUs of its own",
	},
	{
		Name: "load", Level: Warning, look: load,
		Why:    "other work takes CPU and disks from the run, and host CPU per operation includes it",
		Change: "stop it, or wait until it is done",
	},
}

func governor(h *host) string {
	all := h.values("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	total := 0
	for _, n := range all {
		total += n
	}
	delete(all, "performance")
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, fmt.Sprintf("%s on %d of %d CPUs", name, all[name], total))
	}
	return strings.Join(out, ", ")
}

func turbo(h *host) string {
	if h.sys("devices/system/cpu/intel_pstate/no_turbo") == "0" {
		return "turbo is on (intel_pstate)"
	}
	if h.sys("devices/system/cpu/cpufreq/boost") == "1" {
		return "boost is on"
	}
	return ""
}

func smt(h *host) string {
	if h.sys("devices/system/cpu/smt/active") == "1" {
		return "SMT is on"
	}
	return ""
}

func numa(h *host) string {
	if nodes := h.sys("devices/system/node/online"); strings.ContainsAny(nodes, "-,") {
		return "nodes " + nodes
	}
	return ""
}

func numaBalancing(h *host) string {
	if v := h.proc("sys/kernel/numa_balancing"); v != "" && v != "0" && numa(h) != "" {
		return "kernel.numa_balancing = " + v
	}
	return ""
}

// fastClocks are those that Linux reads without entering the kernel.
var fastClocks = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod", "riscv_clocksource"}

func clockSource(h *host) string {
	v := h.sys("devices/system/clocksource/clocksource0/current_clocksource")
	if v == "" || slices.Contains(fastClocks, v) {
		return ""
	}
	return v
}

func virtual(h *host) string {
	for line := range strings.Lines(h.proc("cpuinfo")) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == "flags" && slices.Contains(strings.Fields(value), "hypervisor") {
			return "this is a virtual machine"
		}
	}
	return ""
}

// steal looks at all time since boot, so that a check before a run sees it.
func steal(h *host) string {
	c := h.sample.CPU
	if !c.OK || c.V.Total() <= 0 {
		return ""
	}
	percent := 100 * float64(c.V.Steal) / float64(c.V.Total())
	if percent < 0.5 {
		return ""
	}
	return fmt.Sprintf("%.1f percent of all CPU time since boot", percent)
}

// load is worth a warning from a tenth of the CPUs on, and from one task on any host.
func load(h *host) string {
	cpus := h.sample.CPUs
	if !h.sample.Load.OK || !cpus.OK {
		return ""
	}
	if l := h.sample.Load.V.Over1; l >= max(1, float64(cpus.V)/10) {
		return "load average " + strconv.FormatFloat(l, 'f', 2, 64) + fmt.Sprintf(" over the last minute on %d CPUs", cpus.V)
	}
	return ""
}
