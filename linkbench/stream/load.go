package stream

import (
	"math"

	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/javarand"
	"insertbench/linkbench/payload"
)

// Nodes generates the nodes of one loader. It isn't safe for concurrent use.
type Nodes struct {
	w       *Workload
	rng     *javarand.Random
	data    *payload.Generator
	id, end int64
	node    graph.Node
	buf     []byte
}

// Nodes returns a generator of nodes. With stream original there must be one, given all pieces in order.
func (w *Workload) Nodes() *Nodes {
	n := &Nodes{w: w, rng: new(javarand.Random), data: payload.New(w.cfg.NodeAdd)}
	if w.cfg.Stream == config.Original {
		seed, _ := w.loadSeeds()
		n.rng.Seed(seed)
	} else {
		n.data.DrawMotif(javarand.New(mix(w.cfg.LoadSeed, roleNodeMotif)))
	}
	return n
}

// Start begins a piece of NodePieces.
func (n *Nodes) Start(p Piece) {
	n.id, n.end = p.First, p.End
	if n.w.cfg.Stream != config.Original {
		n.rng.Seed(mix(n.w.cfg.LoadSeed, roleNodes, p.First))
	}
}

// Next returns the next node of the piece, nil after the last. It is valid until the next call.
func (n *Nodes) Next() *graph.Node {
	if n.id >= n.end {
		return nil
	}
	n.buf = grow(n.buf, n.w.nodeBytes.Choose(n.rng))
	n.data.Fill(n.rng, n.buf)
	n.node = graph.Node{ID: n.id, Type: graph.NodeType, Version: graph.NodeVersion,
		TimeS: int32(n.w.cfg.EpochMS / 1000), Data: n.buf}
	n.id++
	return &n.node
}

// Row tells what Links.Next made.
type Row int

// Kinds of rows.
const (
	RowEnd Row = iota
	RowLink
	RowCount
)

// Links generates the links and counts of one loader. It isn't safe for concurrent use.
type Links struct {
	Link  graph.Link  // after Next returned RowLink, until the next call
	Count graph.Count // after Next returned RowCount

	w    *Workload
	rng  *javarand.Random
	data *payload.Generator
	buf  []byte

	piece   Piece
	id      int64
	total   int64   // out-degree of id
	typ     int     // current type
	j, to   int64   // places of its list still to make: j ≤ place < to
	seen    int64   // links of id in the lists before the current one
	newest  []int64 // by type: largest time of its list
	partly  []bool  // by type: the list began in an earlier piece
	order   []int   // of the types, while counts are made; nil while links are
	at      int
	present int64 // only the first present types have links
}

// Links returns a generator of links and counts. With stream original there must be one, given all pieces in
// order.
func (w *Workload) Links() *Links {
	l := &Links{w: w, rng: new(javarand.Random), data: payload.New(w.cfg.LinkAdd),
		newest: make([]int64, w.cfg.LinkTypes), partly: make([]bool, w.cfg.LinkTypes),
		buf: make([]byte, graph.MaxLinkBytes)}
	if w.cfg.Stream == config.Original {
		_, seed := w.loadSeeds()
		l.rng.Seed(seed)
	} else {
		l.data.DrawMotif(javarand.New(mix(w.cfg.LoadSeed, roleLinkMotif)))
	}
	return l
}

// Start begins a piece of Pieces.
func (l *Links) Start(p Piece) {
	l.piece = p
	if l.w.cfg.Stream != config.Original {
		l.rng.Seed(mix(l.w.cfg.LoadSeed, roleLinks, p.First, p.From))
	}
	l.startID(p.First)
}

func (l *Links) startID(id int64) {
	l.id, l.order = id, nil
	if id >= l.piece.End {
		return
	}
	l.total = l.w.degrees.Total(id)
	l.seen = 0
	l.startType(0)
}

// startType sets the places of type k's list that the piece holds.
func (l *Links) startType(k int) {
	l.typ = k
	n := l.w.degrees.Of(l.total, k)
	l.j = min(max(l.piece.From-l.seen, 0), n)
	l.to = min(max(l.piece.To-l.seen, 0), n)
	l.newest[k] = math.MinInt64
	l.partly[k] = l.j > 0
}

// Next makes the next row of the piece: the links of an id by type, then a count for each type it has links of.
// A slice makes the counts when it holds the id's last link.
//
// A count's time is that of the newest link. Where its list is cut into several pieces, it is the time of
// loading, which no link's exceeds, since the others' times aren't known here.
func (l *Links) Next() Row {
	for l.id < l.piece.End {
		switch {
		case l.order != nil:
			if l.nextCount() {
				return RowCount
			}
			l.startID(l.id + 1)
		case l.j < l.to:
			l.makeLink()
			l.j++
			return RowLink
		case l.typ+1 < l.w.cfg.LinkTypes:
			l.seen += l.w.degrees.Of(l.total, l.typ)
			l.startType(l.typ + 1)
		case l.piece.To < l.w.degrees.Loaded(l.total):
			l.id = l.piece.End // an earlier slice: the last one makes the counts
		default:
			l.present = l.w.degrees.Present(l.total)
			l.order, l.at = l.w.countOrder(l.present), 0
		}
	}
	return RowEnd
}

// halfAgeMS is half the span of the times of links: they are spread over the 2^32 ms, 49.7 days, before loading.
const halfAgeMS = 1 << 31

func (l *Links) makeLink() {
	id2 := l.id + l.j
	if m := l.w.cfg.RandomID2Max; m > 0 {
		id2 = l.rng.Int64n(m)
	}
	data := l.buf[:l.w.linkBytes.Choose(l.rng)]
	l.data.Fill(l.rng, data)
	t := l.w.cfg.EpochMS - halfAgeMS + int64(l.rng.Int32())
	l.newest[l.typ] = max(l.newest[l.typ], t)
	l.Link = graph.Link{ID1: l.id, Type: graph.FirstLinkType + int64(l.typ), ID2: id2, Visibility: graph.Visible,
		Version: graph.LinkVersion, TimeMS: t, Data: data}
}

// nextCount makes the count of the next type the id has links of, false when there is none.
func (l *Links) nextCount() bool {
	for ; l.at < len(l.order); l.at++ {
		if k := l.order[l.at]; int64(k) < l.present {
			l.makeCount(k)
			l.at++
			return true
		}
	}
	return false
}

func (l *Links) makeCount(k int) {
	n := l.w.degrees.Of(l.total, k)
	t := l.newest[k]
	if l.partly[k] {
		t = l.w.cfg.EpochMS
	}
	l.Count = graph.Count{ID: l.id, Type: graph.FirstLinkType + int64(k), Count: n, TimeMS: t,
		Version: graph.LinkVersion}
}
