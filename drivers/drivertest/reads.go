package drivertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"insertbench/drivers"
	"insertbench/ibench"
)

const (
	readRows     = 2_500
	rowsPerQuery = 10
)

// narrow are ranges of values in which many entries share their first columns.
func narrow() ibench.RowSpec {
	spec := ibench.DefaultRowSpec()
	spec.Products, spec.CashRegisters, spec.Customers, spec.MaxPrice = 40, 7, 5, 11
	return spec
}

// reader opens the database with readRows rows of client 0 in pi1, and skips
// what can't be read.
func (s Suite) reader(t *testing.T) (ibench.Database, ibench.Reader, []ibench.Row) {
	t.Helper()
	db := s.open(t)
	reader, ok := db.(ibench.Reader)
	if !ok || s.KeepsNothing {
		t.Skip("there is nothing to be read")
	}
	create(t, db, "pi1", ibench.Indexes...)
	in := openInserter(t, db, "pi1")
	defer in.Close()
	stream := ibench.NewRows(7, 0, narrow())
	rows := make([]ibench.Row, readRows)
	for i := range rows {
		stream.At(int64(i), &rows[i])
		in.Append(&rows[i])
		if i%100 == 99 {
			mustInsert(t, in)
		}
	}
	return db, reader, rows
}

// entryOf is a row's entry in an index, by the columns' names.
func entryOf(t testing.TB, r *ibench.Row, x ibench.Index) (e ibench.Entry) {
	for i, column := range x.Columns {
		switch column {
		case "productid":
			e[i] = int64(r.ProductID)
		case "cashregisterid":
			e[i] = int64(r.CashRegisterID)
		case "customerid":
			e[i] = int64(r.CustomerID)
		case "price":
			e[i] = int64(r.Price)
		case "dateandtime":
			e[i] = r.Seconds
		default:
			t.Fatalf("index %s has column %s", x.Name, column)
		}
	}
	return e
}

// ranges compares range queries with the stream's own rows, sorted.
func (s Suite) ranges(t *testing.T) {
	_, reader, rows := s.reader(t)
	q, err := reader.OpenQuerier(context.Background(), "pi1", 0, rowsPerQuery)
	if err != nil {
		t.Fatalf("OpenQuerier: %v", err)
	}
	defer q.Close()
	for i, x := range ibench.Indexes {
		var entries []ibench.Entry
		for n := range rows {
			entries = append(entries, entryOf(t, &rows[n], x))
		}
		slices.SortFunc(entries, func(a, b ibench.Entry) int { return slices.Compare(a[:], b[:]) })
		top := entries[len(entries)-1][0]
		for _, from := range []int64{0, 1, top / 2, top, top + 1} {
			at := slices.IndexFunc(entries, func(e ibench.Entry) bool { return e[0] >= from })
			if at < 0 {
				at = len(entries)
			}
			want := entries[at:min(at+rowsPerQuery, len(entries))]
			got, err := q.Range(context.Background(), i, from, nil)
			if err != nil {
				t.Fatalf("Range of %s from %d: %v", x.Name, from, err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s from %d (-want +got):\n%s", x.Name, from, diff)
			}
		}
	}
}

// points reads rows that are there, one twice, and one that isn't.
func (s Suite) points(t *testing.T) {
	_, reader, rows := s.reader(t)
	q, err := reader.OpenQuerier(context.Background(), "pi1", 0, 5)
	if err != nil {
		t.Fatalf("OpenQuerier: %v", err)
	}
	defer q.Close()
	for _, numbers := range [][]int64{{0, 1, 2, 3, 4}, {2_499, 1_000, 1_000, 7, 2_500}, {9_000, 9_001, 9_002, 9_003, 9_004}} {
		want := []ibench.PointRow{}
		for _, n := range slices.Compact(slices.Sorted(slices.Values(numbers))) {
			if n < readRows {
				want = append(want, ibench.PointRow{Number: n, ProductID: rows[n].ProductID, Data: rows[n].Data})
			}
		}
		got, err := q.Points(context.Background(), numbers, nil)
		if err != nil {
			t.Fatalf("Points: %v", err)
		}
		slices.SortFunc(got, func(a, b ibench.PointRow) int { return int(a.Number - b.Number) })
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("points %v (-want +got):\n%s", numbers, diff)
		}
	}
}

// scans read every entry, and refuse an index that isn't there.
func (s Suite) scans(t *testing.T) {
	db, reader, _ := s.reader(t)
	create(t, db, "pi2")
	for table, want := range map[string]int64{"pi1": readRows, "pi2": 0} {
		c, err := reader.OpenScanner(context.Background(), table)
		if err != nil {
			t.Fatalf("OpenScanner: %v", err)
		}
		if n, err := c.Scan(context.Background(), ibench.PrimaryKey); err != nil || n != want {
			t.Errorf("a scan of the primary key of %s read %d rows, error %v, want %d", table, n, err, want)
		}
		for i, x := range ibench.Indexes {
			n, err := c.Scan(context.Background(), i)
			switch {
			case table == "pi2" && err == nil && s.Want.DBMS != "mongo":
				t.Errorf("a scan of index %s read %d entries of a table without it", x.Name, n)
			case table == "pi1" && (err != nil || n != want):
				t.Errorf("a scan of %s read %d entries, error %v, want %d", x.Name, n, err, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close of the scanner: %v", err)
		}
	}
}

// deletes take the oldest rows, exactly as many as asked for.
func (s Suite) deletes(t *testing.T) {
	db, reader, rows := s.reader(t)
	deleting, ok := db.(ibench.DeletingDatabase)
	if !ok {
		t.Skip("it doesn't delete")
	}
	var sums ibench.Sums
	for i := range rows {
		sums.AddRow(&rows[i])
	}
	d, err := deleting.OpenDeleter(context.Background(), "pi1")
	if err != nil {
		t.Fatalf("OpenDeleter: %v", err)
	}
	defer d.Close()
	gone := 0
	remove := func(n, want int) {
		t.Helper()
		deleted, err := d.Delete(context.Background(), n)
		if err != nil || deleted != int64(want) {
			t.Fatalf("Delete of %d rows after %d took %d, error %v, want %d", n, gone, deleted, err, want)
		}
		for range want {
			sums.Sub(&rows[gone])
			gone++
		}
		s.wantSums(t, db, "pi1", sums)
	}
	for _, n := range []int{100, 1, 100} {
		if err := d.FindLowest(context.Background()); err != nil {
			t.Fatalf("FindLowest: %v", err)
		}
		remove(n, n)
		remove(50, 50) // without asking again
	}
	wantExtent(t, reader, ibench.Extent{Rows: int64(readRows - gone), Lowest: int64(gone), Highest: readRows - 1})
	remove(readRows, readRows-gone)
	remove(1, 0)
	wantExtent(t, reader, ibench.Extent{})
}

func wantExtent(t *testing.T, reader ibench.Reader, want ibench.Extent) {
	t.Helper()
	got, err := reader.Extent(context.Background(), "pi1")
	if err != nil {
		t.Fatalf("Extent: %v", err)
	}
	for _, x := range ibench.Indexes {
		want.Indexes = append(want.Indexes, x.Name)
	}
	slices.Sort(want.Indexes)
	slices.Sort(got.Indexes)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("extent (-want +got):\n%s", diff)
	}
}

// readersAborted: what is aborted fails, and closes without a complaint.
func (s Suite) readersAborted(t *testing.T) {
	db, reader, _ := s.reader(t)
	q, err := reader.OpenQuerier(context.Background(), "pi1", 0, rowsPerQuery)
	if err != nil {
		t.Fatalf("OpenQuerier: %v", err)
	}
	if _, err := q.Range(context.Background(), 0, 0, nil); err != nil {
		t.Fatalf("Range: %v", err)
	}
	q.Abort()
	q.Abort()
	_, err = q.Range(context.Background(), 0, 0, nil)
	wantClass(t, err, drivers.Unknown)
	if err := q.Close(); err != nil {
		t.Errorf("Close after Abort: %v", err)
	}
	if deleting, ok := db.(ibench.DeletingDatabase); ok {
		d, err := deleting.OpenDeleter(context.Background(), "pi1")
		if err != nil {
			t.Fatalf("OpenDeleter: %v", err)
		}
		d.Abort()
		_, err = d.Delete(context.Background(), 1)
		wantClass(t, err, drivers.Unknown)
		if err := d.Close(); err != nil {
			t.Errorf("Close of a deleter after Abort: %v", err)
		}
	}
}

// settled: a database at rest holds what it held, and says what it did.
func (s Suite) settled(t *testing.T) {
	db, _, rows := s.reader(t)
	settler, ok := db.(ibench.Settler)
	if !ok {
		t.Skip("it isn't brought to rest")
	}
	got, err := settler.Settle(context.Background(), []string{"pi1"}, time.Minute)
	if err != nil {
		t.Fatalf("Settle: %v", err)
	}
	if len(got.Verified)+len(got.Unverified) == 0 {
		t.Errorf("Settle says nothing of what it reached: %+v", got)
	}
	if s.Settles && len(got.Unverified) > 0 {
		t.Errorf("Settle couldn't verify %v", got.Unverified)
	}
	// A limit that is over at once is no error, and isn't silent.
	got, err = settler.Settle(context.Background(), []string{"pi1"}, time.Nanosecond)
	if err != nil {
		t.Errorf("Settle without time: %v", err)
	}
	if len(got.Verified)+len(got.Unverified) == 0 {
		t.Errorf("Settle without time says nothing of what it reached: %+v", got)
	}
	var sums ibench.Sums
	for i := range rows {
		sums.AddRow(&rows[i])
	}
	s.wantSums(t, db, "pi1", sums)
}
