// Package drivertest is the one conformance suite of the Insert Benchmark's
// drivers: whatever database is behind ibench.Database, these tests hold.
package drivertest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"insertbench/drivers"
	"insertbench/ibench"
)

// Suite describes one database to the tests. The functions beside Open reach
// it by another way than the driver under test, or tell how to provoke what a
// test needs; a nil one leaves out the tests that need it.
type Suite struct {
	// Open opens the database under test. Every call reaches the same data.
	Open func(t testing.TB) ibench.Database
	// Want is what Identity must give; empty fields aren't compared.
	Want drivers.Identity
	// KeepsNothing is whether the engine throws rows away.
	KeepsNothing bool
	// ReadRows reads a table back in the order of its key. Client and Number
	// are left zero.
	ReadRows func(t testing.TB, db ibench.Database, table string) []ibench.Row
	// ReadIndexes reads the secondary indexes back, sorted by name, without
	// the table's name in theirs.
	ReadIndexes func(t testing.TB, db ibench.Database, table string) []ibench.Index
	// MakeOther makes a table that isn't the benchmark's, with one row;
	// CountOther counts its rows.
	MakeOther  func(t testing.TB, name string)
	CountOther func(t testing.TB, name string) int
	// Block makes inserts into a table wait until release is called.
	Block func(t testing.TB, table string) (release func())
	// Waiting returns once an insert into the table waits for Block.
	Waiting func(t testing.TB, table string)
	// Kill ends the connection of the insert that waits, from the server's side.
	Kill func(t testing.TB, table string)
	// Conflict makes the next insert into the table fail after a while with
	// an error that asks to try again, until release is called.
	Conflict func(t testing.TB, table string) (release func())
	// KeysFromStream is whether the driver makes keys of client and row, so
	// that the same rows again are refused.
	KeysFromStream bool
	// InsertMakesTable is whether an insert makes a table that isn't there.
	InsertMakesTable bool
	// HugeBatch is a number of rows of 4,000 bytes that no statement may have.
	HugeBatch int
	// Settles is whether Settle must see all that it reached.
	Settles bool
}

// Run runs the suite.
func Run(t *testing.T, s Suite) {
	before := goleak.IgnoreCurrent()
	t.Run("identity", s.identity)
	t.Run("tables", s.tables)
	t.Run("only the benchmark's tables", s.others)
	t.Run("a table of another shape", s.otherShape)
	t.Run("indexes", s.indexes)
	t.Run("indexes side by side", s.sideBySide)
	t.Run("batches", s.batches)
	t.Run("same rows", s.sameRows)
	t.Run("sent again", s.sentAgain)
	t.Run("two inserters", s.twoInserters)
	t.Run("limits", s.limits)
	t.Run("dropped table", s.droppedTable)
	t.Run("abort", s.abort)
	t.Run("killed", s.killed)
	t.Run("conflict", s.conflict)
	t.Run("ranges", s.ranges)
	t.Run("points", s.points)
	t.Run("scans", s.scans)
	t.Run("deletes", s.deletes)
	t.Run("readers aborted", s.readersAborted)
	t.Run("long transactions", s.long)
	t.Run("settled", s.settled)
	t.Run("closed twice", s.closedTwice)
	if err := goleak.Find(before); err != nil {
		t.Errorf("goroutines left behind: %v", err)
	}
}

// open opens the database without tables of the benchmark, and leaves it so.
func (s Suite) open(t testing.TB) ibench.Database {
	t.Helper()
	db := s.Open(t)
	removeTables(t, db)
	t.Cleanup(func() {
		removeTables(t, db)
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

func removeTables(t testing.TB, db ibench.Database) {
	t.Helper()
	names, err := db.ListTables(context.Background())
	if err != nil {
		t.Fatalf("ListTables: %v", err)
	}
	for _, name := range names {
		if err := db.DropTable(context.Background(), name); err != nil {
			t.Fatalf("DropTable: %v", err)
		}
	}
}

func create(t testing.TB, db ibench.Database, name string, indexes ...ibench.Index) {
	t.Helper()
	if err := db.CreateTable(context.Background(), ibench.Table{Name: name, Indexes: indexes}); err != nil {
		t.Fatalf("CreateTable: %v", err)
	}
}

func openInserter(t testing.TB, db ibench.Database, table string) ibench.Inserter {
	t.Helper()
	in, err := db.OpenInserter(context.Background(), table)
	if err != nil {
		t.Fatalf("OpenInserter: %v", err)
	}
	return in
}

// fill appends rows from to to-1 of the stream and gives their sums.
func fill(in ibench.Inserter, rows *ibench.Rows, from, to int64) ibench.Sums {
	var sums ibench.Sums
	var row ibench.Row
	for i := from; i < to; i++ {
		rows.At(i, &row)
		in.Append(&row)
		sums.AddRow(&row)
	}
	return sums
}

func stream(client int) *ibench.Rows {
	rows := ibench.NewRows(42, client, ibench.DefaultRowSpec())
	return &rows
}

// mustInsert sends the statement and empties it.
func mustInsert(t testing.TB, in ibench.Inserter) {
	t.Helper()
	if err := in.Insert(context.Background()); err != nil {
		t.Fatalf("Insert: %v", err)
	}
	in.Reset()
}

func (s Suite) wantSums(t testing.TB, db ibench.Database, table string, want ibench.Sums) {
	t.Helper()
	if s.KeepsNothing {
		want = ibench.Sums{}
	}
	got, keepsNothing, err := db.Sums(context.Background(), table)
	if err != nil {
		t.Fatalf("Sums: %v", err)
	}
	if keepsNothing != s.KeepsNothing {
		t.Errorf("Sums says that the engine keeps nothing: %v, want %v", keepsNothing, s.KeepsNothing)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sums of %s (-want +got):\n%s", table, diff)
	}
}

func wantKind(t testing.TB, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got error %v, want one of kind %q", err, kind)
	}
}

func wantClass(t testing.TB, err error, class drivers.Class) {
	t.Helper()
	var e *drivers.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want a *drivers.Error", err)
	}
	if e.Class != class || e.Code == "" {
		t.Errorf("got class %q with code %q (%v), want class %q and some code", e.Class, e.Code, err, class)
	}
}

func (s Suite) identity(t *testing.T) {
	db := s.open(t)
	create(t, db, "pi1")
	got := db.Identity()
	for _, f := range []struct{ name, got, want string }{
		{"DBMS", got.DBMS, s.Want.DBMS}, {"Product", got.Product, s.Want.Product}, {"Version", got.Version, s.Want.Version},
		{"Engine", got.Engine, s.Want.Engine}, {"Durability", got.Durability, s.Want.Durability}, {"Transport", got.Transport, s.Want.Transport},
	} {
		if f.got == "" || f.want != "" && f.got != f.want {
			t.Errorf("Identity.%s is %q, want %q", f.name, f.got, f.want)
		}
	}
	if got.Embedded != s.Want.Embedded {
		t.Errorf("Identity.Embedded is %v, want %v", got.Embedded, s.Want.Embedded)
	}
	if place := db.Place(); (place.Network == "") != got.Embedded {
		t.Errorf("Place.Network is %q where Embedded is %v", place.Network, got.Embedded)
	}
	settings, err := db.Settings(context.Background())
	if err != nil || len(settings) == 0 {
		t.Errorf("Settings gave %d settings and error %v, want some and none", len(settings), err)
	}
	var names []string
	for _, d := range db.Dumps(context.Background()) {
		if d.Err != nil || len(d.Text) == 0 || slices.Contains(names, d.Name) {
			t.Errorf("dump %q has %d bytes and error %v, want a name of its own, some and none", d.Name, len(d.Text), d.Err)
		}
		names = append(names, d.Name)
	}
	if len(names) == 0 {
		t.Error("Dumps gave nothing")
	}
}
