package iostat

import (
	"bytes"
	"errors"
)

// procStat is what is wanted of /proc/PID/stat (man 5 proc). Times are ticks of 1/100 s.
type procStat struct {
	state    byte
	ppid     int
	utime    int64 // user, all threads, also those that ended
	stime    int64 // system
	cutime   int64 // user, children that were waited for
	cstime   int64
	threads  int64
	start    int64 // since boot; with the pid it tells one process from a later one
	rssPages int64
}

// The fields of /proc/PID/stat counted from the state, which is number 3 in man 5 proc.
const (
	statState   = 0
	statPPID    = 4 - 3
	statUtime   = 14 - 3
	statStime   = 15 - 3
	statCutime  = 16 - 3
	statCstime  = 17 - 3
	statThreads = 20 - 3
	statStart   = 22 - 3
	statRSS     = 24 - 3
)

var errCutShort = errors.New("cut short")

// parseProcStat reads the file. The command's name stands in parentheses and may hold anything, a
// newline too, so the fields start after the last one.
func parseProcStat(b []byte) (procStat, error) {
	i := bytes.LastIndexByte(b, ')')
	line, _, ok := nextLine(b[i+1:])
	if !ok || i < 0 {
		return procStat{}, errCutShort
	}
	var p procStat
	var ppid int64
	to := [...]struct {
		field int
		value *int64
	}{
		{statPPID, &ppid}, {statUtime, &p.utime}, {statStime, &p.stime}, {statCutime, &p.cutime},
		{statCstime, &p.cstime}, {statThreads, &p.threads}, {statStart, &p.start}, {statRSS, &p.rssPages},
	}
	next := 0
	for n := 0; next < len(to); n++ {
		var field []byte
		field, line = nextField(line)
		if len(field) == 0 {
			return procStat{}, errCutShort
		}
		if n == statState {
			p.state = field[0]
		}
		if n != to[next].field {
			continue
		}
		v, ok := parseInt(field)
		if !ok && n != statRSS {
			return procStat{}, errors.New("a field that should be a number isn't")
		}
		*to[next].value = v
		next++
	}
	p.ppid = int(ppid)
	return p, nil
}

// ended reports whether the process is a zombie: its parent hasn't waited for it, and it holds no
// memory any more.
func (p procStat) ended() bool { return p.state == 'Z' || p.state == 'X' }

// procIO is what is wanted of /proc/PID/io, in bytes. The kernel adds what a child did to its
// parent when the parent waits for it.
type procIO struct{ read, written, cancelled int64 }

func parseProcIO(b []byte) (procIO, bool) {
	var p procIO
	found := 0
	keyed(b, func(key, value []byte) {
		var to *int64
		switch string(key) {
		case "read_bytes":
			to = &p.read
		case "write_bytes":
			to = &p.written
		case "cancelled_write_bytes":
			to = &p.cancelled
		default:
			return
		}
		if v := oneInt(value); v.OK {
			*to = v.V
			found++
		}
	})
	return p, found == 3
}

// procStatus is what is wanted of /proc/PID/status or of a thread's status.
type procStatus struct {
	hwmBytes    Opt[int64] // peak RSS since the process started
	voluntary   Opt[int64] // context switches of one thread
	involuntary Opt[int64]
}

func parseProcStatus(b []byte) procStatus {
	var p procStatus
	keyed(b, func(key, value []byte) {
		switch string(key) {
		case "VmHWM":
			p.hwmBytes = kibibytes(value)
		case "voluntary_ctxt_switches":
			p.voluntary = oneInt(value)
		case "nonvoluntary_ctxt_switches":
			p.involuntary = oneInt(value)
		}
	})
	return p
}

// parsePSS reads the Pss line of /proc/PID/smaps_rollup (since 4.14), in bytes.
func parsePSS(b []byte) Opt[int64] {
	var pss Opt[int64]
	keyed(b, func(key, value []byte) {
		if string(key) == "Pss" {
			pss = kibibytes(value)
		}
	})
	return pss
}
