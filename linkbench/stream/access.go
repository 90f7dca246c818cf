package stream

import (
	"math"

	"insertbench/linkbench/config"
	"insertbench/linkbench/dist"
	"insertbench/linkbench/javarand"
)

// chooser draws the ids of one class of operations.
type chooser struct {
	access     config.Access
	start, end int64
	zipf       *dist.Zipf
	shuffler   *dist.Shuffler
}

func newChooser(cfg *config.Config, a config.Access, s *dist.Shuffler) chooser {
	c := chooser{access: a, start: cfg.StartID1, end: cfg.MaxID1, shuffler: s}
	if a.Kind == config.Zipf {
		c.zipf = dist.NewZipf(c.start, c.end, a.Shape)
	}
	return c
}

// choose draws an id; previous is what round robin counts on from.
func (c *chooser) choose(rng *javarand.Random, previous int64) int64 {
	switch c.access.Kind {
	case config.Zipf:
		return c.start + c.shuffler.Permute(c.zipf.Choose(rng)-c.start)
	case config.Uniform:
		return c.start + c.shuffler.Permute(rng.Int64n(c.end-c.start))
	case config.RoundRobin:
		if previous < c.start || previous+1 >= c.end {
			return c.start
		}
		return previous + 1
	}
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

func (b *blend) choose(rng *javarand.Random) int64 {
	// The original's round robin counts links from 0 each time, hence previous 0.
	if rng.Float64() < b.percent/100 {
		return b.uncorrelated.choose(rng, 0)
	}
	return b.correlated.choose(rng, 0)
}
