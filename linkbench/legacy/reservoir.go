package legacy

import "math/rand/v2"

// reservoir is a uniform sample of at most limit values, of any number of them (Vitter's algorithm R). It never has
// more than 8 bytes × limit of memory.
type reservoir struct {
	limit  int
	seen   int64
	values []int64
}

func (r *reservoir) add(v int64, rng *rand.Rand) {
	r.seen++
	if n := len(r.values); n < r.limit {
		if n == cap(r.values) {
			r.values = append(make([]int64, 0, min(max(2*n, 64), r.limit)), r.values...)
		}
		r.values = append(r.values, v)
		return
	}
	if at := rng.Int64N(r.seen); at < int64(r.limit) {
		r.values[at] = v
	}
}

// reset empties it and keeps its memory.
func (r *reservoir) reset() { r.seen, r.values = 0, r.values[:0] }
