package load

import (
	"math/bits"
	"time"
)

// Pacer is an arrival schedule: a pure function from an operation's number,
// counted from 0, to its intended start as an offset from the run's start. It
// never decreases. Latency counts from that start, however late the operation
// was sent, so that a stall is charged to all the operations that it held up.
type Pacer interface {
	Start(n int64) time.Duration
}

// Constant is a steady rate in units (rows) per second, sent Batch units at a
// time. Operation n is due at n × Batch ÷ PerSecond seconds, in integers of
// 128 bits: the rate is met exactly over any length, whether or not it is a
// multiple of the batch. (iibench.py sends whole batches at the start of each
// second and then sleeps, without catching up.)
type Constant struct {
	// PerSecond is units per second, 1 or more.
	PerSecond int64
	// Batch is units per operation, 1 or more.
	Batch int64
}

// Start is the intended start of operation n.
func (p Constant) Start(n int64) time.Duration {
	hi, lo := bits.Mul64(uint64(n)*uint64(p.Batch), uint64(time.Second))
	if hi >= uint64(p.PerSecond) {
		return time.Duration(1<<63 - 1)
	}
	at, _ := bits.Div64(hi, lo, uint64(p.PerSecond))
	return time.Duration(min(at, 1<<63-1))
}
