package linkbench

import (
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
)

// chunk is what the load made of some consecutive ids: one sum for each id and
// type. The zero value knows no ids.
type chunk struct {
	first, end int64
	types      int
	sums       []LinkSums // [id-first][type]
}

// start empties the chunk and moves it to that of an id.
func (c *chunk) start(w *stream.Workload, id int64) {
	cfg := w.Config()
	c.types = cfg.LinkTypes
	c.first = cfg.StartID1 + (id-cfg.StartID1)/cfg.ChunkIDs*cfg.ChunkIDs
	c.end = cfg.MaxID1
	if c.end-c.first > cfg.ChunkIDs {
		c.end = c.first + cfg.ChunkIDs
	}
	n := int(c.end-c.first) * c.types
	if cap(c.sums) < n {
		c.sums = make([]LinkSums, n)
	}
	c.sums = c.sums[:n]
	clear(c.sums)
}

// generate adds a piece.
func (c *chunk) generate(gen *stream.Links, p stream.Piece) {
	gen.Start(p)
	for row := gen.Next(); row != stream.RowEnd; row = gen.Next() {
		if row != stream.RowLink {
			continue
		}
		l := &gen.Link
		s := &c.sums[int(l.ID1-c.first)*c.types+int(l.Type-graph.FirstLinkType)]
		s.Links++
		s.Visible += int64(l.Visibility)
		s.SumID2 += l.ID2
		s.DataBytes += int64(len(l.Data))
	}
}

// at is the sum of an id and type; nothing outside the chunk.
func (c *chunk) at(id int64, k int) LinkSums {
	if id < c.first || id >= c.end {
		return LinkSums{}
	}
	return c.sums[int(id-c.first)*c.types+k]
}

// missing tells v of ids from ≤ id < to that have links of type k in the chunk
// and none in the database.
func (c *chunk) missing(v *verifier, k int, from, to int64) {
	for id := max(from, c.first); id < min(to, c.end); id++ {
		want := c.at(id, k)
		if want.Links == 0 {
			continue
		}
		v.loaded.add(LoadSums{Links: want.Links, LinkBytes: want.DataBytes, Counts: 1})
		v.differ("id1 %d has no links of type %d, where %d were loaded", id, graph.FirstLinkType+int64(k), want.Links)
	}
}
