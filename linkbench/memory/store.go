// Package memory is LinkBench's graph in the memory of this process: the
// plainest thing that keeps the rules of the operations. It tests what stands
// above the drivers and shows what a driver has to do; it is no database to
// measure.
package memory

import (
	"context"
	"slices"
	"sync"

	"insertbench/drivers"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

type pair struct{ id, typ int64 }

type node struct {
	typ, timeS int32
	version    int64
	data       []byte
}

// Store is the database. Unlike others its methods are safe for concurrent use.
type Store struct {
	// Fault, if set before use, is called before each statement or
	// transaction, named by its method; an error is the answer, and nothing is done.
	Fault func(statement string) error

	mu     sync.Mutex
	exists bool
	index  linkbench.Index // asked for, which is all there is of it; else empty
	nodes  map[int64]node
	links  map[pair]map[int64]*graph.Link // by id2
	counts map[pair]graph.Count
	nextID int64
}

var (
	_ linkbench.Database = (*Store)(nil)
	_ linkbench.Resumer  = (*Store)(nil)
)

// New makes a database without tables.
func New() *Store { return &Store{} }

func (s *Store) fault(statement string) error {
	if s.Fault == nil {
		return nil
	}
	return s.Fault(statement)
}

// locked runs a statement on its own.
func (s *Store) locked(statement string, f func() error) error {
	if err := s.fault(statement); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.exists {
		return &drivers.Error{Class: drivers.Fatal, Code: "no tables", Err: drivers.Configf("LinkBench's tables don't exist: load first")}
	}
	return f()
}

// Identity is that of an embedded database named Memory.
func (s *Store) Identity() drivers.Identity {
	return drivers.Identity{DBMS: "memory", Product: "Memory", Version: "1", Engine: "memory", Durability: "kept in memory only",
		Transport: "embedded", Embedded: true}
}

// Settings are none.
func (s *Store) Settings(context.Context) ([]drivers.Setting, error) { return nil, nil }

// Place is nowhere.
func (s *Store) Place() drivers.Place { return drivers.Place{} }

// SizeBytes is the payload held.
func (s *Store) SizeBytes(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var n int64
	for _, v := range s.nodes {
		n += int64(len(v.data))
	}
	for _, list := range s.links {
		for _, l := range list {
			n += int64(len(l.Data))
		}
	}
	return n, nil
}

// Dumps are none.
func (s *Store) Dumps(context.Context) []drivers.Dump { return nil }

// Close does nothing.
func (s *Store) Close() error { return nil }

// ListTables names all three or none.
func (s *Store) ListTables(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.exists {
		return nil, nil
	}
	return []string{"nodetable", "linktable", "counttable"}, nil
}

// CreateTables makes empty tables.
func (s *Store) CreateTables(_ context.Context, l linkbench.Layout) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exists {
		return drivers.Configf("LinkBench's tables exist")
	}
	s.exists = true
	s.nodes, s.links, s.counts = map[int64]node{}, map[pair]map[int64]*graph.Link{}, map[pair]graph.Count{}
	s.nextID = l.FirstNewNode
	return nil
}

// CreateIndex notes that there is one, once.
func (s *Store) CreateIndex(ctx context.Context, l linkbench.Layout) error {
	drivers.WaitingFor(ctx, "building index id1_type")
	return s.locked("create index", func() error {
		if s.index != "" {
			return duplicate("the index exists")
		}
		s.index = l.Index
		return nil
	})
}

// HasIndex tells whether CreateIndex was called, with the same layout.
func (s *Store) HasIndex(_ context.Context, l linkbench.Layout) (has bool, err error) {
	err = s.locked("has index", func() error {
		if has = s.index != ""; has && s.index != l.Index {
			return drivers.Configf("the index is %s, and not %s", s.index, l.Index)
		}
		return nil
	})
	return has, err
}

// DropTables forgets everything.
func (s *Store) DropTables(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exists, s.index, s.nodes, s.links, s.counts = false, "", nil, nil, nil
	return nil
}

// CheckBatch takes anything.
func (s *Store) CheckBatch(context.Context, int, int) error { return nil }

// TableRows counts.
func (s *Store) TableRows(context.Context) (r linkbench.Rows, err error) {
	err = s.locked("count rows", func() error {
		r.Nodes, r.Counts = int64(len(s.nodes)), int64(len(s.counts))
		for _, list := range s.links {
			r.Links += int64(len(list))
		}
		return nil
	})
	return r, err
}

// SumNodes sums up a range of nodes.
func (s *Store) SumNodes(_ context.Context, from, to int64) (n linkbench.NodeSums, err error) {
	err = s.locked("sum nodes", func() error {
		for id, v := range s.nodes {
			if id >= from && id < to {
				n.Rows++
				n.DataBytes += int64(len(v.data))
			}
		}
		return nil
	})
	return n, err
}

// SumLinks sums up the links of a type.
func (s *Store) SumLinks(_ context.Context, typ, from, to int64, visit func(linkbench.LinkSums) error) error {
	var sums []linkbench.LinkSums
	err := s.locked("sum links", func() error {
		for key, list := range s.links {
			if key.typ != typ || key.id < from || key.id >= to || len(list) == 0 {
				continue
			}
			sum := linkbench.LinkSums{ID1: key.id, Links: int64(len(list))}
			for id2, l := range list {
				sum.Visible += int64(l.Visibility)
				sum.SumID2 += id2
				sum.DataBytes += int64(len(l.Data))
			}
			sums = append(sums, sum)
		}
		return nil
	})
	slices.SortFunc(sums, func(a, b linkbench.LinkSums) int { return int(a.ID1 - b.ID1) })
	return visitAll(err, sums, visit)
}

// ScanCounts visits the counts of a type.
func (s *Store) ScanCounts(_ context.Context, typ, from, to int64, visit func(graph.Count) error) error {
	var counts []graph.Count
	err := s.locked("scan counts", func() error {
		for key, c := range s.counts {
			if key.typ == typ && key.id >= from && key.id < to {
				counts = append(counts, c)
			}
		}
		return nil
	})
	slices.SortFunc(counts, func(a, b graph.Count) int { return int(a.ID - b.ID) })
	return visitAll(err, counts, visit)
}

func visitAll[T any](err error, all []T, visit func(T) error) error {
	for _, v := range all {
		if err == nil {
			err = visit(v)
		}
	}
	return err
}

// Tamper changes the graph behind everyone's back: it sets a count row, and
// removes a link where id2 isn't negative.
func (s *Store) Tamper(c graph.Count, id2 int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := pair{c.ID, c.Type}
	s.counts[key] = c
	delete(s.links[key], id2)
}
