package stream

import (
	"math"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/javarand"
	"insertbench/linkbench/payload"
)

// Request is one operation. Which fields count depends on Op; slices are valid until the next request is made.
type Request struct {
	Op graph.Op
	// Link holds ID1 and Type of every link operation, ID2 of those on one link, and all of it for AddLink and
	// UpdateLink.
	Link graph.Link
	// InsertFirst tells that an UpdateLink is sent as an add, as the first release does.
	InsertFirst bool
	ID2s        []int64    // MultigetLinks
	Node        graph.Node // all but the ID for AddNode, all for UpdateNode, the ID for DeleteNode and GetNode
	// List bounds of ListLinks; links are visible ones, newest first.
	MinTimeMS, MaxTimeMS int64
	Offset, Limit        int
	History              bool // asks for an older page
}

// Requests generates the requests of one requester. It isn't safe for concurrent use. After the first few it
// allocates nothing but larger buffers for larger nodes and the entries of its history.
type Requests struct {
	w                                        *Workload
	rng                                      *javarand.Random
	id2                                      id2Chooser
	history                                  *history
	at, linksAt                              position // of nodes and of links, for which round robin never counts on
	paced                                    bool
	req                                      Request
	buf                                      []byte
	ids                                      []int64
	linkAdd, linkUpdate, nodeAdd, nodeUpdate *payload.Generator
}

// Requests returns the generators of requesters first ≤ i < first+count out of all. A requester's stream
// depends on its number alone, not on how many there are, except with id2gen_config.
func (w *Workload) Requests(first, count, all int) []*Requests {
	m := javarand.NewMaster(w.cfg.RequestSeed)
	m.Int64() // the original spends one on a debug line
	for range first {
		m.Int64()
	}
	gens := make([]*Requests, count)
	for i := range gens {
		r := &Requests{
			w: w, rng: javarand.New(m.Int64()), id2: w.newID2Chooser(first+i, all), history: newHistory(),
			paced:   w.cfg.Stream == config.Original && w.cfg.Run.RatePerRequester > 0,
			ids:     make([]int64, 0, max(1, w.cfg.Multiget.Max)),
			linkAdd: payload.New(w.cfg.LinkAdd), linkUpdate: payload.New(w.cfg.LinkUpdate),
			nodeAdd: payload.New(w.cfg.NodeAdd), nodeUpdate: payload.New(w.cfg.NodeUpdate),
		}
		r.rng.Int64() // and so does each requester
		gens[i] = r
	}
	return gens
}

// Next makes the next request; nowMS is the unix time in milliseconds it is to carry. It is valid until the
// next call. The order of draws is the original's.
func (r *Requests) Next(nowMS int64) *Request {
	r.rng.Float64() // chooses among databases, of which there is one
	if r.paced {
		r.rng.Float64() // the original's rate limit draws from here; pacing isn't the stream's business
	}
	q := &r.req
	q.Op = r.op()
	switch q.Op {
	case graph.AddLink, graph.UpdateLink, graph.DeleteLink, graph.CountLinks, graph.MultigetLinks:
		r.link(nowMS)
	case graph.ListLinks:
		r.list()
	default:
		r.node(nowMS)
	}
	return q
}

func (r *Requests) op() graph.Op {
	x := r.rng.Float64() * 100
	for op, c := range r.w.cumulative {
		if x <= c {
			return graph.Op(op)
		}
	}
	return graph.GetNode // only where rounding leaves the last sum below 100
}

// target draws id1 and type of a link operation and returns the type's number.
func (r *Requests) target(b *blend) int {
	r.req.Link.ID1 = b.choose(r.rng, &r.linksAt)
	k := int(r.rng.Int32n(int32(r.w.cfg.LinkTypes)))
	r.req.Link.Type = graph.FirstLinkType + int64(k)
	return k
}

func (r *Requests) link(nowMS int64) {
	q := &r.req
	q.InsertFirst = false
	switch q.Op {
	case graph.AddLink:
		k := r.target(&r.w.linkWrites)
		q.Link.ID2 = r.id2.one(r.rng, q.Link.ID1, k, existAdd)
		r.fillLink(r.linkAdd, nowMS)
	case graph.UpdateLink:
		k := r.target(&r.w.linkWrites)
		q.Link.ID2 = r.id2.one(r.rng, q.Link.ID1, k, existUpdate)
		r.fillLink(r.linkUpdate, nowMS)
		q.InsertFirst = r.w.cfg.Compat == compat.Y2013
	case graph.DeleteLink:
		k := r.target(&r.w.linkWrites)
		q.Link.ID2 = r.id2.one(r.rng, q.Link.ID1, k, existDelete)
	case graph.CountLinks:
		r.target(&r.w.linkReads)
	case graph.MultigetLinks:
		k := r.target(&r.w.linkReads)
		n := int(r.w.multiget(r.rng))
		r.ids = r.id2.several(r.ids, n, r.rng, q.Link.ID1, k, existGet)
		q.ID2s = r.ids
	}
}

func (r *Requests) fillLink(g *payload.Generator, nowMS int64) {
	l := &r.req.Link
	l.Visibility, l.Version, l.TimeMS = graph.Visible, graph.LinkVersion, nowMS
	l.Data = r.fill(g, r.w.linkBytes.Choose(r.rng))
}

func (r *Requests) fill(g *payload.Generator, n int) []byte {
	r.buf = grow(r.buf, n)
	g.Fill(r.rng, r.buf)
	return r.buf
}

func (r *Requests) list() {
	q := &r.req
	q.MinTimeMS, q.MaxTimeMS, q.Offset, q.Limit = 0, math.MaxInt64, 0, graph.ListLimit
	older := r.rng.Float64() < r.w.cfg.HistoryPercent/100
	if q.History = older && len(r.history.pages) > 0; q.History {
		p := r.history.choose(r.rng)
		q.Link.ID1, q.Link.Type = p.id1, p.typ
		q.MaxTimeMS, q.Offset = p.oldestMS, 1
		return
	}
	r.target(&r.w.linkReads)
}

// Listed tells what the last request, a ListLinks, returned: so many links, the oldest of that time. Lists longer
// than a page are what later requests ask older pages of.
func (r *Requests) Listed(rows int, oldestMS int64) {
	key := listKey{r.req.Link.ID1, r.req.Link.Type}
	full := rows >= r.req.Limit
	switch {
	case full && r.req.History:
		r.history.advance(key, oldestMS)
	case full:
		r.history.add(page{listKey: key, oldestMS: oldestMS}, r.rng)
	case r.req.History:
		r.history.remove(key)
	}
}

func (r *Requests) node(nowMS int64) {
	n := &r.req.Node
	*n = graph.Node{Type: graph.NodeType}
	switch r.req.Op {
	case graph.AddNode:
		n.Version, n.TimeS = graph.NodeVersion, int32(nowMS/1000)
		n.Data = r.fill(r.nodeAdd, r.w.nodeBytes.Choose(r.rng))
		return
	case graph.UpdateNode:
		n.ID = r.w.nodeUpdates.choose(r.rng, &r.at)
		n.Version, n.TimeS = graph.UpdateVersion, int32(nowMS/1000)
		n.Data = r.fill(r.nodeUpdate, r.w.nodeBytes.Choose(r.rng))
	case graph.DeleteNode:
		n.ID = r.w.nodeDeletes.choose(r.rng, &r.at)
	case graph.GetNode:
		n.ID = r.w.nodeReads.choose(r.rng, &r.at)
	}
	r.at.last = n.ID
}
