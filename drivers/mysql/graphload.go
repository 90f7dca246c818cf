package mysql

import (
	"context"
	"errors"
	"fmt"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

type graphLoader struct {
	*graphLink
	nodes  graphBatch[graph.Node]
	links  graphBatch[graph.Link]
	counts graphBatch[graph.Count]
}

// OpenLoader opens a connection of the load. MyRocks's bulk load needs rows in
// the order of their keys, in which loaders side by side don't come.
func (g *Graph) OpenLoader(ctx context.Context) (linkbench.Loader, error) {
	if g.bulkLoad {
		return nil, drivers.Configf("--bulk-load needs rows in the order of their keys, and LinkBench's loaders don't send them so: leave it out")
	}
	l, err := g.openGraph(ctx, graphMode{})
	if err != nil {
		return nil, err
	}
	if g.uniqueChecksOff {
		if err := l.setUp([]string{"SET SESSION unique_checks = 0"}); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	out := &graphLoader{graphLink: l}
	out.nodes = graphBatch[graph.Node]{sqltext.NewNodes(sqltext.Backslashed), l, "nodes"}
	out.links = graphBatch[graph.Link]{sqltext.NewLinks(sqltext.Backslashed), l, "links"}
	out.counts = graphBatch[graph.Count]{sqltext.NewCounts(), l, "counts"}
	return out, nil
}

func (l *graphLoader) Nodes() linkbench.Batch[graph.Node]   { return &l.nodes }
func (l *graphLoader) Links() linkbench.Batch[graph.Link]   { return &l.links }
func (l *graphLoader) Counts() linkbench.Batch[graph.Count] { return &l.counts }

// graphBatch is a bulk insert into one table.
type graphBatch[Row any] struct {
	*sqltext.Batch[Row]
	link *graphLink
	what string
}

// Insert sends the statement as one COM_QUERY.
func (b *graphBatch[Row]) Insert(context.Context) error {
	return b.link.insert(b.Text(), b.what, b.Rows())
}

func (l *graphLink) insert(text, what string, rows int) error {
	result, err := l.session.exec.ExecContext(context.Background(), text, nil)
	if err != nil {
		return l.failed(err, fmt.Sprintf("inserting %d %s", rows, what), true)
	}
	affected, err := result.RowsAffected()
	if err == nil && affected == int64(rows) {
		return nil
	}
	return &drivers.Error{Class: drivers.Unknown, Code: "affected rows",
		Err: fmt.Errorf("inserting %d %s%s: the server acknowledged %d rows: look for a trigger or a plugin that changes inserts", rows, what, l.tail, affected)}
}
