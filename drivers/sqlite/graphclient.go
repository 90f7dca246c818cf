package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// Statements of the operations. A link is chosen by id1, link_type and id2,
// which come last among the parameters.
const (
	onLink        = " WHERE id1 = ? AND link_type = ? AND id2 = ?"
	insertLink    = "INSERT INTO linktable (" + sqltext.LinkColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?)"
	selectLink    = "SELECT " + sqltext.LinkColumns + " FROM linktable" + onLink
	updateLink    = "UPDATE linktable SET visibility = ?, data = ?, time = ?, version = ?" + onLink
	hideLink      = "UPDATE linktable SET visibility = 0" + onLink
	countUp       = "INSERT INTO counttable (id, link_type, count, time, version) VALUES (?, ?, 1, ?, 0) ON CONFLICT (id, link_type) DO UPDATE SET count = count + 1, version = version + 1, time = excluded.time"
	countDown     = "UPDATE counttable SET count = count - 1, version = version + 1, time = ? WHERE id = ? AND link_type = ?"
	selectCount   = "SELECT count FROM counttable WHERE id = ? AND link_type = ?"
	insertNode    = "INSERT INTO nodetable (type, version, time, data) VALUES (?, ?, ?, ?)"
	updateNode    = "UPDATE nodetable SET version = ?, time = ?, data = ? WHERE id = ? AND type = ?"
	deleteNode    = "DELETE FROM nodetable WHERE id = ? AND type = ?"
	selectNode    = "SELECT " + sqltext.NodeColumns + " FROM nodetable WHERE id = ?"
	fromLinks     = "linktable NOT INDEXED"
	fromLinkIndex = "linktable INDEXED BY id1_type"
)

// graphClient is a requester's connection. It prepares each statement when it
// is first used.
type graphClient struct {
	*link
	turn     chan struct{}
	prepared map[string]*sqltext.Statement
	multiget [32]*sqltext.Statement // of 1<<i links
	data     []byte                 // of the node read last
}

// OpenClient opens a requester's connection.
func (g Graph) OpenClient(ctx context.Context) (linkbench.Client, error) {
	l, err := g.graphLink(ctx)
	if err != nil {
		return nil, err
	}
	return &graphClient{link: l, turn: g.turn, prepared: map[string]*sqltext.Statement{}}, nil
}

// Close ends the connection. It is safe to call twice.
func (c *graphClient) Close() error {
	var errs []error
	for _, s := range c.prepared {
		errs = append(errs, s.Close())
	}
	for _, s := range c.multiget {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	c.prepared, c.multiget = nil, [32]*sqltext.Statement{}
	return errors.Join(append(errs, c.link.Close())...)
}

func (c *graphClient) statement(text string) (*sqltext.Statement, error) {
	if s := c.prepared[text]; s != nil {
		return s, nil
	}
	s, err := sqltext.Prepare(c.conn, text)
	if err == nil {
		c.prepared[text] = s
	}
	return s, err
}

// run executes a statement and gives the number of rows it changed or found to
// be as they should be.
func (c *graphClient) run(ctx context.Context, text string, set func(s *sqltext.Statement)) (int64, driver.Result, error) {
	s, err := c.statement(text)
	if err != nil {
		return 0, nil, err
	}
	set(s)
	result, err := s.Exec(ctx)
	if err != nil {
		return 0, nil, err
	}
	n, err := result.RowsAffected()
	return n, result, err
}

// transaction runs a body in a transaction that holds SQLite's write lock from
// its begin. Where the body fails or changed nothing it is rolled back.
func (c *graphClient) transaction(doing string, body func(ctx context.Context) (changed bool, err error)) error {
	if err := c.enter(c.turn, doing); err != nil {
		return err
	}
	defer func() { <-c.turn }()
	ctx := c.context()
	none := func(*sqltext.Statement) {}
	if _, _, err := c.run(ctx, "BEGIN IMMEDIATE", none); err != nil {
		return c.changeFailed(err, doing)
	}
	changed, err := body(ctx)
	if err == nil && changed {
		if _, _, err = c.run(ctx, "COMMIT", none); err == nil {
			return nil
		}
	}
	// Not to be broken off. An error here says that SQLite rolled back itself.
	_, _, _ = c.run(context.Background(), "ROLLBACK", none)
	if err != nil {
		return c.changeFailed(err, doing)
	}
	return nil
}

// AddLink looks first, as an SQLite that has the lock may: a failed INSERT
// would end in the same transaction.
func (c *graphClient) AddLink(_ context.Context, l *graph.Link) (linkbench.Effect, error) {
	return c.put("adding a link", l)
}

// UpdateLink differs from AddLink in name only.
func (c *graphClient) UpdateLink(_ context.Context, l *graph.Link) (linkbench.Effect, error) {
	return c.put("updating a link", l)
}

func (c *graphClient) put(doing string, l *graph.Link) (effect linkbench.Effect, err error) {
	err = c.transaction(doing, func(ctx context.Context) (bool, error) {
		found, same, visibility, err := c.compare(ctx, l)
		switch {
		case err != nil:
			return false, err
		case !found:
			effect = linkbench.Inserted
			_, _, err = c.run(ctx, insertLink, func(s *sqltext.Statement) {
				s.Set(l.ID1, l.ID2, l.Type, int64(l.Visibility))
				s.SetData(4, l.Data)
				s.SetAt(5, l.TimeMS)
				s.SetAt(6, int64(l.Version))
			})
		case same:
			return false, nil
		default:
			effect = linkbench.Updated
			_, _, err = c.run(ctx, updateLink, func(s *sqltext.Statement) {
				s.SetAt(0, int64(l.Visibility))
				s.SetData(1, l.Data)
				for i, n := range [...]int64{l.TimeMS, int64(l.Version), l.ID1, l.Type, l.ID2} {
					s.SetAt(2+i, n)
				}
			})
		}
		if err == nil {
			err = c.count(ctx, l.ID1, l.Type, int(l.Visibility)-int(visibility))
		}
		return true, err
	})
	return effect, err
}

// compare reads the link's row. One that isn't there counts as hidden.
func (c *graphClient) compare(ctx context.Context, l *graph.Link) (found, same bool, visibility int8, err error) {
	s, err := c.statement(selectLink)
	if err != nil {
		return false, false, 0, err
	}
	s.Set(l.ID1, l.Type, l.ID2)
	err = s.Links(ctx, func(old *graph.Link) {
		found, visibility = true, old.Visibility
		same = old.Visibility == l.Visibility && old.TimeMS == l.TimeMS && old.Version == l.Version && bytes.Equal(old.Data, l.Data)
	})
	return found, same, visibility, err
}

// errNoCount is a count row that isn't there, though its links are.
var errNoCount = errors.New("a visible link has no count row: the graph was damaged before, see verify")

// count moves the count row by 1, 0 or -1.
func (c *graphClient) count(ctx context.Context, id, linkType int64, by int) error {
	now := time.Now().UnixMilli()
	switch by {
	case 1:
		_, _, err := c.run(ctx, countUp, func(s *sqltext.Statement) { s.Set(id, linkType, now) })
		return err
	case -1:
		n, _, err := c.run(ctx, countDown, func(s *sqltext.Statement) { s.Set(now, id, linkType) })
		if err == nil && n != 1 {
			err = &drivers.Error{Class: drivers.Fatal, Code: "no count row", Err: fmt.Errorf("id %d, type %d: %w", id, linkType, errNoCount)}
		}
		return err
	}
	return nil
}

// DeleteLink hides a link.
func (c *graphClient) DeleteLink(_ context.Context, id1, linkType, id2 int64) (effect linkbench.Effect, err error) {
	err = c.transaction("deleting a link", func(ctx context.Context) (bool, error) {
		_, _, visibility, err := c.compare(ctx, &graph.Link{ID1: id1, Type: linkType, ID2: id2})
		if err != nil || visibility == graph.Hidden {
			return false, err
		}
		effect = linkbench.Hidden
		if _, _, err := c.run(ctx, hideLink, func(s *sqltext.Statement) { s.Set(id1, linkType, id2) }); err != nil {
			return true, err
		}
		return true, c.count(ctx, id1, linkType, -1)
	})
	return effect, err
}

// CountLinks reads a count row.
func (c *graphClient) CountLinks(_ context.Context, id1, linkType int64) (int64, error) {
	s, err := c.statement(selectCount)
	if err != nil {
		return 0, c.failed(err, "counting links of")
	}
	s.Set(id1, linkType)
	n, _, err := s.Number(c.context())
	if err != nil {
		return 0, c.failed(err, "counting links of")
	}
	return n, nil
}

// MultigetLinks asks for a power of two of links, the last one repeated, so
// that few statements do.
func (c *graphClient) MultigetLinks(_ context.Context, id1, linkType int64, id2s []int64, visit func(*graph.Link)) error {
	if len(id2s) == 0 {
		return nil
	}
	k := bits.Len(uint(len(id2s) - 1))
	if c.multiget[k] == nil {
		s, err := sqltext.Prepare(c.conn, sqltext.MultigetText(fromLinks, 1<<k))
		if err != nil {
			return c.failed(err, "getting links of")
		}
		c.multiget[k] = s
	}
	s := c.multiget[k]
	s.Set(id1, linkType)
	for i := range 1 << k {
		s.SetAt(2+i, id2s[min(i, len(id2s)-1)])
	}
	if err := s.Links(c.context(), visit); err != nil {
		return c.failed(err, "getting links of")
	}
	return nil
}

// ListLinks reads a page of the visible links.
func (c *graphClient) ListLinks(_ context.Context, q *linkbench.ListQuery, visit func(*graph.Link)) error {
	s, err := c.statement(listLinks)
	if err != nil {
		return c.failed(err, "listing links of")
	}
	s.Set(q.ID1, q.Type, q.MinTimeMS, q.MaxTimeMS, int64(q.Limit), int64(q.Offset))
	if err := s.Links(c.context(), visit); err != nil {
		return c.failed(err, "listing links of")
	}
	return nil
}

var listLinks = sqltext.ListText(fromLinkIndex)

// change runs a statement that is a transaction by itself.
func (c *graphClient) change(doing, text string, set func(s *sqltext.Statement)) (int64, driver.Result, error) {
	if err := c.enter(c.turn, doing); err != nil {
		return 0, nil, err
	}
	n, result, err := c.run(c.context(), text, set)
	<-c.turn
	if err != nil {
		return 0, nil, c.changeFailed(err, doing)
	}
	return n, result, nil
}

// AddNode inserts a node under the next id.
func (c *graphClient) AddNode(_ context.Context, n *graph.Node) (int64, error) {
	_, result, err := c.change("adding a node", insertNode, func(s *sqltext.Statement) {
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
	rows, _, err := c.change("updating a node", updateNode, func(s *sqltext.Statement) {
		s.Set(n.Version, int64(n.TimeS))
		s.SetData(2, n.Data)
		s.SetAt(3, n.ID)
		s.SetAt(4, int64(n.Type))
	})
	return rows > 0, err
}

// DeleteNode removes a node.
func (c *graphClient) DeleteNode(_ context.Context, id int64, nodeType int32) (bool, error) {
	rows, _, err := c.change("deleting a node", deleteNode, func(s *sqltext.Statement) { s.Set(id, int64(nodeType)) })
	return rows > 0, err
}

// GetNode reads a node.
func (c *graphClient) GetNode(_ context.Context, id int64, nodeType int32, n *graph.Node) (bool, error) {
	s, err := c.statement(selectNode)
	if err != nil {
		return false, c.failed(err, "getting a node of")
	}
	s.Set(id)
	found, err := s.Node(c.context(), n, c.data)
	if err != nil {
		return false, c.failed(err, "getting a node of")
	}
	if found {
		c.data = n.Data
	}
	return found && n.Type == nodeType, nil
}
