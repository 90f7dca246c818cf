package drivertest

import (
	"context"
	"errors"
	"testing"

	"insertbench/drivers"
	"insertbench/ibench"
)

// long reads through a table inside a transaction that doesn't see what comes
// meanwhile, and in the next one sees it.
func (s Suite) long(t *testing.T) {
	db, _, rows := s.reader(t)
	holder, ok := db.(ibench.LongDatabase)
	if !ok {
		t.Skip("there are no long transactions")
	}
	ctx := context.Background()
	tx, err := holder.OpenLong(ctx, "pi1")
	if errors.Is(err, drivers.ErrConfig) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("OpenLong: %v", err)
	}
	defer tx.Close()
	through := func() (total int) {
		t.Helper()
		for {
			n, err := tx.Page(ctx, 600)
			if err != nil {
				t.Fatalf("Page: %v", err)
			}
			if total += n; n < 600 {
				return total
			}
		}
	}
	begin := func() {
		t.Helper()
		if err := tx.Begin(ctx); err != nil {
			t.Fatalf("Begin: %v", err)
		}
	}
	begin()
	if n, err := tx.Page(ctx, 1); n != 1 || err != nil {
		t.Errorf("a page of 1 row had %d, %v", n, err)
	}
	in := openInserter(t, db, "pi1")
	defer in.Close()
	fill(in, stream(3), 0, 100)
	mustInsert(t, in)
	if n := through(); n != len(rows)-1 {
		t.Errorf("%d rows after the first were read within the transaction, want %d", n, len(rows)-1)
	}
	if n := through(); n != len(rows) {
		t.Errorf("%d rows were read from the beginning again, want %d", n, len(rows))
	}
	if err := tx.Commit(); err != nil {
		t.Errorf("Commit: %v", err)
	}
	begin()
	if n := through(); n != len(rows)+100 {
		t.Errorf("%d rows were read in the next transaction, want %d", n, len(rows)+100)
	}
	if err := tx.Close(); err != nil { // with a transaction open
		t.Errorf("Close: %v", err)
	}
}
