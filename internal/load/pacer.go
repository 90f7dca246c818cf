package load

import (
	"math"
	"math/bits"
	"time"
)

// never is the intended start of an operation that is due beyond what a
// time.Duration holds, 292 years.
const never = time.Duration(math.MaxInt64)

// Pacer is an arrival schedule: a function from an operation's number, counted
// from 0, to its intended start as an offset from the run's start. The answer
// depends on the number alone, whatever was asked before, and it never
// decreases. Latency counts from that start, however late the operation was
// sent, so that a stall is charged to all the operations that it held up.
//
// All pacers here count in units (rows) per second, sent Batch units at a
// time. A rate below one operation per second, or a worker's part of a total
// that doesn't divide, is a matter of the batch: one of W workers that share R
// operations per second has PerSecond R and Batch W.
type Pacer interface {
	Start(n int64) time.Duration
}

// Constant is a steady rate. Operation n is due at n × Batch ÷ PerSecond
// seconds, exactly, rounded down to nanoseconds: the rate is met over any
// length, whether or not it is a multiple of the batch. (iibench.py sends
// whole batches at the start of each second and then sleeps, without catching up.)
type Constant struct {
	// PerSecond is units per second, 1 or more.
	PerSecond int64
	// Batch is units per operation, 1 or more.
	Batch int64
}

// Start is the intended start of operation n.
func (p Constant) Start(n int64) time.Duration {
	rate := uint64(p.PerSecond)
	hi, lo := bits.Mul64(uint64(n), uint64(p.Batch))
	if hi >= rate {
		return never
	}
	seconds, rest := bits.Div64(hi, lo, rate)
	if seconds >= uint64(never/time.Second) {
		return never
	}
	hi, lo = bits.Mul64(rest, uint64(time.Second))
	ns, _ := bits.Div64(hi, lo, rate)
	return time.Duration(seconds)*time.Second + time.Duration(ns)
}

// Ramp is a rate that rises or falls in a straight line and then stays.
type Ramp struct {
	// From and To are units per second, 0 or more, at the start and after Over.
	// A ramp to 0 ends: what comes after it is never due.
	From, To int64
	Over     time.Duration
	// Batch is units per operation, 1 or more.
	Batch int64
}

// Start is the intended start of operation n, to the nanosecond below within
// a part in 10^15.
//
// With u units before the operation, F and T the two rates and L the length,
// u = F·t + (T−F)·t²÷2L on the ramp, solved for t in the form that loses no
// digits where T is close to F.
func (p Ramp) Start(n int64) time.Duration {
	if n == 0 {
		return 0
	}
	u, length := float64(n)*float64(p.Batch), p.Over.Seconds()
	from, to := float64(p.From), float64(p.To)
	onRamp := (from + to) / 2 * length
	if u > onRamp {
		return seconds(length + (u-onRamp)/to)
	}
	// Rounding may make it negative at the very end of a ramp to 0.
	square := max(0, from*from+2*u*(to-from)/length)
	return seconds(min(length, 2*u/(from+math.Sqrt(square))))
}

// seconds converts, saturating at never; not a number is never too.
func seconds(s float64) time.Duration {
	if ns := s * float64(time.Second); ns < float64(never) {
		return time.Duration(ns)
	}
	return never
}
