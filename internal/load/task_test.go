package load

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a task whose operations are written down.
type script struct {
	// count is how many operations there are, below 0 without end.
	count int
	// prepare, if set, runs in Next; do in Do, with the operation's number.
	prepare func(n int)
	do      func(n int, rec *Recorder) (Done, error)
	abort   func()

	n       int
	once    sync.Once
	aborted chan struct{}
}

func scripted(count int, do func(n int, rec *Recorder) (Done, error)) *script {
	return &script{count: count, do: do, n: -1, aborted: make(chan struct{})}
}

// lasting is a task of one unit per operation that takes as long as said.
func lasting(count int, took func(n int) time.Duration) *script {
	return scripted(count, func(n int, _ *Recorder) (Done, error) {
		time.Sleep(took(n))
		return Done{Units: 1}, nil
	})
}

func always(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

func (s *script) Next() bool {
	s.n++
	if s.prepare != nil {
		s.prepare(s.n)
	}
	return s.count < 0 || s.n < s.count
}

func (s *script) Do(_ context.Context, rec *Recorder) (Done, error) { return s.do(s.n, rec) }

func (s *script) Abort() {
	s.once.Do(func() { close(s.aborted) })
	if s.abort != nil {
		s.abort()
	}
}

// seen is an interval as a consumer would keep it.
type seen struct {
	Interval
	service, response []*hdrhistogram.Histogram
}

// keep is an OnTick that copies what it is given.
func keep(to *[]seen) func(*Interval) error {
	return func(iv *Interval) error {
		s := seen{Interval: *iv}
		s.Workers = append([]WorkerInterval(nil), iv.Workers...)
		s.Ops = append([]OpInterval(nil), iv.Ops...)
		s.Stalled = append([]int(nil), iv.Stalled...)
		for _, op := range iv.Ops {
			s.service = append(s.service, op.Service.Clone())
			s.response = append(s.response, op.Response.Clone())
		}
		*to = append(*to, s)
		return nil
	}
}

// samePercentiles compares percentiles in milliseconds with what a histogram
// says, as far as it tells values apart.
func samePercentiles(t *testing.T, name string, h *hdrhistogram.Histogram, wantMS map[float64]int64) {
	t.Helper()
	for p, ms := range wantMS {
		if got, want := h.ValueAtPercentile(p), ms*1_000; !h.ValuesAreEquivalent(got, want) {
			t.Errorf("%s p%v = %d µs, want %d", name, p, got, want)
		}
	}
}
