package mongo

import (
	"context"
	"errors"

	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// graphLoader is a connection of the load. A batch is one insert command, in a
// transaction of its own where there are any, as in the original.
type graphLoader struct {
	*inserter
	nodes  graphBatch[graph.Node]
	links  graphBatch[graph.Link]
	counts graphBatch[graph.Count]
}

// OpenLoader opens a connection of the load.
func (g *Graph) OpenLoader(ctx context.Context) (linkbench.Loader, error) {
	in, err := g.openConnection(ctx, g.cfg.StatementTimeout, g.transactions)
	if err != nil {
		return nil, err
	}
	return g.newLoader(in, commandHead{unordered: true, concern: g.concern, inTransaction: g.transactions, readConcern: g.transactionLevel()})
}

// OpenFiller opens a connection of a load that is resumed. Its inserts pass
// over documents whose keys exist, and over nothing else; not in transactions,
// which one such document would end. An upsert with $setOnInsert works there
// too, but since MongoDB 5.0 it puts the fields in another order than an insert.
func (g *Graph) OpenFiller(ctx context.Context) (linkbench.Loader, error) {
	in, err := g.openConnection(ctx, g.cfg.StatementTimeout, false)
	if err != nil {
		return nil, err
	}
	in.fills = true
	return g.newLoader(in, commandHead{unordered: true, concern: g.concern})
}

func (g *Graph) newLoader(in *inserter, head commandHead) (linkbench.Loader, error) {
	l := &graphLoader{inserter: in}
	var errs [3]error
	l.nodes, errs[0] = newGraphBatch(g, in, head, nodeTable, appendNode)
	l.links, errs[1] = newGraphBatch(g, in, head, linkTable, appendLink)
	l.counts, errs[2] = newGraphBatch(g, in, head, countTable, appendCount)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return l, nil
}

func (l *graphLoader) Nodes() linkbench.Batch[graph.Node]   { return &l.nodes }
func (l *graphLoader) Links() linkbench.Batch[graph.Link]   { return &l.links }
func (l *graphLoader) Counts() linkbench.Batch[graph.Count] { return &l.counts }

// graphBatch is a bulk insert into one collection.
type graphBatch[Row any] struct {
	in         *inserter
	command    *command
	collection string
	document   func(dst []byte, row *Row) []byte
}

func newGraphBatch[Row any](g *Graph, in *inserter, head commandHead, table string, document func([]byte, *Row) []byte) (graphBatch[Row], error) {
	head.table = table
	c, err := newCommand(head, template{})
	return graphBatch[Row]{in, c, g.cfg.Database + "." + table, document}, err
}

// Append adds a row as the next document.
func (b *graphBatch[Row]) Append(row *Row) {
	b.command.next()
	b.command.buf = b.document(b.command.buf, row)
}

// Insert sends the command.
func (b *graphBatch[Row]) Insert(ctx context.Context) error {
	b.in.command, b.in.collection = b.command, b.collection
	return b.in.Insert(ctx)
}

// Reset empties the command.
func (b *graphBatch[Row]) Reset() { b.command.reset() }
