package legacy

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestReservoirKeepsAllUpToItsLimit(t *testing.T) {
	for _, n := range []int{0, 1, 63, 65, 200} {
		r, rng := reservoir{limit: 200}, rand.New(rand.NewPCG(1, 1))
		var want []int64
		for i := range n {
			r.add(int64(i*7), rng)
			want = append(want, int64(i*7))
		}
		if r.seen != int64(n) || !slices.Equal(r.values, want) {
			t.Errorf("of %d: seen %d, kept %v", n, r.seen, r.values)
		}
	}
}

// Each of 100 values must be among the 10 kept in a tenth of 20,000 rounds: 2,000 times with a standard deviation of
// √(20,000 × 0.1 × 0.9) = 42.4. The largest of 100 such counts is within 5 of them, 212. The seed makes it always so.
func TestReservoirIsUniform(t *testing.T) {
	const rounds, values, limit = 20_000, 100, 10
	rng := rand.New(rand.NewPCG(12345, 1))
	var kept [values]int
	r := reservoir{limit: limit}
	for range rounds {
		for v := range int64(values) {
			r.add(v, rng)
		}
		if r.seen != values || len(r.values) != limit || cap(r.values) != limit {
			t.Fatalf("seen %d, kept %d, room for %d", r.seen, len(r.values), cap(r.values))
		}
		for _, v := range r.values {
			kept[v]++
		}
		r.reset()
	}
	for v, n := range kept {
		if n < 2000-212 || n > 2000+212 {
			t.Errorf("value %d was kept %d times, want about 2000", v, n)
		}
	}
}
