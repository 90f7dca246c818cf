package ibench_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"insertbench/drivers/fake"
	"insertbench/ibench"
	"insertbench/results"
)

// operation finds one of a step's operations by its service time.
func operation(s results.Step, name string) results.Operation {
	for _, op := range s.Operations {
		if op.Name == name && op.Kind == results.KindService {
			return op
		}
	}
	return results.Operation{}
}

// TestWhatStepsDo: each key of a step changes what is sent, as computed by
// hand, on one client and 1,000 rows that are there before.
func TestWhatStepsDo(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*ibench.Step)
		inserts int64
		rows    float64
		queries int64
		fetched float64 // per query
	}{
		{"rows and batch: 7 and 7 and 6", func(s *ibench.Step) { s.Rows, s.RowsPerCommit, s.Readers = 20, 7, 0 }, 3, 20, 0, 0},
		{"whichever comes first, rows", func(s *ibench.Step) { s.Rows, s.Seconds, s.Rate, s.RowsPerCommit, s.Readers = 50, 100, 10, 10, 0 }, 5, 50, 0, 0},
		{"whichever comes first, seconds", func(s *ibench.Step) { s.Rows, s.Seconds, s.Rate, s.RowsPerCommit, s.Readers = 5000, 3, 10, 10, 0 }, 3, 30, 0, 0},
		{"3 readers at 20 a second for 2 s", func(s *ibench.Step) { s.Writers, s.Seconds, s.Readers, s.QueryRate = 0, 2, 3, 20 }, 0, -1, 120, 10},
		{"5 rows a query", func(s *ibench.Step) { s.Writers, s.Seconds, s.QueryRate, s.RowsPerQuery = 0, 2, 20, 5 }, 0, -1, 40, 5},
		{"points", func(s *ibench.Step) { s.Writers, s.Seconds, s.QueryRate, s.Query = 0, 2, 20, ibench.PointQueries }, 0, -1, 40, 10},
		// From 0 to 100 a second in 2 s are 100 rows by then: 10 statements, of which the first is due at once.
		{"a ramp from nothing", func(s *ibench.Step) {
			s.Seconds, s.Rate, s.Pacing, s.RowsPerCommit, s.Readers = 2, 100, ibench.RampPacing, 10, 0
		}, 10, 100, 0, 0},
		// From 50 to 100 a second in 2 s are 150 rows.
		{"a ramp from half", func(s *ibench.Step) {
			s.Seconds, s.Rate, s.Pacing, s.RampFrom, s.RowsPerCommit, s.Readers = 2, 100, ibench.RampPacing, 50, 10, 0
		}, 15, 150, 0, 0},
		// Half a second of ramp has 25 rows, the other 1.5 s have 150: 17.5 statements are due, 18 with the first.
		{"a short ramp", func(s *ibench.Step) {
			s.Seconds, s.Rate, s.Pacing, s.RampSeconds, s.RowsPerCommit, s.Readers = 2, 100, ibench.RampPacing, 0.5, 10, 0
		}, 18, 180, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := openFake(t, fake.Config{KeepRows: true})
				b := newBench(t, oneClient(), db)
				mustDo(t, b, loadStep(1000, 3))
				s := ibench.DefaultWrite()
				c.change(&s)
				done := mustDo(t, b, s)[0]
				rows := -1.0
				if v := done.Metrics["rows"].Value; v != nil {
					rows = *v
				}
				if got := operation(done, "insert").Count; got != c.inserts || c.rows >= 0 && rows != c.rows {
					t.Errorf("%d statements inserted %v rows, want %d and %v", got, rows, c.inserts, c.rows)
				}
				if got := operation(done, "query").Count; got != c.queries {
					t.Errorf("%d queries, want %d", got, c.queries)
				}
				if v := done.Metrics["fetched_rows_per_query"].Value; c.fetched > 0 && (v == nil || *v < c.fetched*0.9 || *v > c.fetched) {
					t.Errorf("%v rows a query, want about %v: few begin near an index's end", v, c.fetched)
				}
			})
		})
	}
}

// TestPoissonIsNotSteady: the same mean, other gaps, and the same ones again.
func TestPoissonIsNotSteady(t *testing.T) {
	starts := func() []time.Duration {
		var out []time.Duration
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			began := time.Now()
			db := openFake(t, fake.Config{KeepRows: true, LatencyOf: func(int64) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, time.Since(began))
				return 0
			}})
			b := newBench(t, oneClient(), db)
			mustDo(t, b, loadStep(10, 3))
			out, began = nil, time.Now()
			s := ibench.DefaultWrite()
			s.Seconds, s.Rate, s.RowsPerCommit, s.Readers, s.Pacing = 100, 100, 10, 0, ibench.PoissonPacing
			mustDo(t, b, s)
		})
		return out
	}
	first, again := starts(), starts()
	// 10 a second for 100 s: 1,000, with a standard deviation of 32.
	if len(first) < 900 || len(first) > 1100 {
		t.Errorf("%d statements, want about 1,000", len(first))
	}
	shorter := 0
	for i := 1; i < len(first); i++ {
		if first[i]-first[i-1] < 100*time.Millisecond {
			shorter++
		}
	}
	// 1 − 1/e = 63 % of exponential gaps are shorter than their mean.
	if share := float64(shorter) / float64(len(first)); share < 0.55 || share > 0.71 {
		t.Errorf("%.0f %% of the gaps are shorter than the mean, want about 63", 100*share)
	}
	if len(again) != len(first) || again[len(again)-1] != first[len(first)-1] {
		t.Error("the same seed gave other starts")
	}
}

// TestDroppedAndLate: statement 21, the first of the step after the load of 20, takes
// 5 s while one is due every 100 ms.
func TestDroppedAndLate(t *testing.T) {
	for _, dropAfter := range []float64{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			db := openFake(t, fake.Config{KeepRows: true, LatencyOf: func(n int64) time.Duration {
				if n == 21 {
					return 5 * time.Second
				}
				return 0
			}})
			b := newBench(t, oneClient(), db)
			mustDo(t, b, loadStep(200, 3))
			s := ibench.DefaultWrite()
			s.Seconds, s.Rate, s.RowsPerCommit, s.Readers, s.DropAfter = 20, 100, 10, 0, dropAfter
			done := mustDo(t, b, s)[0]
			count := operation(done, "insert").Count
			dropped := *done.Metrics["dropped_operations"].Value
			// 200 are due in 20 s. At 5 s those due before 4 s are more than 1 s
			// overdue: numbers 1 to 39.
			wantDropped := 0.0
			if dropAfter > 0 {
				wantDropped = 39
			}
			if dropped != wantDropped || float64(count)+dropped != 200 {
				t.Errorf("drop-after %v: %d were sent and %v dropped, want %v dropped of 200", dropAfter, count, dropped, wantDropped)
			}
			for _, op := range done.Operations {
				if op.Kind == results.KindResponse && dropAfter == 0 && (*op.P50US > 200_000 || *op.P75US < 1_000) {
					// Half a gap apart the backlog of 49 is worked off by 9.9 s: half of all are on time, a quarter is not.
					t.Errorf("response times: p50 %d us, p75 %d us", *op.P50US, *op.P75US)
				}
				if op.Kind == results.KindService && *op.P99US > 1_000 {
					t.Errorf("service time p99 is %d us: one statement in 200 is slow", *op.P99US)
				}
			}
		})
	}
}
