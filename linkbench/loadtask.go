package linkbench

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// Operations of a load, in the order of loadOps.
const (
	opNodes = iota
	opLinks
	opCounts
)

func loadOps() []string { return []string{"load_node", "load_link", "load_count"} }

// maxBatchBytes is the payload at which a batch of nodes is sent though it
// isn't full. A full one has 0.3 MB on average; this keeps an unlikely row of
// large nodes below any server's limit.
const maxBatchBytes = 1 << 20

// work hands out pieces to all loaders: nodes and links in turn, so that both
// end together. It is safe for concurrent use.
type work struct {
	mu     sync.Mutex
	cutter *stream.Cutter
	nodes  *stream.NodeCutter // nil when there are none left
	links  bool               // whose turn it is
	resume *Resume            // pieces that aren't handed out; nil for none
	// save, if set, takes each piece of which every row was acknowledged. It is
	// called by all loaders.
	save func(results.Piece) error
}

// pieceKind tells what a piece is of.
type pieceKind int

const (
	noPiece pieceKind = iota
	nodePiece
	linkPiece
)

// newWork deals out the pieces that r doesn't have; all where it is nil.
func newWork(w *stream.Workload, r *Resume) *work {
	q := &work{cutter: w.Pieces(), resume: r}
	if w.Config().GenerateNodes {
		q.nodes = w.NodePieces()
	}
	return q
}

func (q *work) take() (stream.Piece, pieceKind) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		p, kind := q.next()
		if kind == noPiece || !q.resume.has(kind, p.Ordinal) {
			return p, kind
		}
	}
}

// next is the next piece, acknowledged before or not.
func (q *work) next() (stream.Piece, pieceKind) {
	q.links = !q.links
	if !q.links && q.nodes != nil {
		if p, ok := q.nodes.Next(); ok {
			return p, nodePiece
		}
		q.nodes = nil
	}
	if p, ok := q.cutter.Next(); ok {
		return p, linkPiece
	}
	if q.nodes != nil {
		if p, ok := q.nodes.Next(); ok {
			return p, nodePiece
		}
	}
	return stream.Piece{}, noPiece
}

// LoadSums is what a load inserted.
type LoadSums struct {
	Nodes, Links, Counts int64
	NodeBytes, LinkBytes int64 // of payload
}

func (s *LoadSums) add(o LoadSums) {
	s.Nodes += o.Nodes
	s.Links += o.Links
	s.Counts += o.Counts
	s.NodeBytes += o.NodeBytes
	s.LinkBytes += o.LinkBytes
}

// rows is how many rows of all tables.
func (s LoadSums) rows() int64 { return s.Nodes + s.Links + s.Counts }

// loadTask is one loader: pieces of nodes and links, gathered into batches.
type loadTask struct {
	*retrier
	loader   Loader
	work     *work
	bulkRows int64
	bulkKB   int64

	nodes  *stream.Nodes
	links  *stream.Links
	kind   pieceKind
	nodesB batch[graph.Node]
	linksB batch[graph.Link]
	counts batch[graph.Count]

	// open are the pieces that were begun and aren't acknowledged whole, in the
	// order in which they were taken: rows of several are in one batch.
	open    []openPiece
	unsaved error // of noting a piece that was

	op      int // what Do sends
	pending LoadSums
	// acked is what the server acknowledged, unknown what it never answered for.
	acked, unknown LoadSums
}

// openPiece is a piece of which rows were not acknowledged, or not generated
// yet.
type openPiece struct {
	results.Piece
	waiting [opCounts + 1]bool // rows of which operations are in a batch
	whole   bool               // all rows are generated
}

// batch is a bulk insert under way and what is in it.
type batch[Row any] struct {
	Batch[Row]
	rows, bytes int64
	framedBytes int64 // with the 24 bytes a node that the original adds
}

func (b *batch[Row]) add(row *Row, bytes int) {
	b.Append(row)
	b.rows++
	b.bytes += int64(bytes)
	b.framedBytes += int64(bytes) + 24
}

func (b *batch[Row]) reset() {
	b.Reset()
	b.rows, b.bytes, b.framedBytes = 0, 0, 0
}

func newLoadTask(w *stream.Workload, q *work, l Loader) *loadTask {
	run := w.Config().Run
	return &loadTask{
		retrier: newRetrier(run.MaxRetries), loader: l, work: q, bulkRows: int64(run.BulkRows), bulkKB: int64(run.BulkKB),
		nodes: w.Nodes(), links: w.Links(),
		nodesB: batch[graph.Node]{Batch: l.Nodes()}, linksB: batch[graph.Link]{Batch: l.Links()},
		counts: batch[graph.Count]{Batch: l.Counts()},
	}
}

// Next generates rows until a batch is full; at the end the batches that
// aren't are sent too, none of them empty. (The original sends an empty
// statement where the number of nodes is a multiple of the batch.)
func (t *loadTask) Next() bool {
	for t.unsaved == nil {
		switch t.kind {
		case noPiece:
			if !t.begin() {
				return t.last()
			}
		case nodePiece:
			if t.nextNode() {
				return true
			}
		case linkPiece:
			if t.nextLink() {
				return true
			}
		}
	}
	return true // Do says what went wrong
}

// begin takes the next piece; false where there is none.
func (t *loadTask) begin() bool {
	var p stream.Piece
	switch p, t.kind = t.work.take(); t.kind {
	case nodePiece:
		t.nodes.Start(p)
	case linkPiece:
		t.links.Start(p)
	default:
		return false
	}
	t.open = append(t.open, openPiece{Piece: results.Piece{Kind: t.kind.recorded(), Ordinal: p.Ordinal}})
	return true
}

// end ends the piece that rows are generated of.
func (t *loadTask) end() {
	t.kind = noPiece
	t.open[len(t.open)-1].whole = true
	t.save()
}

// save notes the pieces of which every row was acknowledged.
func (t *loadTask) save() {
	t.open = slices.DeleteFunc(t.open, func(p openPiece) bool {
		if !p.whole || p.waiting != [opCounts + 1]bool{} {
			return false
		}
		if t.work.save != nil && t.unsaved == nil {
			t.unsaved = t.work.save(p.Piece)
		}
		return true
	})
}

// piece is the one that rows are generated of, which has another of op.
func (t *loadTask) piece(op, bytes int) *openPiece {
	p := &t.open[len(t.open)-1]
	p.waiting[op] = true
	p.Bytes += int64(bytes)
	return p
}

// nextNode adds the piece's next node; true means that the batch is full.
func (t *loadTask) nextNode() bool {
	n := t.nodes.Next()
	if n == nil {
		t.end()
		return false
	}
	t.piece(opNodes, len(n.Data)).Nodes++
	b := &t.nodesB
	b.add(n, len(n.Data))
	if b.rows == t.bulkRows || b.bytes >= maxBatchBytes || t.bulkKB > 0 && b.framedBytes/1024 >= t.bulkKB {
		return t.ready(opNodes)
	}
	return false
}

// nextLink adds the piece's next link or count; true means that its batch is
// full.
func (t *loadTask) nextLink() bool {
	switch t.links.Next() {
	case stream.RowLink:
		l := &t.links.Link
		t.piece(opLinks, len(l.Data)).Links++
		if t.linksB.add(l, len(l.Data)); t.linksB.rows == t.bulkRows {
			return t.ready(opLinks)
		}
	case stream.RowCount:
		t.piece(opCounts, 0).Counts++
		if t.counts.add(&t.links.Count, 0); t.counts.rows == t.bulkRows {
			return t.ready(opCounts)
		}
	default:
		t.end()
	}
	return false
}

// last makes a batch that isn't full ready; false when all are empty.
func (t *loadTask) last() bool {
	switch {
	case t.nodesB.rows > 0:
		return t.ready(opNodes)
	case t.linksB.rows > 0:
		return t.ready(opLinks)
	case t.counts.rows > 0:
		return t.ready(opCounts)
	}
	return false
}

// ready makes a batch the one that Do sends.
func (t *loadTask) ready(op int) bool {
	t.op = op
	t.pending = LoadSums{}
	switch op {
	case opNodes:
		t.pending.Nodes, t.pending.NodeBytes = t.nodesB.rows, t.nodesB.bytes
	case opLinks:
		t.pending.Links, t.pending.LinkBytes = t.linksB.rows, t.linksB.bytes
	case opCounts:
		t.pending.Counts = t.counts.rows
	}
	return true
}

// Do sends the batch that is ready. One that the server rolled back is sent
// again; one whose outcome is unknown never is.
func (t *loadTask) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	if t.unsaved != nil {
		return load.Done{}, t.unsaved
	}
	rec.Sending(t.pending.rows())
	_, err := t.retrier.do(ctx, rec, t.send)
	if err == nil {
		t.acked.add(t.pending)
		t.sent()
		return load.Done{Op: t.op, Units: t.pending.rows()}, nil
	}
	what := fmt.Sprintf("%s of %d rows, after %d nodes, %d links and %d counts of this loader",
		loadOps()[t.op], t.pending.rows(), t.acked.Nodes, t.acked.Links, t.acked.Counts)
	if drivers.ClassOf(err) == drivers.Unknown {
		t.unknown.add(t.pending)
		rec.Unknown(t.pending.rows())
		return load.Done{}, fmt.Errorf("%s: %w; whether these rows were kept is unknown, and they are not sent again", what, err)
	}
	rec.Refused(t.pending.rows())
	return load.Done{}, fmt.Errorf("%s: %w", what, err)
}

func (t *loadTask) send(ctx context.Context) error {
	switch t.op {
	case opNodes:
		return t.nodesB.Insert(ctx)
	case opLinks:
		return t.linksB.Insert(ctx)
	}
	return t.counts.Insert(ctx)
}

// sent empties the batch that was acknowledged. All rows of its kind that any
// piece has generated so far were in it or in one before.
func (t *loadTask) sent() {
	for i := range t.open {
		t.open[i].waiting[t.op] = false
	}
	t.save()
	switch t.op {
	case opNodes:
		t.nodesB.reset()
	case opLinks:
		t.linksB.reset()
	case opCounts:
		t.counts.reset()
	}
}

// Abort breaks off a statement that is waiting for its answer.
func (t *loadTask) Abort() {
	t.abort()
	t.loader.Abort()
}
