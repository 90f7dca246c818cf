package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// graphLink opens a connection to LinkBench's tables.
func (g Graph) graphLink(ctx context.Context) (*link, error) {
	conn, err := g.connector.Connect(ctx)
	if err != nil {
		return nil, openError(err, g.path)
	}
	return &link{conn: conn, table: "of LinkBench in SQLite file " + g.path, aborted: make(chan struct{})}, nil
}

// isAborted tells whether Abort was called.
func (l *link) isAborted() bool {
	select {
	case <-l.aborted:
		return true
	default:
		return false
	}
}

// enter waits for the connection's turn to write.
func (l *link) enter(turn chan struct{}, doing string) error {
	if l.isAborted() {
		return l.abortedError(doing)
	}
	select {
	case turn <- struct{}{}:
		return nil
	case <-l.aborted:
		return l.abortedError(doing)
	}
}

func (l *link) abortedError(doing string) *drivers.Error {
	return &drivers.Error{Class: drivers.Unknown, Code: "aborted",
		Err: fmt.Errorf("%s in table %s: aborted before it ended, whether it was kept isn't known", doing, l.table)}
}

// changeFailed classes the failure of a statement that changes something.
func (l *link) changeFailed(err error, doing string) *drivers.Error {
	var classed *drivers.Error
	switch {
	case l.isAborted():
		return l.abortedError(doing)
	case errors.As(err, &classed):
		return classed
	}
	return statementError(err, doing+" in table "+l.table)
}

type graphLoader struct {
	*link
	exec   driver.ExecerContext
	turn   chan struct{}
	nodes  graphBatch[graph.Node]
	links  graphBatch[graph.Link]
	counts graphBatch[graph.Count]
	fills  bool // rows that exist are left alone
}

// OpenLoader opens a connection of the load.
func (g Graph) OpenLoader(ctx context.Context) (linkbench.Loader, error) {
	return g.openLoader(ctx, false)
}

// OpenFiller opens a connection of a load that is resumed. OR IGNORE would
// pass over what breaks any constraint, this only over rows whose keys exist.
func (g Graph) OpenFiller(ctx context.Context) (linkbench.Loader, error) {
	return g.openLoader(ctx, true)
}

func (g Graph) openLoader(ctx context.Context, fills bool) (linkbench.Loader, error) {
	l, err := g.graphLink(ctx)
	if err != nil {
		return nil, err
	}
	exec, ok := l.conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver can't take a statement as text"), l.Close())
	}
	out := &graphLoader{link: l, exec: exec, turn: g.turn, fills: fills}
	nodes, links, counts := sqltext.NewNodes(sqltext.Hex), sqltext.NewLinks(sqltext.Hex), sqltext.NewCounts()
	if fills {
		nodes.Filling("ON CONFLICT (id) DO NOTHING")
		links.Filling("ON CONFLICT (link_type, id1, id2) DO NOTHING")
		counts.Filling("ON CONFLICT (id, link_type) DO NOTHING")
	}
	out.nodes = graphBatch[graph.Node]{nodes, out, "nodes"}
	out.links = graphBatch[graph.Link]{links, out, "links"}
	out.counts = graphBatch[graph.Count]{counts, out, "counts"}
	return out, nil
}

func (l *graphLoader) Nodes() linkbench.Batch[graph.Node]   { return &l.nodes }
func (l *graphLoader) Links() linkbench.Batch[graph.Link]   { return &l.links }
func (l *graphLoader) Counts() linkbench.Batch[graph.Count] { return &l.counts }

// graphBatch is a bulk insert into one table.
type graphBatch[Row any] struct {
	*sqltext.Batch[Row]
	loader *graphLoader
	what   string
}

// Insert waits for its turn and runs the statement.
func (b *graphBatch[Row]) Insert(context.Context) error {
	return b.loader.insert(b.Text(), b.what, b.Rows())
}

func (l *graphLoader) insert(text, what string, rows int) error {
	if err := l.enter(l.turn, "inserting "+what); err != nil {
		return err
	}
	result, err := l.exec.ExecContext(l.context(), text, nil)
	<-l.turn
	doing := fmt.Sprintf("inserting %d %s", rows, what)
	if err != nil {
		return l.changeFailed(err, doing)
	}
	affected, err := result.RowsAffected()
	if err == nil && (affected == int64(rows) || l.fills && affected >= 0 && affected < int64(rows)) {
		return nil
	}
	return &drivers.Error{Class: drivers.Unknown, Code: "affected rows",
		Err: fmt.Errorf("%s in table %s: SQLite acknowledged %d rows: look for a trigger on the table", doing, l.table, affected)}
}
