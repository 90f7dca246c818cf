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

// What a load that is resumed ends its statements with: a row whose key exists
// gets a column of its key set to what it is, so that nothing changes. INSERT
// IGNORE would hide other errors, and REPLACE would write the row anew.
const (
	fillNodes  = "ON DUPLICATE KEY UPDATE id = " + sqltext.NodeTable + ".id"
	fillLinks  = "ON DUPLICATE KEY UPDATE id1 = " + sqltext.LinkTable + ".id1"
	fillCounts = "ON DUPLICATE KEY UPDATE id = " + sqltext.CountTable + ".id"
)

// OpenFiller opens a connection of a load that is resumed, with checks of
// unique keys whatever the configuration says, since rows may be there.
func (g *Graph) OpenFiller(ctx context.Context) (linkbench.Loader, error) {
	l, err := g.openGraph(ctx, graphMode{})
	if err != nil {
		return nil, err
	}
	l.fills = true
	return newGraphLoader(l, sqltext.NewNodes(sqltext.Backslashed).Filling(fillNodes),
		sqltext.NewLinks(sqltext.Backslashed).Filling(fillLinks), sqltext.NewCounts().Filling(fillCounts)), nil
}

// OpenLoader opens a connection of the load. There is no bulk load of MyRocks
// here: it needs rows in the order of their keys, in which loaders side by side
// don't come.
func (g *Graph) OpenLoader(ctx context.Context) (linkbench.Loader, error) {
	l, err := g.openGraph(ctx, graphMode{})
	if err != nil {
		return nil, err
	}
	if g.uniqueChecksOff {
		if err := l.setUp([]string{"SET SESSION unique_checks = 0"}); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return newGraphLoader(l, sqltext.NewNodes(sqltext.Backslashed), sqltext.NewLinks(sqltext.Backslashed), sqltext.NewCounts()), nil
}

func newGraphLoader(l *graphLink, nodes *sqltext.Batch[graph.Node], links *sqltext.Batch[graph.Link], counts *sqltext.Batch[graph.Count]) *graphLoader {
	return &graphLoader{
		graphLink: l,
		nodes:     graphBatch[graph.Node]{nodes, l, "nodes"},
		links:     graphBatch[graph.Link]{links, l, "links"},
		counts:    graphBatch[graph.Count]{counts, l, "counts"},
	}
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
	if err == nil && (affected == int64(rows) || l.fills && affected >= 0 && affected < int64(rows)) {
		return nil
	}
	return &drivers.Error{Class: drivers.Unknown, Code: "affected rows",
		Err: fmt.Errorf("inserting %d %s%s: the server acknowledged %d rows: look for a trigger or a plugin that changes inserts", rows, what, l.tail, affected)}
}
