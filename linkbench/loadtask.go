package linkbench

import (
	"context"
	"fmt"
	"sync"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
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
}

// pieceKind tells what a piece is of.
type pieceKind int

const (
	noPiece pieceKind = iota
	nodePiece
	linkPiece
)

func newWork(w *stream.Workload) *work {
	q := &work{cutter: w.Pieces()}
	if w.Config().GenerateNodes {
		q.nodes = w.NodePieces()
	}
	return q
}

func (q *work) take() (stream.Piece, pieceKind) {
	q.mu.Lock()
	defer q.mu.Unlock()
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

	op      int // what Do sends
	pending LoadSums
	// acked is what the server acknowledged, unknown what it never answered for.
	acked, unknown LoadSums
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
	for {
		switch t.kind {
		case noPiece:
			var p stream.Piece
			switch p, t.kind = t.work.take(); t.kind {
			case nodePiece:
				t.nodes.Start(p)
			case linkPiece:
				t.links.Start(p)
			default:
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
}

// nextNode adds the piece's next node; true means that the batch is full.
func (t *loadTask) nextNode() bool {
	n := t.nodes.Next()
	if n == nil {
		t.kind = noPiece
		return false
	}
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
		if t.linksB.add(l, len(l.Data)); t.linksB.rows == t.bulkRows {
			return t.ready(opLinks)
		}
	case stream.RowCount:
		if t.counts.add(&t.links.Count, 0); t.counts.rows == t.bulkRows {
			return t.ready(opCounts)
		}
	default:
		t.kind = noPiece
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

// sent empties the batch that was acknowledged.
func (t *loadTask) sent() {
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
