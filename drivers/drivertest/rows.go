package drivertest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"insertbench/drivers"
	"insertbench/ibench"
)

func (s Suite) batches(t *testing.T) {
	db := s.open(t)
	create(t, db, "pi1", ibench.Indexes...)
	in := openInserter(t, db, "pi1")
	defer in.Close()
	var want ibench.Sums
	next := int64(0)
	for _, size := range []int64{1, 100, 1000, 1} {
		want.Add(fill(in, stream(0), next, next+size))
		next += size
		mustInsert(t, in)
		s.wantSums(t, db, "pi1", want)
	}
}

// sameRows reads every field of every row back and compares it with the row's
// pure function: the same seed gives the same rows in each database.
func (s Suite) sameRows(t *testing.T) {
	if s.ReadRows == nil {
		return
	}
	// Past 1,000 and 2,000, where dateandtime moves on by a second.
	const n = 2_500
	spec := ibench.DefaultRowSpec()
	spec.DataLengthMin, spec.DataLengthMax = 0, 300
	rows := ibench.NewRows(7, 3, spec)
	db := s.open(t)
	create(t, db, "pi1")
	in := openInserter(t, db, "pi1")
	defer in.Close()
	want := make([]ibench.Row, n)
	for i := range want {
		rows.At(int64(i), &want[i])
		in.Append(&want[i])
		if i%250 == 249 {
			mustInsert(t, in)
		}
		want[i].Client, want[i].Number = 0, 0 // not stored
	}
	if diff := cmp.Diff(want, s.ReadRows(t, db, "pi1"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows read back (-want +got):\n%s", diff)
	}
}

// sentAgain: a statement is kept until Reset.
func (s Suite) sentAgain(t *testing.T) {
	db := s.open(t)
	create(t, db, "pi1")
	in := openInserter(t, db, "pi1")
	defer in.Close()
	want := fill(in, stream(0), 0, 50)
	if err := in.Insert(context.Background()); err != nil {
		t.Fatalf("Insert: %v", err)
	}
	if s.KeysFromStream {
		wantClass(t, in.Insert(context.Background()), drivers.Fatal)
		in.Reset()
	} else {
		mustInsert(t, in)
		want.Add(want)
	}
	want.Add(fill(in, stream(0), 50, 51))
	mustInsert(t, in)
	s.wantSums(t, db, "pi1", want)
}

func (s Suite) twoInserters(t *testing.T) {
	db := s.open(t)
	create(t, db, "pi1", ibench.Indexes...)
	const statements, size = 10, 100
	sums := make([]ibench.Sums, 2)
	var wg sync.WaitGroup
	for client := range sums {
		in := openInserter(t, db, "pi1")
		wg.Go(func() {
			defer in.Close()
			for n := range int64(statements) {
				sums[client].Add(fill(in, stream(client), n*size, (n+1)*size))
				// InnoDB may ask to try again where two clients share a table.
				err := in.Insert(context.Background())
				for err != nil && drivers.ClassOf(err) == drivers.Retryable {
					err = in.Insert(context.Background())
				}
				if err != nil {
					t.Errorf("Insert of client %d: %v", client, err)
					return
				}
				in.Reset()
			}
		})
	}
	wg.Wait()
	want := sums[0]
	want.Add(sums[1])
	s.wantSums(t, db, "pi1", want)
}

func (s Suite) limits(t *testing.T) {
	db := s.open(t)
	if err := db.CheckBatch(context.Background(), 1000, 20); err != nil {
		t.Errorf("CheckBatch of 1,000 rows of 20 bytes: %v", err)
	}
	if s.HugeBatch > 0 {
		wantKind(t, db.CheckBatch(context.Background(), s.HugeBatch, 4000), drivers.ErrConfig)
	}
}

func (s Suite) droppedTable(t *testing.T) {
	db := s.open(t)
	create(t, db, "pi1")
	in := openInserter(t, db, "pi1")
	defer in.Close()
	fill(in, stream(0), 0, 10)
	if err := db.DropTable(context.Background(), "pi1"); err != nil {
		t.Fatalf("DropTable: %v", err)
	}
	if s.InsertMakesTable {
		mustInsert(t, in)
		return
	}
	wantClass(t, in.Insert(context.Background()), drivers.Fatal)
}

// waiting sends a statement that Block keeps from ending.
func (s Suite) waiting(t *testing.T, db ibench.Database) (in ibench.Inserter, answer chan error) {
	t.Helper()
	in = openInserter(t, db, "pi1")
	fill(in, stream(0), 0, 10)
	answer = make(chan error, 1)
	go func() { answer <- in.Insert(context.Background()) }()
	s.Waiting(t, "pi1")
	return in, answer
}

// abort: an insert that doesn't return is ended from another goroutine, which
// leaves the outcome unknown and the rest of the database untouched.
func (s Suite) abort(t *testing.T) {
	if s.Block == nil {
		return
	}
	db := s.open(t)
	create(t, db, "pi1")
	release := s.Block(t, "pi1")
	in, answer := s.waiting(t, db)
	in.Abort()
	in.Abort()
	wantClass(t, wantAnswer(t, answer), drivers.Unknown)
	release()
	if err := in.Insert(context.Background()); err == nil {
		t.Error("an aborted inserter took another statement")
	}
	if err := in.Close(); err != nil {
		t.Errorf("Close after Abort: %v", err)
	}
	other := openInserter(t, db, "pi1")
	defer other.Close()
	fill(other, stream(1), 0, 10)
	mustInsert(t, other)
}

func (s Suite) killed(t *testing.T) {
	if s.Kill == nil {
		return
	}
	db := s.open(t)
	create(t, db, "pi1")
	release := s.Block(t, "pi1")
	in, answer := s.waiting(t, db)
	s.Kill(t, "pi1")
	wantClass(t, wantAnswer(t, answer), drivers.Unknown)
	release()
	if err := in.Close(); err != nil {
		t.Errorf("Close of a killed connection: %v", err)
	}
}

// wantAnswer fails the test rather than wait for an insert that hangs.
func wantAnswer(t *testing.T, answer chan error) error {
	t.Helper()
	select {
	case err := <-answer:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the insert didn't return")
		return nil
	}
}

func (s Suite) conflict(t *testing.T) {
	if s.Conflict == nil {
		return
	}
	db := s.open(t)
	create(t, db, "pi1")
	release := s.Conflict(t, "pi1")
	in := openInserter(t, db, "pi1")
	defer in.Close()
	before, _, err := db.Sums(context.Background(), "pi1")
	if err != nil {
		t.Fatalf("Sums: %v", err)
	}
	want := fill(in, stream(0), 0, 10)
	wantClass(t, in.Insert(context.Background()), drivers.Retryable)
	release()
	mustInsert(t, in)
	want.Add(before)
	s.wantSums(t, db, "pi1", want)
}

func (s Suite) closedTwice(t *testing.T) {
	db := s.Open(t)
	removeTables(t, db)
	create(t, db, "pi1")
	in := openInserter(t, db, "pi1")
	for range 2 {
		if err := in.Close(); err != nil {
			t.Errorf("Close of the inserter: %v", err)
		}
	}
	in.Abort()
	removeTables(t, db)
	for range 2 {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}
