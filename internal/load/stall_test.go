package load

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The scripted stall: 100 operations a second for 20 s, each taking 1 ms but
// number 503, due at 5.03 s, that takes 5 s. Number 503+k is due at
// 5.03 s + 10k ms.
func stalled(t *testing.T, change func(*Worker)) (*Result, []seen) {
	t.Helper()
	w := Worker{Pacer: Constant{100, 1}}
	// A dropped operation has no number for the task, so it goes by the time.
	start := time.Now()
	w.Task = lasting(-1, func(int) time.Duration {
		if time.Since(start) == 5_030*ms {
			return 5 * time.Second
		}
		return ms
	})
	if change != nil {
		change(&w)
	}
	var got []seen
	res, err := Run{Ops: []string{"insert"}, Workers: []Worker{w}, Limit: 20 * time.Second, OnTick: keep(&got)}.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res, got
}

func TestStallIsChargedToAllItHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res, _ := stalled(t, nil)
		// After 10.03 s the backlog goes out every ms: number 503+k is sent
		// at 10.03 s + (k−1) ms, 4,999 − 9k ms after it was due, and answered
		// 5,000 − 9k ms after. k = 555 is the last one behind (4 ms), k = 556
		// is due at 10.59 s, when the worker is free. So of 2,000 response
		// times one is 5,000 ms, 555 are 4,991, 4,982 … 5, and 1,444 are 1.
		op := res.Ops[0]
		if op.Count != 2_000 {
			t.Fatalf("%d operations, want 2,000", op.Count)
		}
		// The value at p has (100−p) % of 2,000 values above it: the response
		// time with k values above it is 5,000 − 9k ms.
		samePercentiles(t, "response", op.Response, map[float64]int64{
			50: 1,     // rank 1,000 of 1,444
			75: 500,   // k = 500
			90: 3_200, // k = 200
			95: 4_100, // k = 100
			99: 4_820, // k = 20
			// k = 2
			99.9: 4_982, 100: 5_000,
		})
		// Service time shows one slow operation in 2,000 and nothing else.
		samePercentiles(t, "service", op.Service, map[float64]int64{50: 1, 75: 1, 90: 1, 95: 1, 99: 1, 99.9: 1, 100: 5_000})
		if op.MaxUS != 5_000_000 || op.MaxResponseUS != 5_000_000 {
			t.Errorf("slowest %d and %d µs, want 5 s", op.MaxUS, op.MaxResponseUS)
		}
		// (1,999 × 1 ms + 5,000 ms) ÷ 2,000
		if op.MeanUS != 3_499.5 {
			t.Errorf("mean %v µs, want 3499.5", op.MeanUS)
		}
		// 4,999 − 9k > 10 ms, the gap, for k = 1 … 554; 4,990 is the longest.
		if diff := cmp.Diff(Pace{Late: 554, MaxDelayUS: 4_990_000}, res.Pace()); diff != "" {
			t.Error(diff)
		}
		// Seconds 6 to 9 had no answer.
		if res.StalledSeconds != 4 {
			t.Errorf("%d stalled seconds, want 4", res.StalledSeconds)
		}
	})
}

func TestLateAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// 4,999 − 9k > 1,000 ms for k = 1 … 444.
		res, _ := stalled(t, func(w *Worker) { w.LateAfter = time.Second })
		if got := res.Pace().Late; got != 444 {
			t.Errorf("%d late, want 444", got)
		}
	})
}

func TestLateByDefaultIsAMillisecondAtLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// At 10,000 a second the gap is 0.1 ms. Operation 0 takes 1.5 ms, so
		// that 1 is sent 1.4 ms after it is due. The others take nothing: all
		// that were due go at once, 1 to 4 (due by 0.4 ms, 1.1 ms ago) late,
		// 5 (1.0 ms ago) and after not.
		task := lasting(20, func(n int) time.Duration {
			if n == 0 {
				return 1_500 * time.Microsecond
			}
			return 0
		})
		res, err := Run{Ops: []string{"insert"}, Workers: []Worker{{Task: task, Pacer: Constant{10_000, 1}}}}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Pace{Late: 4, MaxDelayUS: 1_400}, res.Pace()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDropAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res, got := stalled(t, func(w *Worker) { w.DropAfter = time.Second })
		// At 10.03 s all that were due before 9.03 s are dropped: k = 1 … 399.
		// 400+j is sent at 10.03 s + j ms, 1,000 − 9j ms after it was due, and
		// late (10 ms) for j = 0 … 109. All others are sent.
		want := Pace{Late: 110, Dropped: 399, MaxDelayUS: 1_000_000}
		if diff := cmp.Diff(want, res.Pace()); diff != "" {
			t.Error(diff)
		}
		if res.Ops[0].Count != 2_000-399 {
			t.Errorf("%d operations, want 1,601", res.Ops[0].Count)
		}
		for i, iv := range got {
			want := int64(0)
			if i == 10 {
				want = 399
			}
			if iv.Workers[0].Dropped != want {
				t.Errorf("second %d: %d dropped, want %d", i, iv.Workers[0].Dropped, want)
			}
		}
	})
}

func TestMinGapBoundsTheCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, burst := stalled(t, nil)
		_, even := stalled(t, func(w *Worker) { w.MinGap = 5 * ms })
		// Without it the backlog of 500 and what comes meanwhile go in the
		// second after the stall: 1 + 555 answers by 10.585 s, then every
		// 10 ms from 10.591 to 10.991 s, 41.
		if got := burst[10].Units(); got != 1+555+41 {
			t.Errorf("%d answers in second 10 without a gap, want 597", got)
		}
		// With it, answers come at 10.03 s and at 10.031 s + 5j ms: j = 0 … 193
		// in that second, 200 in each of the next, until k = 999, due at
		// 15.02 s, is sent at 10.03 s + 998 × 5 ms = 15.02 s.
		for i, want := range map[int]int64{10: 195, 11: 200, 12: 200, 13: 200, 14: 200, 16: 100, 17: 100} {
			if got := even[i].Units(); got != want {
				t.Errorf("%d answers in second %d with a gap of 5 ms, want %d", got, i, want)
			}
		}
	})
}

func TestMixedPacedAndUnpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The unpaced worker's 10 operations of 300 ms count the same in both
		// histograms. The paced one's are due every 100 ms and take 200: the
		// n-th is answered 200 + 100n ms after it was due.
		res, err := Run{Ops: []string{"insert"}, Workers: []Worker{
			{Task: lasting(10, always(300*ms))},
			{Task: lasting(10, always(200*ms)), Pacer: Constant{10, 1}},
		}}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		op := res.Ops[0]
		samePercentiles(t, "service", op.Service, map[float64]int64{50: 200, 55: 300, 100: 300})
		// 200, 300 × 11, 400, 500 … 1,100
		samePercentiles(t, "response", op.Response, map[float64]int64{5: 200, 10: 300, 60: 300, 65: 400, 100: 1_100})
		if op.Service.TotalCount() != 20 || op.Response.TotalCount() != 20 {
			t.Errorf("%d and %d values, want 20", op.Service.TotalCount(), op.Response.TotalCount())
		}
	})
}
