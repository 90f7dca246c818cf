package dist

import (
	"math"

	"insertbench/linkbench/javarand"
)

// exactBelow is the number of terms below which the original sums the harmonic series; above it approximates.
const exactBelow = 100_000

const eulerGamma = 0.57721566490153286060651209008240243

// maxSummed bounds the terms summed one by one where no approximation of the original exists (shapes above 1).
const maxSummed = 10_000_000

// Harmonic is the generalised harmonic number Σ i^-shape, i = 1..n, as the original computes it: summed below
// 100,000 terms and for shapes above 1, else approximated by an integral with a constant of 0.58, which is off
// by less than 0.2 %. Above ten million terms of a shape above 1, where the original goes on adding for
// minutes, the tail is the Euler–Maclaurin integral, exact to within rounding.
func Harmonic(n int64, shape float64) float64 {
	switch {
	case n < exactBelow || shape > 1:
		head := min(n, maxSummed)
		sum := 0.0
		if n > head {
			sum = powerTail(float64(head), float64(n), shape)
		}
		for i := head; i > 0; i-- { // smallest terms first, as commons-math adds them
			sum += 1 / math.Pow(float64(i), shape)
		}
		return sum
	case shape == 1:
		return math.Log(float64(n)) + eulerGamma
	default:
		return math.Pow(float64(n), 1-shape)/(1-shape) + 0.58 - 1/(1-shape)
	}
}

// powerTail is Σ i^-s over a < i ≤ b by Euler–Maclaurin with the first correction; the next one is below
// s³·a^-(s+3).
func powerTail(a, b, s float64) float64 {
	integral := (math.Pow(b, 1-s) - math.Pow(a, 1-s)) / (1 - s)
	ends := (math.Pow(b, -s) - math.Pow(a, -s)) / 2
	slope := s * (math.Pow(a, -s-1) - math.Pow(b, -s-1)) / 12
	return integral + ends + slope
}

// Zipf draws ranks of [min,max) with probability proportional to (rank-min+1)^-shape, by the method of Gray
// et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994.
type Zipf struct {
	min, max int64
	n        float64
	shape    float64
	alpha    float64
	zeta     float64
	eta      float64
	second   float64 // 1 + 0.5^shape: below it the second rank is drawn
}

// NewZipf returns the distribution over [min,max); shape must be positive and not 1, where the method divides
// by zero.
func NewZipf(min, max int64, shape float64) *Zipf {
	z := &Zipf{min: min, max: max, n: float64(max - min), shape: shape}
	z.zeta = Harmonic(max-min, shape)
	z.alpha = 1 / (1 - shape)
	z.eta = (1 - math.Pow(2/z.n, 1-shape)) / (1 - Harmonic(2, shape)/z.zeta)
	z.second = 1 + math.Pow(0.5, shape)
	return z
}

// Quantile returns the rank at cumulative probability p in [0,1).
func (z *Zipf) Quantile(p float64) int64 {
	u := p * z.zeta
	switch {
	case u < 1:
		return z.min
	case u < z.second:
		return z.min + 1
	}
	id := z.min + int64(z.n*math.Pow(float64(z.eta*p)-z.eta+1, z.alpha))
	return min(id, z.max-1)
}

// Choose draws a rank; it takes one double.
func (z *Zipf) Choose(rng *javarand.Random) int64 { return z.Quantile(rng.Float64()) }

// PDF is the probability of a rank.
func (z *Zipf) PDF(rank int64) float64 {
	return math.Pow(float64(rank-z.min+1), -z.shape) / z.zeta
}

// Expected is the number of draws of a rank among n·mean, n the size of the range.
func (z *Zipf) Expected(rank int64, mean float64) float64 { return z.PDF(rank) * z.n * mean }
