package dist

import (
	"math"

	"insertbench/linkbench/javarand"
)

// Uniform draws every value of [Min,Max) alike.
type Uniform struct{ Min, Max int64 }

// Quantile returns the value at cumulative probability p in [0,1).
func (u Uniform) Quantile(p float64) int64 {
	return u.Min + int64(math.Floor(float64(u.Max-u.Min)*p))
}

// Choose draws a value: one nextInt below 2^31 values. Above, the original's two-step draw is biased and isn't
// imitated.
func (u Uniform) Choose(rng *javarand.Random) int64 { return u.Min + rng.Int64n(u.Max-u.Min) }

// Geometric draws sizes of [Min,Max) whose probability falls by the factor 1-P from each to the next.
type Geometric struct {
	Min, Max int64
	P        float64
	// Exact takes the original's off-by-one away: it never draws Min unless the random number is exactly 0, so
	// a mean meant to be 1/P is 1+1/P (3.62 instead of 2.62 links per multiget at P = 0.382).
	Exact bool
}

// Quantile returns the size at cumulative probability p in [0,1).
func (g Geometric) Quantile(p float64) int64 {
	if p == 0 {
		return g.Min
	}
	steps := math.Ceil(math.Log(1-p) / math.Log(1-g.P))
	if g.Exact {
		steps--
	}
	return min(g.Max-1, g.Min+int64(steps))
}

// Choose draws a size; it takes one double.
func (g Geometric) Choose(rng *javarand.Random) int64 { return g.Quantile(rng.Float64()) }

// Lognormal draws sizes of [0,Max) whose logarithm is normal with standard deviation 1 about log Median.
type Lognormal struct {
	max      int64
	logOfMid float64
}

// NewLognormal returns the distribution of sizes below max with a median above 0.
func NewLognormal(median float64, max int64) Lognormal {
	return Lognormal{max: max, logOfMid: math.Log(median)}
}

// Choose draws a size in bytes; it takes one Gaussian.
func (l Lognormal) Choose(rng *javarand.Random) int {
	x := math.Floor(math.Exp(l.logOfMid+rng.Norm()) + 0.5)
	if x >= float64(l.max) {
		return int(l.max - 1)
	}
	return int(max(x, 0))
}

// ArrivalGapNS draws the nanoseconds between two arrivals of a Poisson process of so many per second, as the
// original's rate limit does; it takes one double.
func ArrivalGapNS(rng *javarand.Random, perSecond float64) int64 {
	return int64(math.Floor(-math.Log(rng.Float64())/(perSecond/1e9) + 0.5))
}
