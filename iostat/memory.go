package iostat

import (
	"bytes"
	"strconv"
)

// Memory is the state of the host's memory in bytes, from /proc/meminfo (which counts in units of
// 1,024 bytes).
type Memory struct {
	TotalBytes     Opt[int64] `json:"total_bytes"`
	FreeBytes      Opt[int64] `json:"free_bytes"`
	AvailableBytes Opt[int64] `json:"available_bytes"` // since 3.14
	BuffersBytes   Opt[int64] `json:"buffers_bytes"`
	CachedBytes    Opt[int64] `json:"cached_bytes"`
	DirtyBytes     Opt[int64] `json:"dirty_bytes"`     // waiting to be written back
	WritebackBytes Opt[int64] `json:"writeback_bytes"` // being written back
	SwapTotalBytes Opt[int64] `json:"swap_total_bytes"`
	SwapFreeBytes  Opt[int64] `json:"swap_free_bytes"`
}

func parseMeminfo(b []byte) Memory {
	var m Memory
	keyed(b, func(key, value []byte) {
		var to *Opt[int64]
		switch string(key) {
		case "MemTotal":
			to = &m.TotalBytes
		case "MemFree":
			to = &m.FreeBytes
		case "MemAvailable":
			to = &m.AvailableBytes
		case "Buffers":
			to = &m.BuffersBytes
		case "Cached":
			to = &m.CachedBytes
		case "Dirty":
			to = &m.DirtyBytes
		case "Writeback":
			to = &m.WritebackBytes
		case "SwapTotal":
			to = &m.SwapTotalBytes
		case "SwapFree":
			to = &m.SwapFreeBytes
		default:
			return
		}
		*to = kibibytes(value)
	})
	return m
}

// kibibytes reads "  123 kB" as bytes.
func kibibytes(b []byte) Opt[int64] {
	field, unit := nextField(b)
	v, ok := parseInt(field)
	if unit, _ = nextField(unit); string(unit) != "kB" || v > 1<<52 {
		return Opt[int64]{}
	}
	return known(v*1024, ok)
}

// Paging counts the host's paging since boot, from /proc/vmstat.
type Paging struct {
	InKB        Opt[int64] `json:"in_kb"`         // pgpgin: read from disks by anyone, 1,024 bytes
	OutKB       Opt[int64] `json:"out_kb"`        // pgpgout: written to disks by anyone, 1,024 bytes
	SwapInPages Opt[int64] `json:"swap_in_pages"` // pswpin
	SwapOut     Opt[int64] `json:"swap_out_pages"`
	Faults      Opt[int64] `json:"faults"`       // pgfault, minor and major
	MajorFaults Opt[int64] `json:"major_faults"` // pgmajfault: had to read
}

func parseVMStat(b []byte) Paging {
	var p Paging
	keyed(b, func(key, value []byte) {
		switch string(key) {
		case "pgpgin":
			p.InKB = oneInt(value)
		case "pgpgout":
			p.OutKB = oneInt(value)
		case "pswpin":
			p.SwapInPages = oneInt(value)
		case "pswpout":
			p.SwapOut = oneInt(value)
		case "pgfault":
			p.Faults = oneInt(value)
		case "pgmajfault":
			p.MajorFaults = oneInt(value)
		}
	})
	return p
}

// Load is the average number of tasks that run, can run or wait for disk, over 1, 5 and 15 minutes,
// from /proc/loadavg.
type Load struct {
	Over1  float64 `json:"over_1_min"`
	Over5  float64 `json:"over_5_min"`
	Over15 float64 `json:"over_15_min"`
}

func parseLoad(b []byte) Opt[Load] {
	line, _, ok := nextLine(b)
	if !ok {
		return Opt[Load]{}
	}
	var v [3]float64
	for i := range v {
		var field []byte
		field, line = nextField(line)
		f, err := strconv.ParseFloat(string(field), 64)
		if err != nil || !(f >= 0 && f < 1e9) {
			return Opt[Load]{}
		}
		v[i] = f
	}
	return Some(Load{v[0], v[1], v[2]})
}

// Stall counts microseconds since boot in which tasks waited for a resource, from a file of
// /proc/pressure (Documentation/accounting/psi.rst, since 4.20).
type Stall struct {
	SomeUS Opt[int64] `json:"some_us"` // at least one task waited
	FullUS Opt[int64] `json:"full_us"` // all tasks waited; for cpu only since 5.13, and zero for the whole host
}

// Pressure is the pressure stall information of the host.
type Pressure struct {
	CPU    Stall `json:"cpu"`
	IO     Stall `json:"io"`
	Memory Stall `json:"memory"`
}

func parseStall(b []byte) Stall {
	var s Stall
	keyed(b, func(key, value []byte) {
		i := bytes.LastIndex(value, []byte(" total="))
		if i < 0 {
			return
		}
		total := oneInt(value[i+len(" total="):])
		switch string(key) {
		case "some":
			s.SomeUS = total
		case "full":
			s.FullUS = total
		}
	})
	return s
}
