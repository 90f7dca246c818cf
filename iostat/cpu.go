package iostat

import (
	"bytes"
	"fmt"
)

// userHZ is the unit of CPU time in /proc: ticks per second. USER_HZ is 100 on every architecture
// Go runs on (man 5 proc, man 7 time).
const userHZ = 100

// tickUS is the length of a tick in microseconds.
const tickUS = 1_000_000 / userHZ

// CPUTicks are the columns of the "cpu" line of /proc/stat (Documentation/filesystems/proc.rst,
// 1.7), in ticks of 1/100 s summed over all CPUs. User includes Guest and Nice includes GuestNice.
// Idle and IOWait may go backwards, says the kernel, so their deltas may be negative.
type CPUTicks struct {
	User      int64 `json:"user"`
	Nice      int64 `json:"nice"`
	System    int64 `json:"system"`
	Idle      int64 `json:"idle"`
	IOWait    int64 `json:"iowait"`
	IRQ       int64 `json:"irq"`
	SoftIRQ   int64 `json:"softirq"`
	Steal     int64 `json:"steal"`
	Guest     int64 `json:"guest"`
	GuestNice int64 `json:"guest_nice"`
}

// Busy is user + nice + system + irq + softirq.
func (c CPUTicks) Busy() int64 { return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ }

// Total is the sum of all states; guest time is inside user and nice already.
func (c CPUTicks) Total() int64 { return c.Busy() + c.Idle + c.IOWait + c.Steal }

func (c CPUTicks) minus(a CPUTicks) CPUTicks {
	return CPUTicks{c.User - a.User, c.Nice - a.Nice, c.System - a.System, c.Idle - a.Idle, c.IOWait - a.IOWait,
		c.IRQ - a.IRQ, c.SoftIRQ - a.SoftIRQ, c.Steal - a.Steal, c.Guest - a.Guest, c.GuestNice - a.GuestNice}
}

// backwards reports whether a state that only ever grows got smaller.
func (c CPUTicks) backwards() bool {
	return c.User < 0 || c.Nice < 0 || c.System < 0 || c.IRQ < 0 || c.SoftIRQ < 0 || c.Steal < 0
}

// hostStat is what is wanted of /proc/stat.
type hostStat struct {
	cpu     CPUTicks
	cpus    int64      // CPUs that are online
	ctxt    Opt[int64] // context switches since boot
	forks   Opt[int64] // processes and threads created since boot
	running Opt[int64] // tasks that can run, now
	blocked Opt[int64] // tasks waiting for disk, now
}

// cpuColumns is the least number of columns accepted: up to steal. Kernels since 2.6.33 write ten,
// and a column added later is ignored.
const cpuColumns = 8

func parseStat(b []byte) (hostStat, error) {
	var h hostStat
	var err error
	found := false
	keyed(b, func(key, value []byte) {
		switch string(key) {
		case "cpu":
			h.cpu, err = parseCPULine(value)
			found = true
		case "ctxt":
			h.ctxt = oneInt(value)
		case "processes":
			h.forks = oneInt(value)
		case "procs_running":
			h.running = oneInt(value)
		case "procs_blocked":
			h.blocked = oneInt(value)
		default:
			if len(key) > 3 && bytes.HasPrefix(key, []byte("cpu")) {
				h.cpus++
			}
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("there is no complete cpu line")
	}
	return h, err
}

func parseCPULine(b []byte) (CPUTicks, error) {
	var col [10]int64
	n := 0
	for n < len(col) {
		field, rest := nextField(b)
		if len(field) == 0 {
			break
		}
		v, ok := parseInt(field)
		if !ok {
			return CPUTicks{}, fmt.Errorf("column %d of the cpu line is not a number of ticks: %.20q", n+1, field)
		}
		col[n], b = v, rest
		n++
	}
	if n < cpuColumns {
		return CPUTicks{}, fmt.Errorf("the cpu line has %d columns, at least %d are needed", n, cpuColumns)
	}
	return CPUTicks{col[0], col[1], col[2], col[3], col[4], col[5], col[6], col[7], col[8], col[9]}, nil
}

// oneInt reads the number a line consists of.
func oneInt(b []byte) Opt[int64] {
	field, _ := nextField(b)
	v, ok := parseInt(field)
	return known(v, ok)
}
