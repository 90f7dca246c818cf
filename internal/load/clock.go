package load

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// clock owns a run: it watches the workers, ticks, and merges.
type clock struct {
	run       Run
	start     time.Time
	recorders []*Recorder
	merged    *merger
	// alarms are what wakes each worker, nil for those that wait for Go's timers.
	alarms []*alarm

	// stopping and stop, closed when it is set, are what workers see of a halt.
	stopping atomic.Bool
	stop     chan struct{}

	// The rest belongs to the goroutine that called Do.
	first  error            // why the run stopped early
	grace  <-chan time.Time // fires when a halt becomes harder
	ticker *time.Timer
	next   time.Duration // when the next tick is due
	// aborts gets the end of each call of Abort, aborting of them still to come.
	aborts   chan error
	aborting int
}

func newClock(r Run) *clock {
	c := &clock{run: r, stop: make(chan struct{}), merged: newMerger(r)}
	for _, w := range r.Workers {
		c.recorders = append(c.recorders, newRecorder(len(r.Ops), w.Pacer != nil))
		var a *alarm
		if r.Punctual && w.Pacer != nil {
			a = newAlarm()
		}
		c.alarms = append(c.alarms, a)
	}
	return c
}

// halt tells the workers to stop after the operation under way. The first
// reason that is an error is the run's.
func (c *clock) halt(reason error) {
	if c.first == nil {
		c.first = reason
	}
	if !c.stopping.Swap(true) {
		close(c.stop)
		for _, a := range c.alarms {
			if a != nil {
				a.interrupt()
			}
		}
		c.grace = time.After(c.run.Grace)
		for _, w := range c.run.Workers {
			if s, ok := w.Task.(Stopper); ok {
				s.Stop()
			}
		}
	}
}

// watch ticks until all workers have ended or are given up.
func (c *clock) watch(ctx context.Context, exits <-chan int) {
	c.next = c.run.Tick
	c.ticker = time.NewTimer(c.next - time.Since(c.start))
	defer c.ticker.Stop()
	var limit <-chan time.Time
	if c.run.Limit > 0 {
		timer := time.NewTimer(c.run.Limit - time.Since(c.start))
		defer timer.Stop()
		limit = timer.C
	}
	cancelled := ctx.Done()
	for running := len(c.run.Workers); running > 0; {
		select {
		case i := <-exits:
			running--
			if err := c.recorders[i].failure(); err != nil {
				c.halt(&WorkerError{Worker: i, Err: err})
			}
		case <-c.ticker.C:
			c.tickIfDue()
		case <-limit:
			// A tick due at the same moment comes first, or the last
			// interval would be a full one or not by chance.
			c.tickIfDue()
			c.halt(nil)
		case <-cancelled:
			cancelled = nil
			c.halt(context.Cause(ctx))
		case <-c.grace:
			if c.aborts != nil {
				c.giveUp(running)
				return
			}
			c.abort()
			c.grace = time.After(c.run.Grace)
		}
	}
}

// abort breaks off the operations that are still under way, each in a
// goroutine of its own because closing a connection may wait for a dead server too.
func (c *clock) abort() {
	c.aborts = make(chan error, len(c.run.Workers))
	for i, w := range c.run.Workers {
		if c.recorders[i].hasEnded() {
			continue
		}
		c.aborting++
		go func() {
			defer func() { c.aborts <- recovered(recover()) }()
			w.Task.Abort()
		}()
	}
}

// joinAborts waits for the calls of Abort, after the run: what they do is no
// part of it.
func (c *clock) joinAborts() {
	for ; c.aborting > 0; c.aborting-- {
		select {
		case err := <-c.aborts:
			if err != nil {
				c.halt(err)
			}
		case <-c.grace:
			return
		}
	}
}

// giveUp leaves workers behind that don't return, rather than hang with them.
func (c *clock) giveUp(running int) {
	c.aborting = 0
	c.halt(fmt.Errorf("%d of %d workers did not return within %v of the run's end, though their operations were aborted after %v",
		running, len(c.run.Workers), 2*c.run.Grace, c.run.Grace))
}

// tickIfDue ends an interval if it is time and sets the ticker to the next
// multiple of the tick that is nine tenths of one away or more: a late tick
// makes its interval longer, but never the next one a stub, in which workers
// would look stalled.
func (c *clock) tickIfDue() {
	now := time.Since(c.start)
	if now >= c.next {
		c.tick(now, true)
		tick := c.run.Tick
		c.next = (now + tick - tick/10 + tick - 1) / tick * tick
	}
	c.ticker.Reset(c.next - time.Since(c.start))
}

// tick merges what the workers counted since the last tick and hands it on.
func (c *clock) tick(now time.Duration, full bool) {
	iv := c.merged.take(c.recorders, now, full)
	if c.run.OnTick == nil {
		return
	}
	if err := c.onTick(iv); err != nil {
		c.halt(err)
	}
}

func (c *clock) onTick(iv *Interval) (err error) {
	defer func() {
		if p := recovered(recover()); p != nil {
			err = p
		}
	}()
	return c.run.OnTick(iv)
}
