package load

import (
	"math"
	"slices"
	"testing"
	"testing/quick"
	"time"
)

func TestSplitMix64(t *testing.T) {
	// The published vector for seed 1234567 (rosettacode.org, "Pseudo-random
	// numbers/Splitmix64").
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	for i, w := range want {
		if got := splitMix64(1234567, uint64(i)); got != w {
			t.Errorf("output %d = %d, want %d", i, got, w)
		}
	}
}

func TestPoissonTimes(t *testing.T) {
	// From the vector above: 6457827717110365317 ÷ 2^64 = 0.350079542, whose
	// −ln is 1.049594887; at 10 a second the first start is 0.1049594887 s.
	// 3203168211198807973 ÷ 2^64 = 0.173644097, −ln = 1.750747496: 0.1750747496 s later.
	p := &Poisson{PerSecond: 1_000, Batch: 100, Seed: 1234567}
	for n, want := range []float64{0.1049594887, 0.1049594887 + 0.1750747496} {
		if got := p.Start(int64(n)).Seconds(); math.Abs(got-want) > 2e-9 {
			t.Errorf("Start(%d) = %.10f s, want %.10f", n, got, want)
		}
	}
}

func TestPoissonIsAFunctionOfSeedAndNumber(t *testing.T) {
	pure := func(seed uint64, asked []uint16) bool {
		asker := &Poisson{PerSecond: 1_000, Batch: 1, Seed: seed}
		for _, n := range asked {
			n %= 500
			fresh := &Poisson{PerSecond: 1_000, Batch: 1, Seed: seed}
			if asker.Start(int64(n)) != fresh.Start(int64(n)) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(pure, nil); err != nil {
		t.Error(err)
	}
	a, b := &Poisson{PerSecond: 10, Batch: 1, Seed: 1}, &Poisson{PerSecond: 10, Batch: 1, Seed: 2}
	if a.Start(0) == b.Start(0) {
		t.Error("two seeds give the same stream")
	}
}

func TestPoissonNeverDecreasesAndSaturates(t *testing.T) {
	slow := &Poisson{PerSecond: 1, Batch: math.MaxInt64 / 1_000, Seed: 3}
	fast := &Poisson{PerSecond: math.MaxInt64, Batch: 1, Seed: 3}
	var s, f time.Duration
	for n := range int64(20_000) {
		s2, f2 := slow.Start(n), fast.Start(n)
		if s2 < s || f2 < f {
			t.Fatalf("start %d is before start %d", n, n-1)
		}
		s, f = s2, f2
	}
	if s != never || slow.Start(2) > never {
		t.Errorf("slow stream at %v, want it saturated", s)
	}
}

func TestPoissonDistribution(t *testing.T) {
	// 100,000 gaps of 10 ms on average, a fixed seed.
	const n, mean = 100_000, 0.01
	p := &Poisson{PerSecond: 100, Batch: 1, Seed: 42}
	gaps := make([]float64, n)
	perSecond := map[int64]float64{}
	var last time.Duration
	for i := range gaps {
		at := p.Start(int64(i))
		gaps[i] = (at - last).Seconds()
		perSecond[int64(at/time.Second)]++
		last = at
	}
	// The mean of n exponential gaps has a standard deviation of mean ÷ √n:
	// 0.32 %, so 1.3 % is four of them.
	if got := last.Seconds() / n; math.Abs(got/mean-1) > 0.013 {
		t.Errorf("mean gap %v s, want %v", got, mean)
	}
	// Kolmogorov and Smirnov: the largest distance from 1−exp(−x÷mean) stays
	// under 1.63 ÷ √n in 99 of 100 samples.
	slices.Sort(gaps)
	var distance float64
	for i, g := range gaps {
		f := 1 - math.Exp(-g/mean)
		distance = max(distance, f-float64(i)/n, float64(i+1)/n-f)
	}
	if limit := 1.63 / math.Sqrt(n); distance > limit {
		t.Errorf("gaps are %v from the exponential distribution, limit %v", distance, limit)
	}
	// Operations in a second have a variance equal to their mean of 100. Over
	// 900 full seconds the ratio has a standard deviation of √(2÷900) = 0.047.
	var variance float64
	for s := range int64(900) {
		variance += (perSecond[s] - 100) * (perSecond[s] - 100) / 900
	}
	if ratio := variance / 100; math.Abs(ratio-1) > 4*0.047 {
		t.Errorf("variance of operations per second ÷ mean = %v, want 1", ratio)
	}
}
