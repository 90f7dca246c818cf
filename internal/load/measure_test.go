package load

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const ms = time.Millisecond

func TestWindowIsFirstSendToLastAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Worker 0 prepares for 0.5 s and has answers at 1.5, 2.5 and 3.5 s.
		// Worker 1 prepares for 0.2 s, sends, and fails at 3.2 s without an
		// answer: its send still is the first. Worker 0 finishes what is under way.
		w0 := lasting(-1, always(time.Second))
		w0.prepare = func(n int) {
			if n == 0 {
				time.Sleep(500 * ms)
			}
		}
		w1 := scripted(-1, func(int, *Recorder) (Done, error) {
			time.Sleep(3 * time.Second)
			return Done{Units: 7}, errors.New("gone away")
		})
		w1.prepare = func(int) { time.Sleep(200 * ms) }
		started, ended := time.Time{}, time.Time{}
		res, err := Run{
			Ops: []string{"insert"}, Workers: []Worker{{Task: w0}, {Task: w1}},
			OnStart: func() { time.Sleep(time.Minute); started = time.Now() },
			OnEnd:   func() { ended = time.Now(); time.Sleep(time.Minute) },
		}.Do(t.Context())
		var failed *WorkerError
		if !errors.As(err, &failed) || failed.Worker != 1 {
			t.Errorf("error %v, want worker 1's", err)
		}
		if res.FirstSent != 200*ms || res.LastAck != 3_500*ms || res.Window() != 3_300*ms {
			t.Errorf("window %v to %v, want 200ms to 3.5s", res.FirstSent, res.LastAck)
		}
		if got := ended.Sub(started); got != 3_500*ms {
			t.Errorf("OnEnd %v after OnStart, want right after the last answer at 3.5s", got)
		}
		if res.Units() != 3 || res.Workers[1].Ops != 0 {
			t.Errorf("%d units, want the 3 acknowledged ones", res.Units())
		}
	})
}

func TestNothingAcknowledgedHasNoWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		task := scripted(-1, func(int, *Recorder) (Done, error) {
			time.Sleep(time.Second)
			return Done{}, errors.New("no")
		})
		res, _ := Run{Ops: []string{"insert"}, Workers: []Worker{{Task: task}}}.Do(t.Context())
		if res.FirstSent != 0 || res.LastAck != 0 {
			t.Errorf("window %v to %v, want none", res.FirstSent, res.LastAck)
		}
	})
}

func TestIntervalsSumToTotals(t *testing.T) {
	sums := func(seed uint64) (same bool) {
		synctest.Test(t, func(t *testing.T) {
			var got []seen
			run := Run{Ops: []string{"insert", "query", "never"}, OnTick: keep(&got)}
			for i := range 4 {
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				w := Worker{Task: scripted(rng.IntN(300), func(int, *Recorder) (Done, error) {
					time.Sleep(time.Duration(rng.ExpFloat64() * float64(50*ms)))
					return Done{Op: rng.IntN(2), Units: rng.Int64N(100)}, nil
				})}
				if i%2 == 0 {
					w.Pacer = &Poisson{PerSecond: 25, Batch: 1, Seed: seed}
					w.DropAfter = 300 * ms
				}
				run.Workers = append(run.Workers, w)
			}
			res, err := run.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			same = sumOf(t, got, run, res)
		})
		return same
	}
	if err := quick.Check(sums, &quick.Config{MaxCount: 30}); err != nil {
		t.Error(err)
	}
}

// sumOf compares intervals added up with the result's totals.
func sumOf(t *testing.T, got []seen, run Run, res *Result) bool {
	workers := make([]WorkerResult, len(run.Workers))
	ops := make([]OpResult, len(run.Ops))
	for i := range ops {
		ops[i] = OpResult{Name: run.Ops[i], Service: NewHistogram(), Response: NewHistogram()}
	}
	var end time.Duration
	var stalls int64
	for i, iv := range got {
		if iv.Index != i || iv.Start != end || iv.Full != (i < len(got)-1) {
			t.Logf("interval %d: index %d, start %v after %v, full %v", i, iv.Index, iv.Start, end, iv.Full)
			return false
		}
		end = iv.End
		stalls += int64(len(iv.Stalled))
		for j, w := range iv.Workers {
			workers[j].Ops += w.Ops
			workers[j].Units += w.Units
			workers[j].MaxUS = max(workers[j].MaxUS, w.MaxUS)
			workers[j].Pace.add(w.Pace)
		}
		for j, op := range iv.Ops {
			ops[j].Count += op.Count
			ops[j].Units += op.Units
			ops[j].MaxUS = max(ops[j].MaxUS, op.MaxUS)
			ops[j].MaxResponseUS = max(ops[j].MaxResponseUS, op.MaxResponseUS)
			ops[j].Service.Merge(iv.service[j])
			ops[j].Response.Merge(iv.response[j])
		}
	}
	for j, op := range ops {
		if !op.Service.Equals(res.Ops[j].Service) || !op.Response.Equals(res.Ops[j].Response) ||
			op.Service.TotalCount() != op.Count || op.Response.TotalCount() != op.Count {
			t.Logf("histograms of %s don't add up", op.Name)
			return false
		}
		var inBuckets int64
		for _, n := range res.Ops[j].Buckets {
			inBuckets += n
		}
		if inBuckets != op.Count {
			t.Logf("buckets of %s hold %d, want %d", op.Name, inBuckets, op.Count)
			return false
		}
	}
	notSummed := []cmp.Option{
		cmpopts.IgnoreFields(WorkerResult{}, "Rates"),
		cmpopts.IgnoreFields(OpResult{}, "MeanUS", "Buckets", "Service", "Response"),
	}
	diff := cmp.Diff(res.Workers, workers, notSummed...) + cmp.Diff(res.Ops, ops, notSummed...)
	if diff != "" || stalls != res.StalledSeconds {
		t.Logf("result and sum of intervals differ:\n%s%d and %d stalls", diff, res.StalledSeconds, stalls)
		return false
	}
	return true
}

func TestLateTickHasItsRealLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// One operation takes 73 ms, so none ends on a tick before 73 s. The
		// tick at 1 s takes until 3.5 s; the one that was due at 2 s comes
		// then; the grid goes on at 5 s, as 4 s is less than nine tenths away.
		var got []seen
		kept := keep(&got)
		res, err := Run{
			Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(73*ms))}}, Limit: 6 * time.Second,
			OnTick: func(iv *Interval) error {
				if iv.Index == 0 {
					time.Sleep(2_500 * ms)
				}
				return kept(iv)
			},
		}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// 13 × 73 = 949, 47 × 73 = 3,431, 68 × 73 = 4,964, 82 × 73 = 5,986,
		// and the one under way at the limit ends at 83 × 73 = 6,059 ms.
		for i, want := range []struct {
			start, end time.Duration
			full       bool
			ops        int64
		}{
			{0, 1_000 * ms, true, 13},
			{1_000 * ms, 3_500 * ms, true, 34},
			{3_500 * ms, 5_000 * ms, true, 21},
			{5_000 * ms, 6_000 * ms, true, 14},
			{6_000 * ms, 6_059 * ms, false, 1},
		} {
			if i >= len(got) {
				t.Fatalf("%d intervals, want 5", len(got))
			}
			iv := got[i]
			if iv.Start != want.start || iv.End != want.end || iv.Full != want.full || iv.Units() != want.ops || len(iv.Stalled) != 0 {
				t.Errorf("interval %d is %v to %v, full %v, %d units, stalled %v, want %+v",
					i, iv.Start, iv.End, iv.Full, iv.Units(), iv.Stalled, want)
			}
		}
		// 34 ÷ 2.5 = 13.6, 21 ÷ 1.5 = 14.
		if want := []float32{13, 13.6, 14, 14}; !slices.Equal(res.Workers[0].Rates, want) {
			t.Errorf("rates %v, want %v", res.Workers[0].Rates, want)
		}
	})
}

func TestTickIsNeverFollowedByAStub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The first tick takes until 1.95 s, which makes the second one no
		// later than due; the third takes until 4.95 s, so that the fourth
		// would leave 50 ms to the grid's 5 s, in which nobody answers.
		var got []seen
		kept := keep(&got)
		_, err := Run{
			Ops: []string{"insert"}, Workers: []Worker{{Task: lasting(-1, always(700*ms))}}, Limit: 6_200 * ms,
			OnTick: func(iv *Interval) error {
				time.Sleep(map[int]time.Duration{0: 950 * ms, 2: 1_950 * ms}[iv.Index])
				return kept(iv)
			},
		}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var ends []time.Duration
		for _, iv := range got {
			ends = append(ends, iv.End)
			if len(iv.Stalled) > 0 {
				t.Errorf("interval %v to %v looks stalled", iv.Start, iv.End)
			}
		}
		// 6.3 s is the answer that the limit waits for.
		want := []time.Duration{1_000 * ms, 2_000 * ms, 3_000 * ms, 4_950 * ms, 6_000 * ms, 6_300 * ms}
		if !slices.Equal(ends, want) {
			t.Errorf("intervals end at %v, want %v", ends, want)
		}
	})
}

func TestEndedWorkersHaveNeitherRateNorStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Worker 0 ends at 1.2 s while the clock is held up from 1 to 3.5 s.
		var got []seen
		kept := keep(&got)
		res, err := Run{
			Ops:     []string{"insert"},
			Workers: []Worker{{Task: lasting(2, always(600*ms))}, {Task: lasting(7, always(600*ms))}},
			OnTick: func(iv *Interval) error {
				if iv.Index == 0 {
					time.Sleep(2_500 * ms)
				}
				return kept(iv)
			},
		}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Worker 1 answers every 0.6 s until 4.2 s: 1 in [0,1], 4 in [1,3.5].
		if a, b := res.Workers[0].Rates, res.Workers[1].Rates; !slices.Equal(a, []float32{1}) || !slices.Equal(b, []float32{1, 1.6}) {
			t.Errorf("rates %v and %v, want [1] and [1 1.6]", a, b)
		}
		if res.StalledSeconds != 0 {
			t.Errorf("%d stalls, want none", res.StalledSeconds)
		}
		if last := got[len(got)-1]; last.Full || last.End != 4_200*ms {
			t.Errorf("last interval ends at %v, full %v", last.End, last.Full)
		}
	})
}

func TestStalledWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stall := func(n int) time.Duration {
			if n == 1 {
				return 3 * time.Second
			}
			return 10 * ms
		}
		var got []seen
		res, err := Run{
			Ops: []string{"insert"}, OnTick: keep(&got), Limit: 6 * time.Second,
			Workers: []Worker{
				// Operation 1 is sent at 0.01 s and answered at 3.01 s: no
				// answer in [1,2] and [2,3].
				{Task: lasting(-1, stall)},
				// One operation every 2.5 s waits for its turn most of the
				// time, which is no stall.
				{Task: lasting(-1, always(10*ms)), Pacer: Constant{4, 10}},
				// Operation 1 is due at 1.25 s and answered at 4.25 s: no
				// answer in [1,2], but it wasn't due all through it; in
				// [2,3] and [3,4] it was.
				{Task: lasting(-1, stall), Pacer: Constant{4, 5}},
			},
		}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var stalled [][]int
		for _, iv := range got {
			stalled = append(stalled, iv.Stalled)
		}
		want := [][]int{nil, {0}, {0, 2}, {2}, nil, nil, nil}
		if diff := cmp.Diff(want, stalled, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("stalled workers by second (-want +got):\n%s", diff)
		}
		if res.StalledSeconds != 4 {
			t.Errorf("%d stalled seconds, want 4", res.StalledSeconds)
		}
	})
}
