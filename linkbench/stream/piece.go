package stream

import (
	"math"

	"insertbench/linkbench/config"
	"insertbench/linkbench/degree"
)

// Piece is a unit of load work: some ids with all their links, or a slice of one id's links. Pieces are the same
// for any number of loaders, can be loaded in any order with stream pieces, and together are the whole load.
type Piece struct {
	Ordinal int64 // 0 for the first one handed out
	First   int64 // ids First ≤ id < End
	End     int64
	// From and To bound a slice of the links of the one id First, in order of type and of place in its list; a
	// piece of whole ids has From 0 and To the largest 64-bit number.
	From, To int64
}

// Cutter hands out the pieces of the links in order. It isn't safe for concurrent use.
//
// Chunks of ids come last first, as in the original; within one, ids ascend. An id with more links than a
// piece may have is cut into slices, so that no loader is left alone with a super-node of millions.
type Cutter struct {
	degrees *degree.Function
	ids     int64 // per chunk
	links   int64 // per piece
	start   int64
	chunk   int64 // first id of the current one
	id, end int64 // what is left of it
	slice   int64 // links of id already handed out
	next    int64
}

// Pieces returns a cutter at the first piece of links and counts.
func (w *Workload) Pieces() *Cutter {
	c := &Cutter{degrees: w.degrees, ids: w.cfg.ChunkIDs, links: w.cfg.PieceLinks, start: w.cfg.StartID1}
	if w.cfg.Stream == config.Original {
		c.links = math.MaxInt64
	}
	n := w.cfg.Nodes()
	c.chunk = w.cfg.StartID1 + (n-1)/c.ids*c.ids
	c.id, c.end = c.chunk, w.cfg.MaxID1
	return c
}

// Next returns the next piece, false after the last.
func (c *Cutter) Next() (Piece, bool) {
	if c.id == c.end {
		if c.chunk == c.start {
			return Piece{}, false
		}
		c.end = c.chunk
		c.chunk -= c.ids
		c.id = c.chunk
	}
	p := Piece{Ordinal: c.next, First: c.id, To: math.MaxInt64}
	c.next++
	loaded := c.loaded(c.id)
	if loaded > c.links {
		p.End, p.From, p.To = c.id+1, c.slice, min(c.slice+c.links, loaded)
		if c.slice = p.To; c.slice == loaded {
			c.id++
			c.slice = 0
		}
		return p, true
	}
	for c.id++; c.id < c.end; c.id++ {
		next := c.loaded(c.id)
		if next > c.links-loaded {
			break
		}
		loaded += next
	}
	p.End = c.id
	return p, true
}

func (c *Cutter) loaded(id int64) int64 { return c.degrees.Loaded(c.degrees.Total(id)) }

// NodeCutter hands out the pieces of the nodes in order, ids ascending. It isn't safe for concurrent use.
type NodeCutter struct {
	ids, next, end int64
	ordinal        int64
}

// NodePieces returns a cutter at the first piece of nodes.
func (w *Workload) NodePieces() *NodeCutter {
	return &NodeCutter{ids: w.cfg.ChunkIDs, next: w.cfg.StartID1, end: w.cfg.MaxID1}
}

// Next returns the next piece, false after the last.
func (c *NodeCutter) Next() (Piece, bool) {
	if c.next == c.end {
		return Piece{}, false
	}
	p := Piece{Ordinal: c.ordinal, First: c.next, End: c.end, To: math.MaxInt64}
	if c.end-c.next > c.ids {
		p.End = c.next + c.ids
	}
	c.next = p.End
	c.ordinal++
	return p, true
}
