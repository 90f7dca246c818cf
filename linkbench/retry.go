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
	// firstBackoff doubles with each retry up to lastBackoff. The original
	// waits 20 ms times the attempt, which on a fast server is longer than a
	// hundred transactions.
	firstBackoff = time.Millisecond
	lastBackoff  = 500 * time.Millisecond
)

// retrier sends again what a server rolled back, waiting longer each time.
type retrier struct {
	max     int64 // retries of one statement or transaction
	last    int64 // retries of the last one
	once    sync.Once
	aborted chan struct{}
}

func newRetrier(maxRetries int) *retrier {
	return &retrier{max: int64(maxRetries), aborted: make(chan struct{})}
}

// abort ends a wait, and makes the next one short.
func (r *retrier) abort() { r.once.Do(func() { close(r.aborted) }) }

// do sends until the outcome isn't Retryable. Each failed attempt is counted by
// its code; retries is how many there were beyond the first.
func (r *retrier) do(ctx context.Context, rec *load.Recorder, send func(context.Context) error) (retries int64, err error) {
	defer func() { r.last = retries }()
	for {
		if err = send(ctx); err == nil {
			return retries, nil
		}
		class := drivers.ClassOf(err)
		rec.Error(drivers.CodeOf(err), class.String())
		if class != drivers.Retryable || retries == r.max || !r.wait(retries) {
			return retries, err
		}
		retries++
	}
}

// wait waits before another retry, between half the delay and the whole; false means
// that the run was aborted meanwhile. The jitter changes no data.
func (r *retrier) wait(before int64) bool {
	delay := lastBackoff
	if before < 9 { // 2^9 ms is above lastBackoff
		delay = min(firstBackoff<<before, lastBackoff)
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
