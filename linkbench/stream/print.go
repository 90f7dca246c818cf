package stream

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"

	"insertbench/linkbench/graph"
)

// Headers of the printed streams, tab-separated columns.
const (
	NodesHeader    = "seq\tid\ttype\tversion\tdatalen\tdata_sha256_16"
	LinksHeader    = "seq\tkind\tid1\tlink_type\tid2_or_count\tvisibility\tversion\tdatalen\tdata_sha256_16"
	RequestsHeader = "thread\tseq\top\tid1_or_id\tlink_type\tid2s\tdatalen\tdata_sha256_16"
)

// printer builds tab-separated rows.
type printer struct {
	ctx  context.Context
	out  *bufio.Writer
	row  []byte
	rows int64
}

func newPrinter(ctx context.Context, w io.Writer, header string) *printer {
	p := &printer{ctx: ctx, out: bufio.NewWriterSize(w, 1<<16)}
	p.row = append(append(p.row, header...), '\n')
	p.out.Write(p.row) // an error stays with the writer until Flush
	p.row = p.row[:0]
	return p
}

func (p *printer) int(n int64)   { p.row = append(strconv.AppendInt(p.row, n, 10), '\t') }
func (p *printer) text(s string) { p.row = append(append(p.row, s...), '\t') }

// payload adds the length of data and the first 16 digits of its SHA-256.
func (p *printer) payload(data []byte) {
	p.int(int64(len(data)))
	sum := sha256.Sum256(data)
	p.row = append(hex.AppendEncode(p.row, sum[:8]), '\t')
}

// end writes the row, whose last tab becomes the line's end.
func (p *printer) end() error {
	p.row[len(p.row)-1] = '\n'
	_, err := p.out.Write(p.row)
	p.row = p.row[:0]
	if p.rows++; p.rows%1024 == 0 && err == nil {
		err = p.ctx.Err()
	}
	return err
}

// PrintNodes writes the first limit nodes of a load, all when limit is 0, in load order.
func (w *Workload) PrintNodes(ctx context.Context, out io.Writer, limit int64) error {
	p, gen, cut := newPrinter(ctx, out, NodesHeader), w.Nodes(), w.NodePieces()
	for piece, ok := cut.Next(); ok; piece, ok = cut.Next() {
		gen.Start(piece)
		for n := gen.Next(); n != nil; n = gen.Next() {
			if limit > 0 && p.rows == limit {
				return p.out.Flush()
			}
			p.int(p.rows)
			p.int(n.ID)
			p.int(int64(n.Type))
			p.int(n.Version)
			p.payload(n.Data)
			if err := p.end(); err != nil {
				return err
			}
		}
	}
	return p.out.Flush()
}

// PrintLinks writes the first limit rows, links and counts, of a load by one loader, all when limit is 0. They
// come as the loader sends them: links and counts are gathered apart and sent when there are bulk_insert_count
// of them.
func (w *Workload) PrintLinks(ctx context.Context, out io.Writer, limit int64) error {
	b := &batches{p: newPrinter(ctx, out, LinksHeader), limit: limit, size: w.cfg.Run.BulkRows}
	gen, cut := w.Links(), w.Pieces()
	for piece, ok := cut.Next(); ok; piece, ok = cut.Next() {
		gen.Start(piece)
		for row := gen.Next(); row != RowEnd; row = gen.Next() {
			var err error
			if row == RowLink {
				err = b.link(&gen.Link)
			} else {
				err = b.count(&gen.Count)
			}
			if err != nil {
				return err
			}
			if b.done() {
				return b.p.out.Flush()
			}
		}
	}
	if err := b.flush(&b.links); err != nil {
		return err
	}
	if err := b.flush(&b.counts); err != nil {
		return err
	}
	return b.p.out.Flush()
}

// batches holds rows back, without their number, until their batch is full.
type batches struct {
	p             *printer
	limit         int64
	size          int
	links, counts batch
}

type batch struct {
	text bytes.Buffer
	rows int
}

func (b *batches) done() bool { return b.limit > 0 && b.p.rows >= b.limit }

func (b *batches) link(l *graph.Link) error {
	p := b.p
	p.text("link")
	p.int(l.ID1)
	p.int(l.Type)
	p.int(l.ID2)
	p.int(int64(l.Visibility))
	p.int(int64(l.Version))
	p.payload(l.Data)
	return b.add(&b.links)
}

func (b *batches) count(c *graph.Count) error {
	p := b.p
	p.text("count")
	p.int(c.ID)
	p.int(c.Type)
	p.int(c.Count)
	p.text("")
	p.int(c.Version)
	p.text("")
	p.text("")
	return b.add(&b.counts)
}

// add moves the printer's row to its batch.
func (b *batches) add(to *batch) error {
	b.p.row[len(b.p.row)-1] = '\n'
	to.text.Write(b.p.row)
	b.p.row = b.p.row[:0]
	if to.rows++; to.rows < b.size {
		return nil
	}
	return b.flush(to)
}

func (b *batches) flush(from *batch) error {
	for ; from.rows > 0 && !b.done(); from.rows-- {
		line, _ := from.text.ReadBytes('\n') // every row ends in one
		b.p.int(b.p.rows)
		b.p.row = append(b.p.row, line...)
		if err := b.p.end(); err != nil {
			return err
		}
	}
	return nil
}

// PrintRequests writes the first so many requests of each requester, requester by requester, for lists that are
// never long enough to have older pages. As in the original's recordings, updates of links that are sent as adds
// are shown as such.
func (w *Workload) PrintRequests(ctx context.Context, out io.Writer, each int64) error {
	p := newPrinter(ctx, out, RequestsHeader)
	all := w.cfg.Run.Requesters
	for thread, gen := range w.Requests(0, all, all) {
		for seq := range each {
			p.int(int64(thread))
			p.int(seq)
			p.request(gen.Next(w.cfg.EpochMS))
			if err := p.end(); err != nil {
				return err
			}
		}
	}
	return p.out.Flush()
}

func (p *printer) request(q *Request) {
	op := q.Op
	if q.InsertFirst && op == graph.UpdateLink {
		op = graph.AddLink
	}
	p.text(op.String())
	switch op {
	case graph.AddNode:
		p.text("\t\t")
		p.payload(q.Node.Data)
	case graph.UpdateNode:
		p.int(q.Node.ID)
		p.text("\t")
		p.payload(q.Node.Data)
	case graph.GetNode, graph.DeleteNode:
		p.int(q.Node.ID)
		p.text("\t\t\t")
	default:
		p.int(q.Link.ID1)
		p.int(q.Link.Type)
		p.linkRest(op, q)
	}
}

// linkRest adds the columns of a link operation from id2s on.
func (p *printer) linkRest(op graph.Op, q *Request) {
	switch op {
	case graph.AddLink, graph.UpdateLink:
		p.int(q.Link.ID2)
		p.payload(q.Link.Data)
	case graph.DeleteLink:
		p.int(q.Link.ID2)
		p.text("\t")
	case graph.MultigetLinks:
		for i, id2 := range q.ID2s {
			if i > 0 {
				p.row = append(p.row, ',')
			}
			p.row = strconv.AppendInt(p.row, id2, 10)
		}
		p.text("\t\t")
	default:
		p.text("\t\t")
	}
}
