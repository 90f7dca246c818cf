package load

import (
	"math"
	"time"
)

// Poisson is a stream of operations that come independently of each other at a
// mean rate: the gaps, the one before the first included, are exponential.
// Streams of equal seed are equal.
//
// The n-th start is the sum of n+1 gaps. Gap i is a pure function of (Seed, i),
// but their sum has no short form, so the last sum is remembered: in ascending
// order, which is how a worker asks, each start costs one gap; going back
// starts over. The answers depend on (Seed, n) alone all the same. What is
// remembered makes it unfit for use from several goroutines: one per worker,
// each with a seed of its own. (A tree of gamma variates split by beta variates
// would need no memory, but some thirty variates per start instead of one.)
type Poisson struct {
	// PerSecond is the mean of units per second, 1 or more.
	PerSecond int64
	// Batch is units per operation, 1 or more.
	Batch int64
	Seed  uint64

	summed int64 // gaps in sum
	sum    time.Duration
}

// Start is the intended start of operation n.
func (p *Poisson) Start(n int64) time.Duration {
	if n < p.summed-1 {
		p.summed, p.sum = 0, 0
	}
	mean := float64(p.Batch) * float64(time.Second) / float64(p.PerSecond)
	for ; p.summed <= n && p.sum < never; p.summed++ {
		p.sum = addGap(p.sum, mean*exponential(p.Seed, uint64(p.summed)))
	}
	return p.sum
}

// addGap adds nanoseconds rounded to the nearest, which keeps the mean,
// saturating at never.
func addGap(sum time.Duration, ns float64) time.Duration {
	if gap := math.Round(ns); gap < float64(never-sum) {
		return sum + time.Duration(gap)
	}
	return never
}

// exponential is variate i of a stream with mean 1, by inversion of a uniform
// variate above 0 and up to 1 that has 53 bits.
func exponential(seed, i uint64) float64 {
	u := float64(splitMix64(seed, i)>>11+1) / (1 << 53)
	return -math.Log(u)
}

// splitMix64 is output i of Steele, Lea and Flood's generator (OOPSLA 2014).
func splitMix64(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
