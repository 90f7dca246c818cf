// Package load runs workers and measures them: pacing, latency histograms,
// and a clock that merges what the workers counted once a second. It knows
// nothing of databases, of /proc or of files.
package load

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Task is one worker's work. It belongs to the worker's goroutine, but for Abort.
type Task interface {
	// Next prepares the next operation, outside the timed part. It returns
	// false when there is nothing left to do.
	Next() bool
	// Do does what Next prepared and waits for the answer. Retries are made
	// inside it, so that their time counts, and are noted in rec. An error
	// ends the worker and stops the run. Its context carries values only: a
	// run that stops lets operations under way finish, then calls Abort.
	Do(ctx context.Context, rec *Recorder) (Done, error)
	// Abort makes a Do that is waiting return soon. Any goroutine may call
	// it, more than once.
	Abort()
}

// Done says what an operation was and what it achieved.
type Done struct {
	// Op is the operation's position in Run.Ops.
	Op int
	// Units is how many things the server acknowledged: rows of an insert.
	Units int64
}

// Worker is a task and the pace it is asked to keep.
type Worker struct {
	Task Task
	// Pacer gives the intended starts; nil means as fast as possible, where
	// an operation is intended to start when it is ready to be sent.
	Pacer Pacer
}

// Run is one measured run of workers side by side.
type Run struct {
	// Ops names the operations that tasks report.
	Ops     []string
	Workers []Worker
	// Tick is the length of an interval; 0 means one second.
	Tick time.Duration
	// Limit ends the run after so long; 0 means that the tasks end it.
	Limit time.Duration
	// Grace is how long operations under way may take to finish once the run
	// is to stop, before Abort is called; 0 means five seconds.
	Grace time.Duration
	// OnStart is called when every worker is ready, right before the first
	// operation; OnEnd right after the last answer. Counters are read there.
	OnStart, OnEnd func()
	// OnTick gets each interval as it ends. It is called by the goroutine
	// that called Do; the interval and its histograms are reused after it
	// returns. An error stops the run.
	OnTick func(*Interval) error
}

const (
	defaultTick  = time.Second
	defaultGrace = 5 * time.Second
)

// Do runs the workers to their end, to the limit, to the first error, or until
// ctx ends. The result is complete as far as the run came, whatever the error.
// The error is the first worker's, OnTick's, or the cause of ctx.
func (r Run) Do(ctx context.Context) (*Result, error) {
	if r.Tick <= 0 {
		r.Tick = defaultTick
	}
	if r.Grace <= 0 {
		r.Grace = defaultGrace
	}
	c := newClock(r)
	exits := make(chan int, len(r.Workers))
	begin := make(chan struct{})
	for i := range r.Workers {
		go func() {
			defer func() { exits <- i }()
			<-begin
			c.work(context.WithoutCancel(ctx), i)
		}()
	}
	if r.OnStart != nil {
		r.OnStart()
	}
	c.start = time.Now()
	close(begin)
	err := c.watch(ctx, exits)
	if r.OnEnd != nil {
		r.OnEnd()
	}
	if last := c.tick(time.Since(c.start), false); err == nil {
		err = last
	}
	return c.result(), err
}

// clock owns a run: it watches the workers, ticks, and merges.
type clock struct {
	run       Run
	start     time.Time
	stopping  atomic.Bool
	stop      chan struct{}
	recorders []*Recorder
	merged    *merger
	finished  []bool
}

func newClock(r Run) *clock {
	c := &clock{run: r, stop: make(chan struct{}), finished: make([]bool, len(r.Workers))}
	for _, w := range r.Workers {
		c.recorders = append(c.recorders, newRecorder(len(r.Ops), w.Pacer != nil))
	}
	c.merged = newMerger(r)
	return c
}

// work is the body of worker i.
func (c *clock) work(ctx context.Context, i int) {
	rec, task, pacer := c.recorders[i], c.run.Workers[i].Task, c.run.Workers[i].Pacer
	defer func() {
		if p := recover(); p != nil {
			rec.fail(&PanicError{Value: p, Stack: debug.Stack()})
		}
	}()
	for n := int64(0); !c.stopping.Load() && task.Next(); n++ {
		intended := time.Duration(-1)
		if pacer != nil {
			intended = pacer.Start(n)
			if !c.sleepUntil(intended) {
				return
			}
		}
		sent := time.Since(c.start)
		if intended < 0 {
			intended = sent
		}
		rec.waitingFrom.Store(int64(intended) + 1)
		done, err := task.Do(ctx, rec)
		answered := time.Since(c.start)
		rec.waitingFrom.Store(0)
		if err != nil {
			rec.fail(err)
			return
		}
		rec.record(done, intended, sent, answered)
	}
}

// sleepUntil waits for an offset from the start; false means that the run stops.
func (c *clock) sleepUntil(offset time.Duration) bool {
	wait := offset - time.Since(c.start)
	if wait <= 0 {
		return !c.stopping.Load()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.stop:
		return false
	}
}

// watch ticks until all workers have ended and returns why the run stopped
// early, nil if it didn't.
func (c *clock) watch(ctx context.Context, exits <-chan int) error {
	ticker := time.NewTicker(c.run.Tick)
	defer ticker.Stop()
	var limit <-chan time.Time
	if c.run.Limit > 0 {
		timer := time.NewTimer(c.run.Limit - time.Since(c.start))
		defer timer.Stop()
		limit = timer.C
	}
	var first error
	var grace <-chan time.Time
	halt := func(err error) {
		if first == nil {
			first = err
		}
		if !c.stopping.Swap(true) {
			close(c.stop)
			grace = time.After(c.run.Grace)
		}
	}
	aborted := false
	cancelled := ctx.Done()
	for running := len(c.run.Workers); running > 0; {
		select {
		case i := <-exits:
			running--
			c.finished[i] = true
			if err := c.recorders[i].failure(); err != nil {
				halt(&WorkerError{Worker: i, Err: err})
			}
		case <-ticker.C:
			if err := c.tick(time.Since(c.start), true); err != nil {
				halt(err)
			}
		case <-limit:
			limit = nil
			halt(nil)
		case <-cancelled:
			cancelled = nil
			halt(context.Cause(ctx))
		case <-grace:
			if aborted {
				halt(fmt.Errorf("%d workers did not end within %v of being told to", running, 2*c.run.Grace))
				return first
			}
			aborted = true
			c.abort()
			grace = time.After(c.run.Grace)
		}
	}
	return first
}

// abort breaks off the operations that are still under way.
func (c *clock) abort() {
	for i, w := range c.run.Workers {
		if !c.finished[i] {
			w.Task.Abort()
		}
	}
}

// tick merges what the workers counted since the last tick and hands it on.
func (c *clock) tick(now time.Duration, full bool) error {
	iv := c.merged.take(c.recorders, c.finished, now, full)
	if c.run.OnTick == nil {
		return nil
	}
	return c.run.OnTick(iv)
}

func (c *clock) result() *Result { return c.merged.result(c.recorders) }

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

// Error says that it is a defect.
func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error: %v (a defect of this program; the record holds the details)", e.Value)
}
