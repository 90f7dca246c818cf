// Package javarand reproduces, bit for bit, the two random streams LinkBench is built on: java.util.Random
// (one per loader and requester) and Java's SHA1PRNG (the master that seeds them).
//
// Sources: the java.util.Random class documentation, which prescribes the algorithm, and recorded vectors.
package javarand

import "math"

const (
	multiplier = 0x5DEECE66D
	addend     = 0xB
	mask48     = 1<<48 - 1
)

// Random is java.util.Random: a 48-bit linear congruential generator. It isn't safe for concurrent use; the
// zero value is the generator of an unscrambled zero state, so use New or Seed.
type Random struct {
	state    uint64
	gauss    float64 // second value of the last polar pair
	hasGauss bool
}

// New returns the generator Java's new Random(seed) would be.
func New(seed int64) *Random {
	r := new(Random)
	r.Seed(seed)
	return r
}

// Seed restarts the stream, as Java's setSeed does: a waiting second Gaussian is dropped.
func (r *Random) Seed(seed int64) {
	r.state = (uint64(seed) ^ multiplier) & mask48
	r.hasGauss = false
}

// next returns the top n bits of the next state, sign extended from 32 bits.
func (r *Random) next(n uint) int32 {
	r.state = (r.state*multiplier + addend) & mask48
	return int32(r.state >> (48 - n))
}

// Int32 is nextInt(): any 32-bit value.
func (r *Random) Int32() int32 { return r.next(32) }

// Int64 is nextLong(): two signed halves added, so only 2^48 values occur.
func (r *Random) Int64() int64 { return int64(r.next(32))<<32 + int64(r.next(32)) }

// Float64 is nextDouble(): 53 bits in [0,1).
func (r *Random) Float64() float64 {
	hi := int64(r.next(26)) << 27
	return float64(hi+int64(r.next(27))) * 0x1p-53
}

// Int32n is nextInt(n): uniform in [0,n) by rejection. n must be positive; a caller's bounds are checked when
// the configuration is, so anything else counts as 1.
func (r *Random) Int32n(n int32) int32 {
	if n <= 1 {
		r.next(31)
		return 0
	}
	if n&(n-1) == 0 {
		return int32((int64(n) * int64(r.next(31))) >> 31)
	}
	for {
		v := r.next(31)
		m := v % n
		if v-m+(n-1) >= 0 { // wraps below zero in the last, incomplete block of n values
			return m
		}
	}
}

// Int64n is Int32n for n below 2^31 and the same unbiased rejection on nextLong above it.
//
// The original casts larger bounds to int or draws them with a bias; neither is imitated, so streams over
// 2^31 ids and more are ours alone.
func (r *Random) Int64n(n int64) int64 {
	if n <= math.MaxInt32 {
		return int64(r.Int32n(int32(max(n, 1))))
	}
	limit := math.MaxInt64 - math.MaxInt64%n
	for {
		v := r.Int64() & math.MaxInt64
		if v < limit {
			return v % n
		}
	}
}

// Norm is nextGaussian(): Marsaglia's polar method, two values from each accepted point.
func (r *Random) Norm() float64 {
	if r.hasGauss {
		r.hasGauss = false
		return r.gauss
	}
	for {
		x := 2*r.Float64() - 1
		y := 2*r.Float64() - 1
		s := float64(x*x) + float64(y*y)
		if s >= 1 || s == 0 {
			continue
		}
		k := math.Sqrt(-2 * Log(s) / s)
		r.gauss, r.hasGauss = float64(y*k), true
		return float64(x * k) // rounded before a caller can add to it, on processors that would do both at once
	}
}

// Fill sets every byte of dst to start+nextInt(n), n in 1..256. It is the inner loop of all payloads, hence
// the state in a register.
func (r *Random) Fill(dst []byte, start byte, n int32) {
	if n&(n-1) == 0 {
		for i := range dst {
			dst[i] = start + byte(r.Int32n(n))
		}
		return
	}
	s := r.state
	for i := range dst {
		for {
			s = (s*multiplier + addend) & mask48
			v := int32(s >> 17)
			m := v % n
			if v-m+(n-1) >= 0 {
				dst[i] = start + byte(m)
				break
			}
		}
	}
	r.state = s
}
