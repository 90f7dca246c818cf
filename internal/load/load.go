// Package load runs workers and measures them: pacing, latency histograms,
// and a clock that merges what the workers counted once a second. It knows
// nothing of databases, of /proc or of files.
package load

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// Task is one worker's work. It belongs to the worker's goroutine, but for Abort.
type Task interface {
	// Next prepares the next operation, outside the timed part. It returns
	// false when there is nothing left to do.
	Next() bool
	// Do does what Next prepared and waits for the answer. Retries are made
	// inside it, so that their time counts, and are noted in rec. An error
	// ends the worker and stops the run; a Done beside it isn't counted. Its
	// context carries values only: a run that stops lets operations under way
	// finish, then calls Abort.
	Do(ctx context.Context, rec *Recorder) (Done, error)
	// Abort makes a Do that is waiting return soon. Any goroutine may call
	// it, more than once, and when no Do is waiting.
	Abort()
}

// Stopper is a task whose Next may wait for something else than the time.
type Stopper interface {
	// Stop makes such a Next, and all later ones, return false. It is called
	// once, from another goroutine, and doesn't wait.
	Stop()
}

// Done says what an operation was and what it achieved.
type Done struct {
	// Op is the operation's position in Run.Ops.
	Op int
	// Units is how many things the server acknowledged: rows of an insert.
	Units int64
	// Failed says that the operation came to nothing and that the worker goes
	// on all the same: it is in no count, latency or rate. What went wrong is
	// for the task to note with Recorder.Error.
	Failed bool
}

// Worker is a task and the pace it is asked to keep.
type Worker struct {
	Task Task
	// Pacer gives the intended starts; nil means as fast as possible, where
	// an operation is intended to start when it is ready to be sent. A pacer
	// that keeps state (Poisson) serves one worker only.
	Pacer Pacer
	// LateAfter is how long after its intended start an operation is sent
	// before it counts as late. 0 means until the next one is due too, but a
	// millisecond at least, about what timers are good for: a late worker is
	// a whole operation behind its schedule. Unused without a pacer.
	LateAfter time.Duration
	// DropAfter drops, instead of sending, what is overdue by more than this
	// when it is its turn: Next is not called for it, so that the rows that
	// are sent stay consecutive, and it is counted (k6 calls these
	// dropped_iterations). 0 drops nothing: a backlog is sent as fast as the
	// server takes it. Unused without a pacer.
	DropAfter time.Duration
	// MinGap is the least time between two sends, so that a backlog is worked
	// off at a bounded rate and not in a burst: half the mean gap means at
	// most twice the rate. 0 means no bound. Unused without a pacer.
	MinGap time.Duration
}

// Run is one measured run of workers side by side.
type Run struct {
	// Ops names the operations that tasks report.
	Ops     []string
	Workers []Worker
	// Tick is the length of an interval; 0 means one second.
	Tick time.Duration
	// Limit ends the run after so long; 0 means that the tasks end it. What is
	// due before it is sent unless a worker is behind, what is due at it or
	// later is not. Operations that a worker was still behind with are in no count.
	Limit time.Duration
	// Grace is how long operations under way may take to finish once the run
	// is to stop, before Abort is called, and then how long they may take to
	// return before they are given up; 0 means five seconds.
	Grace time.Duration
	// Punctual has workers with a pacer wait for timers of the kernel where
	// there are some (Linux), since Go's wake them half a millisecond late on
	// average, which is longer than many an operation takes and would be in its
	// latency. Such a wait isn't of Go's clock: leave it out where that is faked.
	Punctual bool
	// OnStart is called right before the first operation, OnEnd right after
	// the last answer. Counters are read there.
	OnStart, OnEnd func()
	// OnTick gets each interval as it ends, the last one included. It is
	// called by the goroutine that called Do; the interval and its histograms
	// are reused after it returns. An error or a panic stops the run, whose
	// remaining intervals are still handed over.
	OnTick func(*Interval) error
}

const (
	defaultTick  = time.Second
	defaultGrace = 5 * time.Second
)

// Do runs the workers to their end, to the limit, to the first error, or until
// ctx ends. The result is complete as far as the run came, whatever the error.
// The error is the first worker's (a *WorkerError), OnTick's, or the cause of
// ctx, whichever came first; or, after the limit, that workers had to be given up.
func (r Run) Do(ctx context.Context) (*Result, error) {
	if r.Tick <= 0 {
		r.Tick = defaultTick
	}
	if r.Grace <= 0 {
		r.Grace = defaultGrace
	}
	c := newClock(r)
	if r.OnStart != nil {
		r.OnStart()
	}
	c.start = time.Now()
	if ctx.Err() != nil {
		c.halt(context.Cause(ctx))
	}
	exits := make(chan int, len(r.Workers))
	for i := range r.Workers {
		go func() {
			defer func() { exits <- i }()
			c.work(context.WithoutCancel(ctx), i)
		}()
	}
	c.watch(ctx, exits)
	end := time.Since(c.start)
	if r.OnEnd != nil {
		r.OnEnd()
	}
	c.tick(end, false)
	c.joinAborts()
	return c.merged.result(c.recorders), c.first
}

// WorkerError is a worker's failure, with the worker's number from 0.
type WorkerError struct {
	Worker int
	Err    error
}

// Error gives the failure's own sentence; the number is for the caller's.
func (e *WorkerError) Error() string { return e.Err.Error() }

// Unwrap gives the wrapped error.
func (e *WorkerError) Unwrap() error { return e.Err }

// PanicError is a defect of ours that a worker ran into. Its stack goes into
// the record, never to a terminal.
type PanicError struct {
	Value any
	Stack []byte
}

// recovered turns a recovered value into an error, nil into none. It is called
// in the deferred function, where the stack is still that of the panic.
func recovered(value any) error {
	if value == nil {
		return nil
	}
	return &PanicError{Value: value, Stack: debug.Stack()}
}

// Error says that it is a defect.
func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error: %v (a defect of this program; the record holds the details)", e.Value)
}
