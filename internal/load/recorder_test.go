package load

import (
	"math"
	"testing"
	"time"
)

func TestBucketsAreInclusive(t *testing.T) {
	// iibench.py (mytools): 256us, 1ms, 4ms, 16ms, 64ms, 256ms, 1s, 4s, 16s, gt.
	for _, c := range []struct {
		took time.Duration
		want int
	}{
		{0, 0},
		{256 * time.Microsecond, 0}, {256*time.Microsecond + 1, 1},
		{time.Millisecond, 1}, {time.Millisecond + 1, 2},
		{4 * time.Millisecond, 2}, {4*time.Millisecond + 1, 3},
		{16 * time.Millisecond, 3}, {16*time.Millisecond + 1, 4},
		{64 * time.Millisecond, 4}, {64*time.Millisecond + 1, 5},
		{256 * time.Millisecond, 5}, {256*time.Millisecond + 1, 6},
		{time.Second, 6}, {time.Second + 1, 7},
		{4 * time.Second, 7}, {4*time.Second + 1, 8},
		{16 * time.Second, 8}, {16*time.Second + 1, 9},
		{24 * time.Hour, 9},
	} {
		rec := newRecorder(1, false)
		rec.record(Done{}, timing{answered: c.took})
		var want [10]int64
		want[c.want] = 1
		if got := rec.ops[0].buckets; got != want {
			t.Errorf("%v is counted in %v, want bucket %d", c.took, got, c.want)
		}
	}
}

func TestMicrosecondsRoundUp(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want int64
	}{
		{0, 1}, {1, 1}, {time.Microsecond, 1}, {time.Microsecond + 1, 2}, {1_999, 2}, {2_000, 2},
		{time.Hour, 3_600_000_000}, {time.Hour + 1, 3_600_000_001},
	} {
		if got := microseconds(c.d); got != c.want {
			t.Errorf("microseconds(%d) = %d, want %d", c.d, got, c.want)
		}
	}
}

func TestClampAtOneHour(t *testing.T) {
	const hourUS = 3_600_000_000
	rec := newRecorder(1, true)
	// Service time of an hour fits; one sent an hour late doesn't in response
	// time alone; one that takes two hours in neither.
	rec.record(Done{}, timing{answered: time.Hour})
	rec.record(Done{}, timing{sent: time.Hour, answered: time.Hour + time.Second})
	rec.record(Done{}, timing{sent: 10 * time.Hour, intended: 10 * time.Hour, answered: 12 * time.Hour})
	op := rec.ops[0]
	if op.overflow != 1 || op.responseOverflow != 2 {
		t.Errorf("overflow %d and %d, want 1 and 2", op.overflow, op.responseOverflow)
	}
	if op.maxUS != 2*hourUS || op.maxResponseUS != 2*hourUS {
		t.Errorf("max %d and %d µs, want two hours, exact", op.maxUS, op.maxResponseUS)
	}
	for name, b := range map[string]*bins{"service": op.service, "response": op.response} {
		h := NewHistogram()
		b.addTo(h)
		if h.TotalCount() != 3 {
			t.Errorf("%s histogram holds %d values, want 3", name, h.TotalCount())
		}
		if !h.ValuesAreEquivalent(h.Max(), hourUS) {
			t.Errorf("%s histogram reaches %d µs, want an hour", name, h.Max())
		}
	}
}

func TestMeanIsOfNanoseconds(t *testing.T) {
	// (100 ns + 200 ns) ÷ 2 = 0.15 µs, though both round up to 1 µs.
	rec := newRecorder(2, false)
	rec.record(Done{}, timing{answered: 100})
	rec.record(Done{}, timing{answered: 200})
	if got := rec.ops[0].mean(); got != 0.15 {
		t.Errorf("mean %v µs, want 0.15", got)
	}
	if got := rec.ops[1].mean(); !math.IsNaN(got) {
		t.Errorf("mean of nothing is %v, want NaN", got)
	}
}

func TestHistogramPrecision(t *testing.T) {
	// Two digits: a value is known within 1 % from 1 µs to 1 h.
	h := NewHistogram()
	for us := int64(1); us <= maxUS; us += 1 + us/50 {
		h.Reset()
		if err := h.RecordValue(us); err != nil {
			t.Fatal(err)
		}
		if got := h.ValueAtPercentile(50); got < us || float64(got-us) > 0.01*float64(us) {
			t.Fatalf("%d µs come back as %d", us, got)
		}
	}
}

func TestPacedOperationsDoNotAllocate(t *testing.T) {
	// Two in a thousand are due in a moment, so that the timer is in use; the
	// rest are overdue.
	c := newClock(Run{Ops: []string{"insert"}, Workers: []Worker{{Pacer: Constant{1_000, 1}}}})
	c.start = time.Now().Add(-998 * time.Millisecond)
	rec := c.recorders[0]
	p := newPace(c, Worker{Pacer: &Poisson{PerSecond: 1_000, Batch: 1}, DropAfter: time.Hour, MinGap: 1})
	defer p.close()
	allocs := testing.AllocsPerRun(1_000, func() {
		if !p.skipOverdue(rec) || !p.wait() {
			t.Fatal("stopped")
		}
		sent := time.Since(c.start)
		intended, late := p.send(sent)
		rec.record(Done{Units: 1}, timing{intended, sent, time.Since(c.start), late})
	})
	if allocs != 0 {
		t.Errorf("%v allocations per operation", allocs)
	}
}
