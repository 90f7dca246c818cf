package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"insertbench/drivers"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// conn is what loaders and clients have in common.
type conn struct {
	s       *Store
	aborted atomic.Bool
}

// Abort makes every later call fail.
func (c *conn) Abort() { c.aborted.Store(true) }

// Close does nothing.
func (c *conn) Close() error { return nil }

func (c *conn) run(statement string, f func() error) error {
	if c.aborted.Load() {
		return &drivers.Error{Class: drivers.Unknown, Code: "connection lost", Err: fmt.Errorf("%s: the connection was aborted", statement)}
	}
	return c.s.locked(statement, f)
}

const codeDuplicate = "duplicate key"

func duplicate(format string, args ...any) error {
	return &drivers.Error{Class: drivers.Fatal, Code: codeDuplicate, Err: fmt.Errorf(format, args...)}
}

type loader struct {
	conn
	nodes  batch[graph.Node]
	links  batch[graph.Link]
	counts batch[graph.Count]
}

// OpenLoader opens a connection of the load.
func (s *Store) OpenLoader(context.Context) (linkbench.Loader, error) {
	l := &loader{conn: conn{s: s}}
	l.nodes = batch[graph.Node]{conn: &l.conn, name: "bulk nodes", copy: func(n graph.Node) graph.Node {
		n.Data = bytes.Clone(n.Data)
		return n
	}, insert: s.insertNode}
	l.links = batch[graph.Link]{conn: &l.conn, name: "bulk links", copy: func(l graph.Link) graph.Link {
		l.Data = bytes.Clone(l.Data)
		return l
	}, insert: s.insertLink}
	l.counts = batch[graph.Count]{conn: &l.conn, name: "bulk counts", copy: func(c graph.Count) graph.Count { return c },
		insert: func(c graph.Count) error {
			key := pair{c.ID, c.Type}
			if _, ok := s.counts[key]; ok {
				return duplicate("count of id %d, type %d exists", c.ID, c.Type)
			}
			s.counts[key] = c
			return nil
		}}
	return l, nil
}

// OpenFiller is OpenLoader, but rows that exist stay as they are.
func (s *Store) OpenFiller(ctx context.Context) (linkbench.Loader, error) {
	opened, err := s.OpenLoader(ctx)
	if err != nil {
		return nil, err
	}
	l := opened.(*loader)
	l.nodes.fill, l.links.fill, l.counts.fill = true, true, true
	return l, nil
}

func (l *loader) Nodes() linkbench.Batch[graph.Node]   { return &l.nodes }
func (l *loader) Links() linkbench.Batch[graph.Link]   { return &l.links }
func (l *loader) Counts() linkbench.Batch[graph.Count] { return &l.counts }

type batch[Row any] struct {
	conn   *conn
	name   string
	copy   func(Row) Row
	insert func(Row) error
	rows   []Row
	fill   bool // rows that exist are left alone
}

func (b *batch[Row]) Append(row *Row) { b.rows = append(b.rows, b.copy(*row)) }
func (b *batch[Row]) Reset()          { b.rows = b.rows[:0] }

func (b *batch[Row]) Insert(context.Context) error {
	return b.conn.run(b.name, func() error {
		for _, row := range b.rows {
			err := b.insert(row)
			if err != nil && !(b.fill && drivers.CodeOf(err) == codeDuplicate) {
				return err
			}
		}
		return nil
	})
}

func (s *Store) insertNode(n graph.Node) error {
	if _, ok := s.nodes[n.ID]; ok {
		return duplicate("node %d exists", n.ID)
	}
	s.nodes[n.ID] = node{n.Type, n.TimeS, n.Version, n.Data}
	return nil
}

func (s *Store) insertLink(l graph.Link) error {
	key := pair{l.ID1, l.Type}
	if s.links[key] == nil {
		s.links[key] = map[int64]*graph.Link{}
	}
	if s.links[key][l.ID2] != nil {
		return duplicate("link from %d to %d, type %d exists", l.ID1, l.ID2, l.Type)
	}
	s.links[key][l.ID2] = &l
	return nil
}

type client struct{ conn }

// OpenClient opens a connection of a requester.
func (s *Store) OpenClient(context.Context) (linkbench.Client, error) {
	return &client{conn{s: s}}, nil
}

// count moves the count row of an id and type, as a transaction that changes
// links does.
func (s *Store) count(id, typ, by int64) {
	key := pair{id, typ}
	c, ok := s.counts[key]
	if ok {
		c.Version++
	}
	c.ID, c.Type, c.TimeMS = id, typ, time.Now().UnixMilli()
	c.Count += by
	s.counts[key] = c
}

// put adds or updates: the two differ in what is tried first only.
func (c *client) put(statement string, l *graph.Link) (effect linkbench.Effect, err error) {
	err = c.run(statement, func() error {
		old := c.s.links[pair{l.ID1, l.Type}][l.ID2]
		if old == nil {
			fresh := *l
			fresh.Data = bytes.Clone(l.Data)
			effect = linkbench.Inserted
			if l.Visibility == graph.Visible {
				c.s.count(l.ID1, l.Type, 1)
			}
			return c.s.insertLink(fresh)
		}
		if old.Visibility == l.Visibility && old.Version == l.Version && old.TimeMS == l.TimeMS && bytes.Equal(old.Data, l.Data) {
			effect = linkbench.Unchanged
			return nil
		}
		effect = linkbench.Updated
		if by := int64(l.Visibility) - int64(old.Visibility); by != 0 {
			c.s.count(l.ID1, l.Type, by)
		}
		old.Visibility, old.Version, old.TimeMS, old.Data = l.Visibility, l.Version, l.TimeMS, bytes.Clone(l.Data)
		return nil
	})
	return effect, err
}

func (c *client) AddLink(_ context.Context, l *graph.Link) (linkbench.Effect, error) {
	return c.put("add link", l)
}

func (c *client) UpdateLink(_ context.Context, l *graph.Link) (linkbench.Effect, error) {
	return c.put("update link", l)
}

func (c *client) DeleteLink(_ context.Context, id1, typ, id2 int64) (effect linkbench.Effect, err error) {
	err = c.run("delete link", func() error {
		if l := c.s.links[pair{id1, typ}][id2]; l != nil && l.Visibility == graph.Visible {
			l.Visibility = graph.Hidden
			c.s.count(id1, typ, -1)
			effect = linkbench.Hidden
		}
		return nil
	})
	return effect, err
}

func (c *client) CountLinks(_ context.Context, id1, typ int64) (n int64, err error) {
	err = c.run("count links", func() error { n = c.s.counts[pair{id1, typ}].Count; return nil })
	return n, err
}

func (c *client) MultigetLinks(_ context.Context, id1, typ int64, id2s []int64, visit func(*graph.Link)) error {
	return c.run("multiget links", func() error {
		list := c.s.links[pair{id1, typ}]
		for i, id2 := range id2s {
			if l := list[id2]; l != nil && !slices.Contains(id2s[:i], id2) {
				visit(l)
			}
		}
		return nil
	})
}

func (c *client) ListLinks(_ context.Context, q *linkbench.ListQuery, visit func(*graph.Link)) error {
	return c.run("list links", func() error {
		var page []*graph.Link
		for _, l := range c.s.links[pair{q.ID1, q.Type}] {
			if l.Visibility == graph.Visible && l.TimeMS >= q.MinTimeMS && l.TimeMS <= q.MaxTimeMS {
				page = append(page, l)
			}
		}
		slices.SortFunc(page, func(a, b *graph.Link) int { return int(b.TimeMS - a.TimeMS) })
		page = page[min(q.Offset, len(page)):]
		for _, l := range page[:min(q.Limit, len(page))] {
			visit(l)
		}
		return nil
	})
}

func (c *client) AddNode(_ context.Context, n *graph.Node) (id int64, err error) {
	err = c.run("add node", func() error {
		id = c.s.nextID
		c.s.nextID++
		fresh := *n
		fresh.ID, fresh.Data = id, bytes.Clone(n.Data)
		return c.s.insertNode(fresh)
	})
	return id, err
}

func (c *client) UpdateNode(_ context.Context, n *graph.Node) (found bool, err error) {
	err = c.run("update node", func() error {
		var old node
		if old, found = c.s.nodes[n.ID]; found && old.typ == n.Type {
			c.s.nodes[n.ID] = node{n.Type, n.TimeS, n.Version, bytes.Clone(n.Data)}
			return nil
		}
		found = false
		return nil
	})
	return found, err
}

func (c *client) DeleteNode(_ context.Context, id int64, typ int32) (found bool, err error) {
	err = c.run("delete node", func() error {
		if old, ok := c.s.nodes[id]; ok && old.typ == typ {
			found = true
			delete(c.s.nodes, id)
		}
		return nil
	})
	return found, err
}

func (c *client) GetNode(_ context.Context, id int64, typ int32, n *graph.Node) (found bool, err error) {
	err = c.run("get node", func() error {
		if v, ok := c.s.nodes[id]; ok && v.typ == typ {
			found = true
			*n = graph.Node{ID: id, Type: v.typ, Version: v.version, TimeS: v.timeS, Data: v.data}
		}
		return nil
	})
	return found, err
}
