package drivertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"insertbench/drivers"
	"insertbench/ibench"
)

func (s Suite) tables(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	create(t, db, "pi1")
	create(t, db, "pi12", ibench.Indexes...)
	wantKind(t, db.CreateTable(ctx, ibench.Table{Name: "pi1"}), drivers.ErrConfig)
	wantTables(t, db, "pi1", "pi12")
	if err := db.DropTable(ctx, "pi1"); err != nil {
		t.Errorf("DropTable: %v", err)
	}
	wantKind(t, db.DropTable(ctx, "pi1"), drivers.ErrConfig)
	wantTables(t, db, "pi12")
	if size, err := db.SizeBytes(ctx); err != nil || size < 0 {
		t.Errorf("SizeBytes gave %d and error %v", size, err)
	}
}

func wantTables(t testing.TB, db ibench.Database, want ...string) {
	t.Helper()
	got, err := db.ListTables(context.Background())
	if err != nil {
		t.Fatalf("ListTables: %v", err)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

// others: names that look like the benchmark's and aren't are never listed,
// never dropped, never written to.
func (s Suite) others(t *testing.T) {
	ctx := context.Background()
	db := s.open(t)
	names := []string{"pix", "pi01", "pi0", "pi", "pi1x", "xpi1", "orders"}
	for _, name := range names {
		if s.MakeOther != nil {
			s.MakeOther(t, name)
		}
		wantKind(t, db.DropTable(ctx, name), drivers.ErrConfig)
		wantKind(t, db.CreateTable(ctx, ibench.Table{Name: name}), drivers.ErrConfig)
		wantKind(t, db.CreateIndexes(ctx, name, ibench.Indexes), drivers.ErrConfig)
		if in, err := db.OpenInserter(ctx, name); err == nil {
			t.Errorf("OpenInserter took table %q", name)
			_ = in.Close()
		}
		if _, _, err := db.Sums(ctx, name); err == nil {
			t.Errorf("Sums took table %q", name)
		}
	}
	create(t, db, "pi1")
	wantTables(t, db, "pi1")
	removeTables(t, db)
	for _, name := range names {
		if s.CountOther != nil {
			if got := s.CountOther(t, name); got != 1 {
				t.Errorf("table %q has %d rows after the benchmark's were removed, want its own 1", name, got)
			}
		}
	}
}

// otherShape: a table with the benchmark's name and other columns is refused.
func (s Suite) otherShape(t *testing.T) {
	db := s.open(t)
	reader, ok := db.(ibench.Reader)
	if !ok || s.MakeOther == nil || s.Want.DBMS == "mongo" {
		t.Skip("no tables, no columns, or no reads")
	}
	s.MakeOther(t, "pi1")
	_, err := reader.Extent(context.Background(), "pi1")
	wantKind(t, err, drivers.ErrConfig)
	removeTables(t, db)
}

func (s Suite) indexes(t *testing.T) {
	for n := range len(ibench.Indexes) + 1 {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, later %v", n, late), func(t *testing.T) { s.someIndexes(t, ibench.Indexes[:n], late) })
		}
	}
}

func (s Suite) someIndexes(t *testing.T, indexes []ibench.Index, late bool) {
	db := s.open(t)
	atStart := indexes
	if late {
		atStart = nil
	}
	create(t, db, "pi1", atStart...)
	in := openInserter(t, db, "pi1")
	defer in.Close()
	want := fill(in, stream(0), 0, 200)
	mustInsert(t, in)
	if late {
		if err := db.CreateIndexes(context.Background(), "pi1", indexes); err != nil {
			t.Fatalf("CreateIndexes: %v", err)
		}
	}
	more := fill(in, stream(0), 200, 300)
	mustInsert(t, in)
	want.Add(more)
	s.wantSums(t, db, "pi1", want)
	if s.ReadIndexes == nil {
		return
	}
	sorted := slices.SortedFunc(slices.Values(indexes), func(a, b ibench.Index) int { return strings.Compare(a.Name, b.Name) })
	if diff := cmp.Diff(sorted, s.ReadIndexes(t, db, "pi1"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("indexes as the database has them (-want +got):\n%s", diff)
	}
}

// sideBySide builds the indexes of several tables at the same time.
func (s Suite) sideBySide(t *testing.T) {
	db := s.open(t)
	var wg sync.WaitGroup
	var sums ibench.Sums
	names := []string{"pi1", "pi2", "pi3"}
	for _, name := range names {
		create(t, db, name)
		in := openInserter(t, db, name)
		sums = fill(in, stream(0), 0, 1000)
		mustInsert(t, in)
		if err := in.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	for _, name := range names {
		wg.Go(func() {
			if err := db.CreateIndexes(context.Background(), name, ibench.Indexes); err != nil {
				t.Errorf("CreateIndexes of %s: %v", name, err)
			}
		})
	}
	wg.Wait()
	for _, name := range names {
		s.wantSums(t, db, name, sums)
	}
}
