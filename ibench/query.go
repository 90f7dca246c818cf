package ibench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"insertbench/drivers"
	"insertbench/internal/load"
)

// QueryKind is what readers ask for.
type QueryKind string

// Ranges of the secondary indexes, one of them at random per query, or points
// of the primary key.
const (
	RangeQueries QueryKind = "range"
	PointQueries QueryKind = "point"
)

// rangeValues is how many values the first column of an index has: a query
// begins at one of them, drawn uniformly, as in iibench.py. pdc has 500
// different beginnings and registersegment 1,000 with the original's ranges.
func (s RowSpec) rangeValues(index int) int64 {
	switch index {
	case 0:
		return int64(s.Products)
	case 1:
		return int64(s.CashRegisters)
	default:
		return int64(s.MaxPrice)
	}
}

// entryOf is a row's entry in an index, by its position in Indexes.
func entryOf(r *Row, index int) Entry {
	switch index {
	case 0:
		return Entry{int64(r.ProductID), int64(r.CustomerID), int64(r.Price)}
	case 1:
		return Entry{int64(r.CashRegisterID), int64(r.CustomerID), int64(r.Price)}
	default:
		return Entry{int64(r.Price), r.Seconds, int64(r.CustomerID)}
	}
}

// checkPointsEvery is how many point queries have one of which each row is
// compared with the one that was sent. That rows are missing is seen in all.
const checkPointsEvery = 16

// readTask sends one reader's queries.
type readTask struct {
	reader  int
	table   string
	kind    QueryKind
	op      int
	rows    int
	indexes int
	spec    RowSpec
	querier Querier
	rng     splitMix64
	// streams are of the clients that share the table. own is the one whose
	// rows points ask for; nil where numbers can't be traced to a row.
	streams []*stream
	own     *stream
	ownRows Rows
	// writing counts the writers that go on; nil where there are none, else
	// the reader ends with the last of them.
	writing *atomic.Int64

	index   int
	from    int64
	numbers []int64
	before  []Position
	entries []Entry
	points  []PointRow
	row     Row
	queries int64
	// fetched is how many rows came back.
	fetched int64
	samples sampler
}

// Next draws the next query.
func (t *readTask) Next() bool {
	if t.writing != nil && t.writing.Load() == 0 {
		return false
	}
	t.before = t.before[:0]
	for _, s := range t.streams {
		t.before = append(t.before, s.position())
	}
	if t.kind == PointQueries {
		return t.drawNumbers()
	}
	t.index = int(t.rng.below(uint64(t.indexes)))
	t.from = int64(t.rng.below(uint64(t.spec.rangeValues(t.index))))
	return true
}

// drawNumbers draws keys of rows that are there, none of them twice while
// there are enough. The original asks for the largest key every 100 queries;
// here it is known without asking.
func (t *readTask) drawNumbers() bool {
	var low, high int64
	if t.own != nil {
		p := t.own.position()
		low, high = p.Deleted, p.Inserted
	} else {
		for _, p := range t.before {
			high += p.Inserted
		}
	}
	if high <= low {
		return false
	}
	t.numbers = t.numbers[:0]
	for span := high - low; len(t.numbers) < t.rows; {
		n := low + int64(t.rng.below(uint64(span)))
		for int64(len(t.numbers)) < span && slices.Contains(t.numbers, n) {
			n = low + (n-low+1)%span
		}
		t.numbers = append(t.numbers, n)
	}
	return true
}

// Do asks, and looks at the answer.
func (t *readTask) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	for attempt := 1; ; attempt++ {
		err := t.ask(ctx)
		if err == nil {
			break
		}
		class := drivers.ClassOf(err)
		rec.Error(drivers.CodeOf(err), class.String())
		if class != drivers.Retryable || attempt == maxAttempts {
			return load.Done{}, fmt.Errorf("reader %d: %w", t.reader, err)
		}
	}
	t.queries++
	if err := t.look(); err != nil {
		return load.Done{}, fmt.Errorf("reader %d of %s: %w: %w", t.reader, t.table, err, ErrVerify)
	}
	return load.Done{Op: t.op, Units: 1}, nil
}

func (t *readTask) ask(ctx context.Context) (err error) {
	if t.kind == PointQueries {
		t.points, err = t.querier.Points(ctx, t.numbers, t.points[:0])
	} else {
		t.entries, err = t.querier.Range(ctx, t.index, t.from, t.entries[:0])
	}
	return err
}

// look checks what every answer must be, and keeps a sample of ranges.
func (t *readTask) look() error {
	if t.kind == PointQueries {
		t.fetched += int64(len(t.points))
		if t.own == nil {
			return nil
		}
		return t.lookAtPoints()
	}
	t.fetched += int64(len(t.entries))
	if len(t.entries) > t.rows {
		return fmt.Errorf("a query of %s returned %d entries, where its limit is %d", Indexes[t.index].Name, len(t.entries), t.rows)
	}
	last := Entry{t.from, -1, -1}
	for _, e := range t.entries {
		if slices.Compare(e[:], last[:]) < 0 {
			return fmt.Errorf("a query of %s from %d returned %v after %v", Indexes[t.index].Name, t.from, e, last)
		}
		last = e
	}
	t.samples.offer(&t.rng, t, len(t.entries) < t.rows)
	return nil
}

// lookAtPoints checks that rows are missing only where they may have been
// removed meanwhile, and that some are as they were sent.
func (t *readTask) lookAtPoints() error {
	removed := t.own.deleting.Load()
	distinct := t.numbers
	if len(t.points) < len(t.numbers) {
		distinct = slices.Compact(slices.Sorted(slices.Values(t.numbers)))
	}
	for _, n := range distinct {
		if len(t.points) == len(distinct) {
			break
		}
		if n >= removed && !slices.ContainsFunc(t.points, func(p PointRow) bool { return p.Number == n }) {
			return fmt.Errorf("row %d of client %d was committed and not found by its key", n, t.own.client)
		}
	}
	if t.queries%checkPointsEvery != 1 {
		return nil
	}
	for _, p := range t.points {
		t.ownRows.At(p.Number, &t.row)
		if !slices.Contains(t.numbers, p.Number) || p.ProductID != t.row.ProductID || !bytes.Equal(p.Data, t.row.Data) {
			return fmt.Errorf("row %d of client %d has productid %d and data %q, where %d and %q were sent",
				p.Number, t.own.client, p.ProductID, p.Data, t.row.ProductID, t.row.Data)
		}
	}
	return nil
}

// Abort breaks off a query that is waiting for its answer.
func (t *readTask) Abort() { t.querier.Abort() }
