package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"math/bits"

	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// graphClient is a requester. As in the original it has two connections: one
// without autocommit for links' transactions, which so need no BEGIN, and one
// with it for everything else, where each statement sees what is committed.
type graphClient struct {
	writes   transaction
	reads    *graphLink
	prepared [statements]*sqltext.Statement
	multiget [32]*sqltext.Statement // of 1<<i links
	data     []byte                 // of the node read last
}

// Statements that are prepared when they are first used.
const (
	countStatement = iota
	listStatement
	addNodeStatement
	updateNodeStatement
	deleteNodeStatement
	getNodeStatement
	updateLinkStatement
	statements
)

var statementTexts = [statements]string{
	countStatement:      "SELECT count FROM counttable WHERE id = ? AND link_type = ?",
	listStatement:       sqltext.ListText("linktable FORCE INDEX (id1_type)"),
	addNodeStatement:    "INSERT INTO nodetable (type, version, time, data) VALUES (?, ?, ?, ?)",
	updateNodeStatement: "UPDATE nodetable SET version = ?, time = ?, data = ? WHERE id = ? AND type = ?",
	deleteNodeStatement: "DELETE FROM nodetable WHERE id = ? AND type = ?",
	getNodeStatement:    "SELECT " + sqltext.NodeColumns + " FROM nodetable WHERE id = ?",
	updateLinkStatement: updateLinks + "data = ?, version = ?, time = ? WHERE id1 = ? AND link_type = ? AND id2 = ? AND visibility = ? AND (time <> ? OR version <> ? OR data <> ?)",
}

// OpenClient opens a requester's connections.
func (g *Graph) OpenClient(ctx context.Context) (linkbench.Client, error) {
	reads, err := g.openGraph(ctx, graphMode{foundRows: true})
	if err != nil {
		return nil, err
	}
	writes, err := g.openGraph(ctx, graphMode{manyStatements: true})
	if err != nil {
		return nil, errors.Join(err, reads.Close())
	}
	return &graphClient{reads: reads, writes: transaction{graphLink: writes}}, nil
}

// Abort closes the sockets under a running statement.
func (c *graphClient) Abort() {
	c.reads.Abort()
	c.writes.Abort()
}

// Close ends both connections, and with them what was prepared.
func (c *graphClient) Close() error { return errors.Join(c.reads.Close(), c.writes.Close()) }

// AddLink inserts a link and counts it.
func (c *graphClient) AddLink(_ context.Context, l *graph.Link) (linkbench.Effect, error) {
	return c.writes.put("adding a link", l)
}

// UpdateLink changes a link, and its count where the visibility changes. Where
// it doesn't, as in nearly all requests, the original's transaction is a lock, an
// update and a commit, which one statement does by itself: to the client, a
// third of the CPU. Where that finds nothing to do, the link is most likely missing.
func (c *graphClient) UpdateLink(_ context.Context, l *graph.Link) (linkbench.Effect, error) {
	const doing = "updating a link"
	ok, err := found(c.change(doing, updateLinkStatement, func(s *sqltext.Statement) {
		s.SetData(0, l.Data)
		s.SetAt(1, int64(l.Version))
		for i, n := range [...]int64{l.TimeMS, l.ID1, l.Type, l.ID2, int64(l.Visibility), l.TimeMS, int64(l.Version)} {
			s.SetAt(2+i, n)
		}
		s.SetData(9, l.Data)
	}))
	if err != nil {
		return linkbench.Unchanged, err
	}
	if ok {
		return linkbench.Updated, nil
	}
	return c.writes.put(doing, l)
}

// DeleteLink hides a link.
func (c *graphClient) DeleteLink(_ context.Context, id1, linkType, id2 int64) (linkbench.Effect, error) {
	return c.writes.deleteLink(id1, linkType, id2)
}

// statement gives a prepared statement.
func (c *graphClient) statement(i int) (*sqltext.Statement, error) {
	if s := c.prepared[i]; s != nil {
		return s, nil
	}
	s, err := sqltext.Prepare(c.reads.session.conn, statementTexts[i])
	c.prepared[i] = s
	return s, err
}

// CountLinks reads a count row.
func (c *graphClient) CountLinks(_ context.Context, id1, linkType int64) (n int64, err error) {
	s, err := c.statement(countStatement)
	if err == nil {
		s.Set(id1, linkType)
		n, _, err = s.Number(context.Background())
	}
	if err != nil {
		return 0, c.reads.failed(err, "counting links", false)
	}
	return n, nil
}

// MultigetLinks asks for a power of two of links, the last one repeated, so
// that few statements do. The server reads a repeated one once.
func (c *graphClient) MultigetLinks(_ context.Context, id1, linkType int64, id2s []int64, visit func(*graph.Link)) error {
	if len(id2s) == 0 {
		return nil
	}
	var err error
	k := bits.Len(uint(len(id2s) - 1))
	if c.multiget[k] == nil {
		c.multiget[k], err = sqltext.Prepare(c.reads.session.conn, sqltext.MultigetText(sqltext.LinkTable, 1<<k))
	}
	if s := c.multiget[k]; err == nil {
		s.Set(id1, linkType)
		for i := range 1 << k {
			s.SetAt(2+i, id2s[min(i, len(id2s)-1)])
		}
		err = s.Links(context.Background(), visit)
	}
	if err != nil {
		return c.reads.failed(err, "getting links", false)
	}
	return nil
}

// ListLinks reads a page of the visible links.
func (c *graphClient) ListLinks(_ context.Context, q *linkbench.ListQuery, visit func(*graph.Link)) error {
	s, err := c.statement(listStatement)
	if err == nil {
		s.Set(q.ID1, q.Type, q.MinTimeMS, q.MaxTimeMS, int64(q.Limit), int64(q.Offset))
		err = s.Links(context.Background(), visit)
	}
	if err != nil {
		return c.reads.failed(err, "listing links", false)
	}
	return nil
}

// change runs a statement that is a transaction by itself.
func (c *graphClient) change(doing string, i int, set func(*sqltext.Statement)) (driver.Result, error) {
	s, err := c.statement(i)
	if err == nil {
		set(s)
		var result driver.Result
		if result, err = s.Exec(context.Background()); err == nil {
			return result, nil
		}
	}
	return nil, c.reads.failed(err, doing, true)
}

// found is whether a statement found a row; the connection counts those found.
func found(result driver.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// AddNode inserts a node under the next id.
func (c *graphClient) AddNode(_ context.Context, n *graph.Node) (int64, error) {
	result, err := c.change("adding a node", addNodeStatement, func(s *sqltext.Statement) {
		s.Set(int64(n.Type), n.Version, int64(n.TimeS))
		s.SetData(3, n.Data)
	})
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// UpdateNode changes a node.
func (c *graphClient) UpdateNode(_ context.Context, n *graph.Node) (bool, error) {
	return found(c.change("updating a node", updateNodeStatement, func(s *sqltext.Statement) {
		s.Set(n.Version, int64(n.TimeS))
		s.SetData(2, n.Data)
		s.SetAt(3, n.ID)
		s.SetAt(4, int64(n.Type))
	}))
}

// DeleteNode removes a node.
func (c *graphClient) DeleteNode(_ context.Context, id int64, nodeType int32) (bool, error) {
	return found(c.change("deleting a node", deleteNodeStatement, func(s *sqltext.Statement) { s.Set(id, int64(nodeType)) }))
}

// GetNode reads a node.
func (c *graphClient) GetNode(_ context.Context, id int64, nodeType int32, n *graph.Node) (ok bool, err error) {
	s, err := c.statement(getNodeStatement)
	if err == nil {
		s.Set(id)
		ok, err = s.Node(context.Background(), n, c.data)
	}
	if err != nil {
		return false, c.reads.failed(err, "getting a node", false)
	}
	if ok {
		c.data = n.Data
	}
	return ok && n.Type == nodeType, nil
}
