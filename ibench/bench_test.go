package ibench_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/drivers/fake"
	"insertbench/ibench"
	"insertbench/internal/step"
	"insertbench/iostat"
	"insertbench/results"
)

// newBench is a bench on tables that are still to be loaded.
func newBench(t *testing.T, c ibench.Config, db ibench.Database) *ibench.Bench {
	t.Helper()
	m, err := step.NewMeter(iostat.Root{}, step.Target{Server: db})
	if err != nil {
		t.Fatal(err)
	}
	w, err := results.Create(t.TempDir(), results.Run{Workload: "ibench", Plan: "test", StartedUTC: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return &ibench.Bench{Config: c, DB: db, Meter: m, Writer: w}
}

func mustDo(t *testing.T, b *ibench.Bench, s ibench.Step) []results.Step {
	t.Helper()
	if err := s.Validate(b.Config); err != nil {
		t.Fatal(err)
	}
	done, err := b.Do(t.Context(), s)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return done
}

func loadStep(rows int64, indexes int) ibench.Step {
	s := ibench.DefaultWrite()
	s.Name, s.Do, s.Rows, s.Readers, s.Indexes, s.RowsPerCommit = "load", ibench.ActionLoad, rows, 0, indexes, 10
	return s
}

// paired is two clients with a table each.
func paired() ibench.Config {
	c := ibench.DefaultConfig()
	c.Clients, c.Tables, c.Rows = 2, 2, 2
	c.Products, c.CashRegisters, c.MaxPrice = 20, 10, 5
	return c
}

// TestStepsGoOn: rows of a later step continue each client's stream, deletes
// take the oldest ones, and the tables are as long as they were.
func TestStepsGoOn(t *testing.T) {
	db := openFake(t, fake.Config{KeepRows: true})
	b := newBench(t, paired(), db)
	mustDo(t, b, loadStep(1000, 0))
	mustDo(t, b, ibench.Step{Name: "index", Do: ibench.ActionIndex})
	mustDo(t, b, ibench.Step{Name: "scan", Do: ibench.ActionScan})
	s := ibench.DefaultWrite()
	s.Rows, s.Deletes, s.RowsPerCommit = 501, true, 7
	for _, kind := range []ibench.QueryKind{ibench.RangeQueries, ibench.PointQueries} {
		s.Query = kind
		done := mustDo(t, b, s)[0]
		if got := *done.Metrics["rows"].Value; got != 501 {
			t.Errorf("%v rows were counted, want 501: queries and deletes are not rows", got)
		}
		if got := *done.Metrics["deleted_rows"].Value; got != 501 {
			t.Errorf("%v rows were deleted, want 501", got)
		}
	}
	// 500 + 251 twice, and 500 + 250 twice.
	want := ibench.State{Clients: []ibench.Position{{Deleted: 502, Inserted: 1002}, {Deleted: 500, Inserted: 1000}}, Indexes: 3}
	if diff := cmp.Diff(want, b.State); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	for client, p := range want.Clients {
		for i, row := range db.Rows(ibench.TableName(client)) {
			if row.Client != client || row.Number != p.Deleted+int64(i) {
				t.Fatalf("table %d has row %d of client %d at place %d", client, row.Number, row.Client, i)
			}
		}
	}
	if v, err := b.Verify(t.Context()); err != nil || v.Passed == nil || !*v.Passed {
		t.Errorf("Verify gave %+v, %v", v, err)
	}
	other := newBench(t, paired(), db)
	if err := other.Attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, other.State); diff != "" {
		t.Errorf("state that Attach found (-want +got):\n%s", diff)
	}
	other.Config.Seed++
	if _, err := other.Verify(t.Context()); !errors.Is(err, ibench.ErrVerify) {
		t.Errorf("rows of another seed gave error %v", err)
	}
}

// TestVerifyFindsWhatIsWrong: a row too many, one too few, and a scan that
// doesn't read what there is.
func TestVerifyFindsWhatIsWrong(t *testing.T) {
	db := openFake(t, fake.Config{KeepRows: true})
	b := newBench(t, paired(), db)
	mustDo(t, b, loadStep(100, 3))
	d, err := db.OpenDeleter(t.Context(), "pi2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Delete(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	v, err := b.Verify(t.Context())
	if !errors.Is(err, ibench.ErrVerify) || len(v.Differences) != 1 || !strings.Contains(v.Differences[0], "pi2") {
		t.Errorf("Verify gave %q, %v", v.Differences, err)
	}
	if _, err := b.Do(t.Context(), ibench.Step{Name: "scan", Do: ibench.ActionScan}); !errors.Is(err, ibench.ErrVerify) {
		t.Errorf("a scan of a table with a row missing gave %v", err)
	}
}

// TestDeletesKeepTheLength: a step that time ends may leave deletes behind,
// which are made up for.
func TestDeletesKeepTheLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openFake(t, fake.Config{KeepRows: true, Latency: 3 * time.Millisecond, ReadLatency: 11 * time.Millisecond})
		b := newBench(t, paired(), db)
		mustDo(t, b, loadStep(1000, 3))
		s := ibench.DefaultWrite()
		s.Seconds, s.Deletes, s.RowsPerCommit, s.Readers = 1, true, 5, 0
		done := mustDo(t, b, s)[0]
		if n := len(done.Events); n == 0 || done.Events[n-1].Kind != "catch-up" {
			t.Errorf("events %+v, want the last one to be the catch-up: deletes are slower here than inserts", done.Events)
		}
		for client, p := range b.State.Clients {
			if p.Inserted-p.Deleted != 500 {
				t.Errorf("client %d has %d rows, want 500", client, p.Inserted-p.Deleted)
			}
		}
		if _, err := b.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestPacedStarts: 250 rows a second in statements of 100 are one every 400
// ms, from the first second on, and two clients take turns: the second begins
// half a gap later.
func TestPacedStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var began time.Time
		var starts []time.Duration
		db := openFake(t, fake.Config{KeepRows: true, LatencyOf: func(int64) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, time.Since(began))
			return time.Millisecond
		}})
		b := newBench(t, paired(), db)
		mustDo(t, b, loadStep(100, 3))
		starts, began = nil, time.Now()
		s := ibench.DefaultWrite()
		s.Rate, s.Seconds, s.Readers = 250, 2, 0
		done := mustDo(t, b, s)[0]
		var want []time.Duration
		for at := time.Duration(0); at < 2*time.Second; at += 200 * time.Millisecond {
			want = append(want, at)
		}
		slices.Sort(starts)
		if diff := cmp.Diff(want, starts); diff != "" {
			t.Errorf("starts (-want +got):\n%s", diff)
		}
		// From 0 to 1,801 ms: 1,000 rows, where 2 × 250 a second were asked for.
		if got, want := *done.Metrics["target_percent"].Value, 100*1000/1.801/500; got < want-1e-6 || got > want+1e-6 {
			t.Errorf("%v %% of the target were reached, want %v", got, want)
		}
	})
}

// TestTargetMissed: a server that takes 10 rows in 100 ms can't take 200 a second.
func TestTargetMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openFake(t, fake.Config{KeepRows: true, Latency: 100 * time.Millisecond})
		b := newBench(t, oneClient(), db)
		mustDo(t, b, loadStep(10, 3))
		s := ibench.DefaultWrite()
		s.Rate, s.Seconds, s.Readers, s.RowsPerCommit = 200, 5, 0, 10
		done := mustDo(t, b, s)[0]
		if !results.Missed(&done) || *done.Metrics["target_percent"].Value != 50 {
			t.Errorf("%v %% of the target, missed %v, want 50 and true", *done.Metrics["target_percent"].Value, results.Missed(&done))
		}
		if late := *done.Metrics["late_operations"].Value; late < 45 {
			t.Errorf("%v operations were late, want nearly all 50", late)
		}
	})
}

// TestUnknownInsertEndsTheStep: it is sent once, counted as unknown, and no
// later step goes on as if nothing had been.
func TestUnknownInsertEndsTheStep(t *testing.T) {
	// The load has 10 statements; the fault is in the third of the next step.
	db := openFake(t, fake.Config{KeepRows: true, Faults: []fake.Fault{{Statement: 13, Class: drivers.Unknown, Code: "lost", Kept: true}}})
	b := newBench(t, oneClient(), db)
	mustDo(t, b, loadStep(100, 3))
	s := ibench.DefaultWrite()
	s.Rows, s.RowsPerCommit = 100, 10
	done, err := b.Do(context.Background(), s)
	if err == nil || len(done) != 1 || done[0].Complete {
		t.Fatalf("the step gave %+v, %v", done, err)
	}
	if got := done[0].Clients[0].RowsUnknown; got != 10 {
		t.Errorf("%d rows are unknown, want 10", got)
	}
	if got := b.State.Clients[0].Inserted; got != 120 {
		t.Errorf("%d rows are acknowledged, want 120", got)
	}
	if db.Statements() != 13 {
		t.Errorf("%d statements were sent, want 13", db.Statements())
	}
	// The rows were kept: 130 are there, 120 acknowledged and 10 unknown.
	if v, err := b.Verify(t.Context()); err != nil {
		t.Errorf("Verify gave %+v, %v", v, err)
	}
}

func TestStepsRefused(t *testing.T) {
	shared := paired()
	shared.Tables = 1
	deletes := ibench.DefaultWrite()
	deletes.Deletes, deletes.Rows = true, 10
	if err := deletes.Validate(shared); err == nil || !strings.Contains(err.Error(), "table per client") {
		t.Errorf("deletes from a shared table gave %v", err)
	}
	endless := ibench.DefaultWrite()
	if err := endless.Validate(shared); err == nil || !strings.Contains(err.Error(), "no end") {
		t.Errorf("a step without an end gave %v", err)
	}
	b := newBench(t, paired(), openFake(t, fake.Config{KeepRows: true}))
	if err := b.Attach(t.Context()); !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("tables that aren't there gave %v", err)
	}
	mustDo(t, b, loadStep(100, 0))
	s := ibench.DefaultWrite()
	s.Rows = 10
	if _, err := b.Do(t.Context(), s); !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("range queries without an index gave %v", err)
	}
}

// TestEngineThatKeepsNothing: it can be measured, and there is nothing to
// delete from it.
func TestEngineThatKeepsNothing(t *testing.T) {
	db := openFake(t, fake.Config{KeepsNothing: true, KeepRows: true})
	b := newBench(t, paired(), db)
	mustDo(t, b, loadStep(100, 3))
	mustDo(t, b, ibench.Step{Name: "scan", Do: ibench.ActionScan})
	s := ibench.DefaultWrite()
	s.Rows = 100
	for _, s.Query = range []ibench.QueryKind{ibench.RangeQueries, ibench.PointQueries} {
		mustDo(t, b, s)
	}
	if v, err := b.Verify(t.Context()); err != nil || v.Note == "" {
		t.Errorf("Verify gave %+v, %v", v, err)
	}
	if err := newBench(t, paired(), db).Attach(t.Context()); err != nil {
		t.Errorf("Attach: %v", err)
	}
	s.Deletes = true
	if _, err := b.Do(t.Context(), s); !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("deletes gave %v", err)
	}
}
