package stream

import (
	"math"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/javarand"
)

// Probabilities that an operation's id2 is one the load made a link to.
const (
	existAdd    = 0.05
	existUpdate = 0.9
	existDelete = 0.9
	existGet    = 0.5
)

// id2Chooser draws the other end of links.
type id2Chooser struct {
	w            *Workload
	requester    int64 // of requesters, for id2gen_config
	requesters   int64
	legacy       bool
	low, spread  int64 // an id2 that needn't exist is low + [0,spread)
	randomID2Max int64
	partition    bool
}

func (w *Workload) newID2Chooser(requester, requesters int) id2Chooser {
	c := id2Chooser{w: w, requester: int64(requester), requesters: int64(requesters),
		legacy: w.cfg.Compat == compat.Y2013, spread: w.cfg.MaxID1, randomID2Max: w.cfg.RandomID2Max,
		partition: w.cfg.PartitionID2}
	if w.cfg.Compat == compat.Off { // the original draws from 0, so ids that aren't nodes too
		c.low, c.spread = w.cfg.StartID1, w.cfg.Nodes()
	}
	return c
}

// one draws an id2 that exists with probability p.
func (c *id2Chooser) one(rng *javarand.Random, id1 int64, k int, p float64) int64 {
	return c.owned(c.any(rng, id1, k, p))
}

func (c *id2Chooser) any(rng *javarand.Random, id1 int64, k int, p float64) int64 {
	switch {
	case c.randomID2Max > 0:
		return rng.Int64n(c.randomID2Max)
	case c.legacy:
		return id1 + rng.Int64n(c.span(id1, k, p))
	case rng.Float64() < p:
		return id1 + rng.Int64n(max(1, c.w.degrees.Links(id1, k)))
	}
	return c.low + rng.Int64n(c.spread)
}

// span is how far after id1 the first release looks: so many ids that a share p of them exists.
func (c *id2Chooser) span(id1 int64, k int, p float64) int64 {
	return max(1, int64(math.Ceil(1/p*float64(c.w.degrees.Links(id1, k)))))
}

// owned moves an id2 to one only this requester changes, where id2gen_config asks for it.
func (c *id2Chooser) owned(id2 int64) int64 {
	if !c.partition {
		return id2
	}
	id2 = id2 - id2%c.requesters + c.requester
	if c.randomID2Max > 0 && id2 > c.randomID2Max {
		id2 -= c.requesters
	}
	return id2
}

// several draws n id2s into dst[:0]. The first release's are distinct as far as a hundred more tries each allow, and
// are simply the first ones where its span holds no more than n.
func (c *id2Chooser) several(dst []int64, n int, rng *javarand.Random, id1 int64, k int, p float64) []int64 {
	dst = dst[:0]
	if !c.legacy {
		for range n {
			dst = append(dst, c.one(rng, id1, k, p))
		}
		return dst
	}
	if c.randomID2Max == 0 && c.span(id1, k, p) <= int64(n) {
		for i := range n {
			dst = append(dst, c.owned(id1+int64(i)))
		}
		return dst
	}
	const retries = 100
	for range n {
		id2 := c.one(rng, id1, k, p)
		for t := 0; t < retries && contains(dst, id2); t++ {
			id2 = c.one(rng, id1, k, p)
		}
		dst = append(dst, id2)
	}
	return dst
}

func contains(ids []int64, id int64) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}
