package load

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		pacer Pacer
		// took is how long each operation takes.
		took      time.Duration
		ops       int64
		lastAck   time.Duration
		intervals int
	}{
		// 100 a second for 3 s: the one due at 3 s isn't sent.
		{"paced", Constant{100, 1}, ms, 300, 2_991 * ms, 4},
		// The one that is sent at 2.98 s finishes.
		{"unpaced", nil, 149 * ms, 21, 3_129 * ms, 4},
		// An answer at the limit itself ends the worker.
		{"unpaced, even", nil, 100 * ms, 30, 3_000 * ms, 4},
		// Behind its schedule, a worker stops too.
		{"overload", Constant{100, 1}, 149 * ms, 21, 3_129 * ms, 4},
		// A schedule of one operation in 100 s doesn't hold up the end.
		{"asleep", Constant{1, 100}, ms, 1, ms, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []seen
				res, err := Run{
					Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(c.took)), Pacer: c.pacer}},
					Limit: 3 * time.Second, OnTick: keep(&got),
				}.Do(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if res.Ops[0].Count != c.ops || res.LastAck != c.lastAck {
					t.Errorf("%d operations until %v, want %d until %v", res.Ops[0].Count, res.LastAck, c.ops, c.lastAck)
				}
				// Three full seconds, the one that ends with the limit among them.
				if len(got) != c.intervals || len(res.Workers[0].Rates) != 3 {
					t.Errorf("%d intervals, %d rates, want %d and 3", len(got), len(res.Workers[0].Rates), c.intervals)
				}
			})
		})
	}
}

func TestLimitHoldsThoughTheClockIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res, err := Run{
			Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(70*ms))}}, Limit: 2 * time.Second,
			OnTick: func(iv *Interval) error {
				if iv.Index == 0 {
					time.Sleep(time.Minute)
				}
				return nil
			},
		}.Do(t.Context())
		// 29 × 70 = 2,030
		if err != nil || res.LastAck != 2_030*ms {
			t.Errorf("last answer at %v, error %v, want 2.03s", res.LastAck, err)
		}
	})
}

func TestTickComesBeforeTheLimit(t *testing.T) {
	// The clock is held up from 2 to 3.2 s, past the tick and the limit at
	// 3 s. Which one it sees first must not be a matter of chance.
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			res, err := Run{
				Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(70*ms))}}, Limit: 3 * time.Second,
				OnTick: func(iv *Interval) error {
					if iv.Index == 1 {
						time.Sleep(1_200 * ms)
					}
					return nil
				},
			}.Do(t.Context())
			if err != nil || len(res.Workers[0].Rates) != 3 {
				t.Errorf("%d rates, error %v, want those of 3 full intervals", len(res.Workers[0].Rates), err)
			}
		})
	}
}

func TestEndOfASchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// 10 a second down to 0 in 2 s are 10 operations, and the one due at
		// 2 s: then there is nothing to wait for.
		res, err := Run{Ops: []string{"insert"}, Workers: []Worker{
			{Task: lasting(-1, always(ms)), Pacer: Ramp{10, 0, 2 * time.Second, 1}},
		}}.Do(t.Context())
		if err != nil || res.Ops[0].Count != 11 {
			t.Errorf("%d operations, error %v, want 11", res.Ops[0].Count, err)
		}
	})
}

var errAsked = errors.New("asked to stop")

func TestCancelLetsOperationsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errAsked) })
		busy, asleep := lasting(-1, always(300*ms)), lasting(-1, always(ms))
		res, err := Run{Ops: []string{"insert"}, Workers: []Worker{
			{Task: busy}, {Task: asleep, Pacer: Constant{1, 60}},
		}}.Do(ctx)
		if !errors.Is(err, errAsked) {
			t.Errorf("error %v, want the context's cause", err)
		}
		if res.LastAck != 1_200*ms || res.Workers[0].Ops != 4 || res.Workers[1].Ops != 1 {
			t.Errorf("last answer at %v, %d and %d operations", res.LastAck, res.Workers[0].Ops, res.Workers[1].Ops)
		}
		select {
		case <-busy.aborted:
			t.Error("aborted though it finished within the grace")
		default:
		}
	})
}

func TestCancelledBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errAsked)
		res, err := Run{Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(ms))}}}.Do(ctx)
		if !errors.Is(err, errAsked) || res.Ops[0].Count != 0 {
			t.Errorf("%d operations, error %v, want none and the cause", res.Ops[0].Count, err)
		}
	})
}

func TestAbortAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errAsked) })
		var task *script
		task = scripted(-1, func(n int, rec *Recorder) (Done, error) {
			if n < 5 {
				time.Sleep(100 * ms)
				return Done{Units: 10}, nil
			}
			<-task.aborted
			rec.Unknown(10)
			return Done{}, errors.New("connection closed")
		})
		start := time.Now()
		res, err := Run{Ops: []string{"insert"}, Workers: []Worker{{Task: task}}, Grace: 3 * time.Second}.Do(ctx)
		if !errors.Is(err, errAsked) {
			t.Errorf("error %v, want the first reason", err)
		}
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("ended after %v, want the 1 s and a grace of 3", took)
		}
		w := res.Workers[0]
		if w.Units != 50 || w.Unknown != 10 || w.Hung || w.Err == nil {
			t.Errorf("%+v, want 50 acknowledged, 10 unknown, an error", w)
		}
	})
}

func TestHangIsGivenUp(t *testing.T) {
	for _, c := range []struct {
		name  string
		abort func(release chan struct{}) func()
	}{
		{"abort without effect", func(chan struct{}) func() { return nil }},
		{"abort hangs too", func(release chan struct{}) func() { return func() { <-release } }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				hung := scripted(-1, func(n int, rec *Recorder) (Done, error) {
					rec.Sending(7)
					if n == 1 {
						<-release
					}
					time.Sleep(100 * ms)
					return Done{Units: 1}, nil
				})
				hung.abort = c.abort(release)
				var got []seen
				start := time.Now()
				run := Run{
					Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(100*ms))}, {Task: hung}},
					Limit: 1_050 * ms, Grace: 2 * time.Second, OnTick: keep(&got),
				}
				res, err := run.Do(t.Context())
				if err == nil || !strings.Contains(err.Error(), "1 of 2 workers did not return within 4s") {
					t.Errorf("error %v", err)
				}
				if took := time.Since(start); took != 5_050*ms {
					t.Errorf("ended after %v, want 1.05 s and twice the grace", took)
				}
				if res.Workers[0].Hung || !res.Workers[1].Hung {
					t.Error("want worker 1 hung, and worker 0 not")
				}
				if res.Workers[0].Unknown != 0 || res.Workers[1].Unknown != 7 {
					t.Errorf("%d and %d units unknown, want 0 and the 7 under way", res.Workers[0].Unknown, res.Workers[1].Unknown)
				}
				// What it does later changes nothing.
				before := res.Workers[1].Units
				close(release)
				time.Sleep(time.Second)
				if res.Units() != 12 || res.Workers[1].Units != before || !sumOf(t, got, run, withoutHung(res)) {
					t.Errorf("%d units, want 11 and 1", res.Units())
				}
			})
		})
	}
}

// withoutHung is a result whose workers compare equal to sums of intervals.
func withoutHung(res *Result) *Result {
	for i := range res.Workers {
		res.Workers[i].Hung = false
		res.Workers[i].Unknown = 0 // no interval has what was under way
	}
	return res
}

func TestAbortThatHangsDoesNotDelayTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The operation returns when it is aborted, the call of Abort later
		// than the second grace.
		var task *script
		task = scripted(-1, func(int, *Recorder) (Done, error) {
			<-task.aborted
			return Done{}, errors.New("closed")
		})
		task.abort = func() { time.Sleep(time.Minute) }
		start := time.Now()
		var ended time.Duration
		_, err := Run{
			Ops: []string{"insert"}, Workers: []Worker{{Task: task}}, Limit: time.Second, Grace: time.Second,
			OnEnd: func() { ended = time.Since(start) },
		}.Do(t.Context())
		if err == nil || ended != 2*time.Second || time.Since(start) != 3*time.Second {
			t.Errorf("workers ended at %v, run at %v, error %v", ended, time.Since(start), err)
		}
		time.Sleep(time.Minute)
	})
}

func TestFirstErrorStopsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("table is full")
		failing := scripted(-1, func(n int, rec *Recorder) (Done, error) {
			time.Sleep(250 * ms)
			if n == 3 {
				rec.Error("1114", "fatal")
				rec.Refused(100)
				return Done{}, refused
			}
			return Done{Units: 100}, nil
		})
		// It is in the middle of an operation at 1 s, and fails too, later.
		other := scripted(-1, func(n int, _ *Recorder) (Done, error) {
			time.Sleep(700 * ms)
			if n == 1 {
				return Done{}, errors.New("later")
			}
			return Done{Units: 100}, nil
		})
		asleep := lasting(-1, always(ms))
		res, err := Run{Ops: []string{"insert"}, Workers: []Worker{
			{Task: other}, {Task: failing}, {Task: asleep, Pacer: Constant{1, 60}},
		}}.Do(t.Context())
		var failed *WorkerError
		if !errors.As(err, &failed) || failed.Worker != 1 || !errors.Is(err, refused) || err.Error() != "table is full" {
			t.Errorf("error %#v, want worker 1's", err)
		}
		if res.Workers[0].Err == nil || res.Workers[2].Err != nil || res.Workers[1].Refused != 100 || res.Units() != 401 {
			t.Errorf("%+v", res.Workers)
		}
	})
}

func TestCountsOfErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Each operation is retried once after a deadlock; the time of both
		// attempts counts. The last one's outcome is unknown.
		run := func(last int) *script {
			return scripted(last+1, func(n int, rec *Recorder) (Done, error) {
				time.Sleep(10 * ms)
				rec.Error("1213", "retryable")
				time.Sleep(10 * ms)
				if n == last {
					rec.Error("connection lost", "unknown outcome")
					rec.Unknown(100)
					return Done{}, errors.New("lost")
				}
				return Done{Units: 100}, nil
			})
		}
		res, _ := Run{Ops: []string{"insert"}, Workers: []Worker{{Task: run(4)}, {Task: run(4)}}}.Do(t.Context())
		want := []ErrorCount{
			{ErrorKey{"1213", "retryable"}, 10},
			{ErrorKey{"connection lost", "unknown outcome"}, 2},
		}
		if diff := cmp.Diff(want, res.Errors); diff != "" {
			t.Error(diff)
		}
		// Acknowledged and unknown are all that was sent.
		for i, w := range res.Workers {
			if w.Units+w.Unknown != 500 || w.Unknown != 100 {
				t.Errorf("worker %d: %d acknowledged, %d unknown, want 400 and 100", i, w.Units, w.Unknown)
			}
		}
		samePercentiles(t, "service", res.Ops[0].Service, map[float64]int64{0: 20, 100: 20})
	})
}

func TestOnTickStopsTheRun(t *testing.T) {
	full := errors.New("no space left on device")
	for _, c := range []struct {
		name   string
		onTick func(*Interval) error
		is     func(error) bool
	}{
		{"error", func(*Interval) error { return full }, func(err error) bool { return errors.Is(err, full) }},
		{"panic", func(*Interval) error { panic("index out of range") }, func(err error) bool {
			var p *PanicError
			return errors.As(err, &p)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				res, err := Run{
					Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(70*ms))}},
					OnTick: func(iv *Interval) error {
						calls++
						if iv.Index == 1 {
							return c.onTick(iv)
						}
						return nil
					},
				}.Do(t.Context())
				// 29 × 70 ms = 2.03 s; the last interval is handed over still.
				if !c.is(err) || res.LastAck != 2_030*ms || calls != 3 {
					t.Errorf("error %v, last answer at %v, %d calls", err, res.LastAck, calls)
				}
			})
		})
	}
}

func TestPanicIsAWorkersError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := scripted(-1, func(n int, _ *Recorder) (Done, error) {
			time.Sleep(100 * ms)
			if n == 2 {
				panic("row 7 is odd")
			}
			return Done{Units: 1}, nil
		})
		res, err := Run{Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(90*ms))}, {Task: broken}}}.Do(t.Context())
		var failed *WorkerError
		var p *PanicError
		if !errors.As(err, &failed) || failed.Worker != 1 || !errors.As(err, &p) {
			t.Fatalf("error %v, want worker 1's panic", err)
		}
		if p.Value != "row 7 is odd" || !strings.Contains(string(p.Stack), "TestPanicIsAWorkersError") {
			t.Errorf("panic %v has the stack\n%s", p.Value, p.Stack)
		}
		if strings.Contains(err.Error(), "goroutine") || !strings.Contains(err.Error(), "row 7 is odd") {
			t.Errorf("message %q", err)
		}
		if res.Workers[1].Units != 2 || res.Workers[0].Units != 4 {
			t.Errorf("%d and %d units, want 4 and 2", res.Workers[0].Units, res.Workers[1].Units)
		}
	})
}

func TestNoWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res, err := Run{Ops: []string{"insert"}}.Do(t.Context())
		if err != nil || res.Window() != 0 || len(res.Ops) != 1 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
