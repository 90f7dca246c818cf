package ibench_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/fake"
	"insertbench/ibench"
)

// holdable is the fake database with transactions that can stay open. A page
// takes a tenth of a second and has as many rows as it may.
type holdable struct {
	*fake.Server
	opened []*held
	fails  int  // the page of that number fails, from 1
	hangs  bool // no page but the first is ever answered
}

type held struct {
	db     *holdable
	began  []time.Time
	pages  int
	closed bool
}

func (h *holdable) OpenLong(context.Context, string) (ibench.LongTransaction, error) {
	h.opened = append(h.opened, &held{db: h})
	return h.opened[len(h.opened)-1], nil
}

func (t *held) Begin(context.Context) error { t.began = append(t.began, time.Now()); return nil }
func (t *held) Commit() error               { return nil }
func (t *held) Close() error                { t.closed = true; return nil }

func (t *held) Page(ctx context.Context, rows int) (int, error) {
	time.Sleep(100 * time.Millisecond)
	if t.db.hangs && t.pages > 0 {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	if t.pages++; t.pages == t.db.fails {
		return 0, errors.New("snapshot too old")
	}
	return rows, nil
}

// TestLongTransactions: in a step of 10 s a transaction held for 3 s and
// followed by the next page of 0.1 s is committed at 3.0, 6.1 and 9.2 s; the
// reader's, whose pages of 0.1 s end at each tenth, at 4.0 and 8.1 s. The first
// of each is open before the step.
func TestLongTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &holdable{Server: openFake(t, fake.Config{KeepRows: true, Latency: time.Millisecond})}
		b := newBench(t, oneClient(), db)
		mustDo(t, b, loadStep(100, 3))
		if len(db.opened) != 0 {
			t.Fatal("a load that wasn't asked for it held a transaction open")
		}
		s := ibench.DefaultWrite()
		s.Rate, s.Seconds, s.Readers, s.HTAPSeconds, s.LongReaderSeconds = 100, 10, 0, 3, 4
		if err := b.Check(t.Context(), []ibench.Step{s}); err != nil {
			t.Fatal(err)
		}
		done := mustDo(t, b, s)[0]
		if got := *done.Metrics["htap_transactions"].Value; got != 3 {
			t.Errorf("%v transactions were held, want 3", got)
		}
		if got := *done.Metrics["long_reader_transactions"].Value; got != 2 {
			t.Errorf("%v transactions were read in, want 2", got)
		}
		if len(db.opened) != 2 || !db.opened[0].closed || !db.opened[1].closed {
			t.Fatalf("%d connections, or some left open", len(db.opened))
		}
		for _, h := range db.opened {
			if !h.began[0].Before(done.StartedUTC) {
				t.Errorf("the first transaction began at %v, the step at %v", h.began[0], done.StartedUTC)
			}
		}
		// The one that is held has a page for each begin, and one at the end.
		if h := db.opened[0]; len(h.began) != 4 || h.pages != 5 {
			t.Errorf("%d transactions with %d pages, want 4 and 5", len(h.began), h.pages)
		}
		// Nothing is held in a step after it.
		mustDo(t, b, func() ibench.Step { s := s; s.Long = ibench.Long{}; return s }())
		if len(db.opened) != 2 {
			t.Error("a step that wasn't asked for it held a transaction open")
		}
	})
}

// TestLongTransactionFails: the step ends and says why.
func TestLongTransactionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &holdable{Server: openFake(t, fake.Config{KeepRows: true, Latency: time.Millisecond}), fails: 3}
		b := newBench(t, oneClient(), db)
		mustDo(t, b, loadStep(100, 3))
		s := ibench.DefaultWrite()
		s.Rate, s.Seconds, s.Readers, s.LongReaderSeconds = 100, 1000, 0, 500
		steps, err := b.Do(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), "read in a long transaction: snapshot too old") || len(steps) != 1 || steps[0].Complete {
			t.Errorf("%v, %+v", err, slices.Clone(steps))
		}
	})
}

// TestLongTransactionLost: one that is idle until the step ends, and is gone
// by then, was not held; the step has all it measured, and isn't complete.
func TestLongTransactionLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &holdable{Server: openFake(t, fake.Config{KeepRows: true, Latency: time.Millisecond}), fails: 2}
		b := newBench(t, oneClient(), db)
		mustDo(t, b, loadStep(100, 3))
		s := ibench.DefaultWrite()
		s.Rate, s.Seconds, s.Readers, s.HTAPSeconds = 100, 10, 0, 60
		steps, err := b.Do(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), "read in a long transaction: snapshot too old") || len(steps) != 1 || steps[0].Complete {
			t.Fatalf("%v, %+v", err, steps)
		}
		if got := *steps[0].Metrics["rows"].Value; got != 1000 {
			t.Errorf("%v rows in the step, want 1000", got)
		}
	})
}

// TestLongTransactionHangs: a server that doesn't answer is waited for 5 s.
func TestLongTransactionHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &holdable{Server: openFake(t, fake.Config{KeepRows: true, Latency: time.Millisecond}), hangs: true}
		b := newBench(t, oneClient(), db)
		mustDo(t, b, loadStep(100, 3))
		s := ibench.DefaultWrite()
		s.Rate, s.Seconds, s.Readers, s.HTAPSeconds = 100, 10, 0, 60
		began := time.Now()
		mustDo(t, b, s)
		// The first page takes 0.1 s.
		if took := time.Since(began); took < 15*time.Second || took > 16*time.Second {
			t.Errorf("it took %v, want 10 s, 5 s and the first page", took)
		}
	})
}

// TestLongTransactionsRefused: where there are none, before anything is touched.
func TestLongTransactionsRefused(t *testing.T) {
	b := newBench(t, oneClient(), openFake(t, fake.Config{KeepRows: true}))
	s := ibench.DefaultWrite()
	s.Seconds, s.HTAPSeconds = 1, 1
	if err := b.Check(t.Context(), []ibench.Step{s}); !errors.Is(err, drivers.ErrConfig) || !strings.Contains(err.Error(), "--htap-seconds") {
		t.Errorf("the fake database gave %v", err)
	}
	s.HTAPSeconds = -1
	if err := s.Validate(b.Config); err == nil {
		t.Error("a negative time was taken")
	}
}
