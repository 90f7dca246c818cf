package stream

import (
	"math"
	"slices"

	"insertbench/linkbench/config"
	"insertbench/linkbench/degree"
	"insertbench/linkbench/dist"
	"insertbench/linkbench/javarand"
)

// class numbers the classes of operations whose ids are drawn apart.
type class int

const (
	linkReads class = iota
	linkReadsUncorrelated
	linkWrites
	linkWritesUncorrelated
	nodeReads
	nodeUpdates
	nodeDeletes
	classes
)

// chooser draws the ids of one class of operations.
type chooser struct {
	class      class
	access     config.Access
	start, end int64
	zipf       *dist.Zipf
	weights    []float64 // of real
	shuffler   *dist.Shuffler
}

// newChooser makes the chooser of a class. section is what real accesses draw from. In the original updates of
// nodes draw from the writes of links by mistake; here they have the data of their own.
func newChooser(cfg *config.Config, k class, a config.Access, section degree.Section, s *dist.Shuffler) chooser {
	c := chooser{class: k, access: a, start: cfg.StartID1, end: cfg.MaxID1, shuffler: s}
	switch a.Kind {
	case config.Zipf:
		c.zipf = dist.NewZipf(c.start, c.end, a.Shape)
	case config.Real:
		c.weights = cfg.Tables[section].Weights()
	}
	return c
}

// position is where a requester stands: what choosing depends on beside random numbers.
type position struct {
	last int64 // node of the last node operation, which round robin counts on from
	// taken counts, for each class and number of accesses v, the ids that real accesses have given their v-th
	// access. The original shares these between threads without a lock, so that it can't be repeated; here each
	// requester has its own.
	taken [classes]map[int]int64
}

// choose draws an id.
func (c *chooser) choose(rng *javarand.Random, at *position) int64 {
	switch c.access.Kind {
	case config.Zipf:
		return c.start + c.shuffler.Permute(c.zipf.Choose(rng)-c.start)
	case config.Uniform:
		return c.start + c.shuffler.Permute(rng.Int64n(c.end-c.start))
	case config.Real:
		return c.start + c.shuffler.Permute(c.real(rng, at))
	case config.RoundRobin:
		if at.last < c.start || at.last+1 >= c.end {
			return c.start
		}
		return at.last + 1
	}
	return c.arithmetic(rng)
}

// real draws how many accesses an id has had with this one, by the weights, and takes the next id, by rank, to
// reach that number.
func (c *chooser) real(rng *javarand.Random, at *position) int64 {
	taken := at.taken[c.class]
	if taken == nil {
		taken = map[int]int64{}
		at.taken[c.class] = taken
	}
	v, _ := slices.BinarySearch(c.weights, rng.Float64()*c.weights[len(c.weights)-1])
	v = min(max(v, 1), len(c.weights)-1)
	rank := taken[v]
	taken[v] = (rank + 1) % (c.end - c.start)
	return rank
}

func (c *chooser) arithmetic(rng *javarand.Random) int64 {
	x := float64(c.start + rng.Int64n(c.end-c.start))
	k := float64(c.access.Config)
	var id float64
	switch c.access.Kind {
	case config.Reciprocal:
		id = math.Ceil(float64(c.end-c.start) / x)
	case config.Multiple:
		id = k * math.Ceil(x/k)
	case config.Power:
		id = math.Pow(k, math.Ceil(math.Log(x)/math.Log(k)))
	case config.PerfectPower:
		id = math.Pow(math.Ceil(math.Pow(x, 1/k)), k)
	}
	return max(c.start, int64(min(id, float64(c.end-1))))
}

// blend mixes ids chosen by their out-degree with ids chosen regardless of it.
type blend struct {
	percent                  float64 // of the uncorrelated ones
	correlated, uncorrelated chooser
}

func (b *blend) choose(rng *javarand.Random, at *position) int64 {
	if rng.Float64() < b.percent/100 {
		return b.uncorrelated.choose(rng, at)
	}
	return b.correlated.choose(rng, at)
}
