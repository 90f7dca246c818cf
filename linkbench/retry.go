package linkbench

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
)

const (
	// maxAttempts bounds how often a statement or transaction is sent when the
	// server rolls it back and asks for a retry. The fork allows 1,000; with
	// back-off a server that needs more than this is beyond help.
	maxAttempts = 100
	// firstBackoff doubles with each retry up to lastBackoff. The original
	// waits 20 ms times the attempt, which on a fast server is longer than a
	// hundred transactions.
	firstBackoff = time.Millisecond
	lastBackoff  = 500 * time.Millisecond
)

// retrier sends again what a server rolled back, waiting longer each time.
type retrier struct {
	once    sync.Once
	aborted chan struct{}
}

func newRetrier() *retrier { return &retrier{aborted: make(chan struct{})} }

// abort ends a wait, and makes the next one short.
func (r *retrier) abort() { r.once.Do(func() { close(r.aborted) }) }

// do sends until the outcome isn't Retryable. Each failed attempt is counted by
// its code; retries is how many there were beyond the first.
func (r *retrier) do(ctx context.Context, rec *load.Recorder, send func(context.Context) error) (retries int64, err error) {
	for attempt := 1; ; attempt++ {
		if err = send(ctx); err == nil {
			return retries, nil
		}
		class := drivers.ClassOf(err)
		rec.Error(drivers.CodeOf(err), class.String())
		if class != drivers.Retryable || attempt == maxAttempts || !r.wait(attempt) {
			return retries, err
		}
		retries++
	}
}

// wait waits before a retry, between half the delay and the whole; false means
// that the run was aborted meanwhile. The jitter changes no data.
func (r *retrier) wait(attempt int) bool {
	delay := lastBackoff
	if doublings := attempt - 1; doublings < 9 { // 2^9 ms is above lastBackoff
		delay = min(firstBackoff<<doublings, lastBackoff)
	}
	timer := time.NewTimer(delay/2 + rand.N(delay/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.aborted:
		return false
	}
}
