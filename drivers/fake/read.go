package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"insertbench/drivers"
	"insertbench/ibench"
)

var (
	_ ibench.Reader           = (*Server)(nil)
	_ ibench.DeletingDatabase = (*Server)(nil)
	_ ibench.Settler          = (*Server)(nil)
)

var errNoRows = errors.New("the fake database keeps no rows to read: open it with KeepRows")

// link is a connection that reads or deletes.
type link struct {
	server  *Server
	table   string
	rows    int
	once    sync.Once
	aborted chan struct{}
}

func (s *Server) open(table string, rows int) (*link, error) {
	if err := ibench.CheckTableName(table); err != nil {
		return nil, err
	}
	return &link{server: s, table: table, rows: rows, aborted: make(chan struct{})}, nil
}

// OpenQuerier opens a querier.
func (s *Server) OpenQuerier(_ context.Context, table string, _, rows int) (ibench.Querier, error) {
	return s.open(table, rows)
}

// NumbersByClient is false: the database makes the keys.
func (s *Server) NumbersByClient() bool { return false }

// OpenScanner opens a scanner.
func (s *Server) OpenScanner(_ context.Context, table string) (ibench.Scanner, error) {
	return s.open(table, 0)
}

// OpenDeleter opens a deleter.
func (s *Server) OpenDeleter(_ context.Context, table string) (ibench.Deleter, error) {
	return s.open(table, 0)
}

// Abort makes this and later statements fail.
func (l *link) Abort() { l.once.Do(func() { close(l.aborted) }) }

// Close does nothing.
func (l *link) Close() error { return nil }

// with waits the script's latency, then reads the table under the lock.
func (l *link) with(do func(*table) error) error {
	if wait := l.server.config.ReadLatency; wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.aborted:
		}
	}
	select {
	case <-l.aborted:
		return &drivers.Error{Class: drivers.Unknown, Code: "aborted", Err: fmt.Errorf("reading table %s: aborted", l.table)}
	default:
	}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	t, err := l.server.find(l.table)
	if err == nil && !l.server.config.KeepRows {
		err = errNoRows
	}
	if err == nil {
		err = do(t)
	}
	if err != nil {
		return &drivers.Error{Class: drivers.Fatal, Code: "fake", Err: err}
	}
	return nil
}

// entry is a row's entry in an index.
func entry(r *ibench.Row, index int) ibench.Entry {
	switch index {
	case 0:
		return ibench.Entry{int64(r.ProductID), int64(r.CustomerID), int64(r.Price)}
	case 1:
		return ibench.Entry{int64(r.CashRegisterID), int64(r.CustomerID), int64(r.Price)}
	default:
		return ibench.Entry{int64(r.Price), r.Seconds, int64(r.CustomerID)}
	}
}

// needIndex refuses to read an index that the table lacks.
func (t *table) needIndex(index int) error {
	if index == ibench.PrimaryKey {
		return nil
	}
	for _, x := range t.indexes {
		if x.Name == ibench.Indexes[index].Name {
			return nil
		}
	}
	return fmt.Errorf("the table has no index %s", ibench.Indexes[index].Name)
}

// Range sorts what it finds; it is no index.
func (l *link) Range(_ context.Context, index int, from int64, dst []ibench.Entry) ([]ibench.Entry, error) {
	err := l.with(func(t *table) error {
		if err := t.needIndex(index); err != nil {
			return err
		}
		var found []ibench.Entry
		for i := range t.rows {
			if e := entry(&t.rows[i], index); e[0] >= from {
				found = append(found, e)
			}
		}
		slices.SortFunc(found, func(a, b ibench.Entry) int { return slices.Compare(a[:], b[:]) })
		dst = append(dst, found[:min(l.rows, len(found))]...)
		return nil
	})
	return dst, err
}

// Points finds rows by how many were kept in the table before them.
func (l *link) Points(_ context.Context, numbers []int64, dst []ibench.PointRow) ([]ibench.PointRow, error) {
	err := l.with(func(t *table) error {
		wanted := slices.Compact(slices.Sorted(slices.Values(numbers)))
		for _, n := range wanted {
			i := n - t.deleted
			if i < 0 || i >= int64(len(t.rows)) {
				continue
			}
			r := &t.rows[i]
			dst = append(dst, ibench.PointRow{Number: n, ProductID: r.ProductID, Data: slices.Clone(r.Data)})
		}
		return nil
	})
	return dst, err
}

// Scan counts the rows.
func (l *link) Scan(_ context.Context, index int) (n int64, err error) {
	err = l.with(func(t *table) error {
		n = int64(len(t.rows))
		return t.needIndex(index)
	})
	return n, err
}

// FindLowest has nothing to look for.
func (l *link) FindLowest(context.Context) error { return l.with(func(*table) error { return nil }) }

// Delete removes the oldest rows.
func (l *link) Delete(_ context.Context, n int) (int64, error) {
	var deleted int
	err := l.with(func(t *table) error {
		deleted = min(n, len(t.rows))
		for i := range t.rows[:deleted] {
			t.sums.Sub(&t.rows[i])
		}
		t.rows = t.rows[deleted:]
		t.deleted += int64(deleted)
		return nil
	})
	return int64(deleted), err
}

// Extent says what the table holds.
func (s *Server) Extent(_ context.Context, name string) (ibench.Extent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.find(name)
	if err != nil {
		return ibench.Extent{}, err
	}
	x := ibench.Extent{Rows: t.sums.Rows}
	if x.Rows > 0 {
		x.Lowest, x.Highest = t.deleted, t.deleted+x.Rows-1
	}
	for _, index := range t.indexes {
		x.Indexes = append(x.Indexes, index.Name)
	}
	sort.Strings(x.Indexes)
	return x, nil
}

// Settle has nothing to do.
func (s *Server) Settle(context.Context, []string, time.Duration) (ibench.Settled, error) {
	return ibench.Settled{Verified: []string{"nothing is ever owed to a disk"}}, nil
}
