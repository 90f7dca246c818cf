package load

import (
	"context"
	"math"
	"time"
)

// lateFloor is the least lateness that counts unless a worker sets its own.
const lateFloor = time.Millisecond

// work is the body of worker i.
func (c *clock) work(ctx context.Context, i int) {
	rec := c.recorders[i]
	var err error
	defer func() {
		if p := recovered(recover()); p != nil {
			err = p
		}
		rec.end(err)
	}()
	err = c.operate(ctx, i, rec)
}

// operate sends one operation after the other until there is nothing left to
// do, the run stops, or one fails.
func (c *clock) operate(ctx context.Context, i int, rec *Recorder) error {
	w := c.run.Workers[i]
	p := newPace(c, w)
	p.alarm = c.alarms[i]
	defer p.close()
	var last time.Duration
	for first := true; c.goesOn(last) && p.skipOverdue(rec) && w.Task.Next(); first = false {
		if !p.wait() {
			return nil
		}
		sent := time.Since(c.start)
		intended, late := p.send(sent)
		if first {
			rec.begin(sent)
		}
		rec.waitingFrom.Store(int64(intended) + 1)
		done, err := w.Task.Do(ctx, rec)
		last = time.Since(c.start)
		if err != nil {
			return err
		}
		if !done.Failed {
			rec.record(done, timing{intended: intended, sent: sent, answered: last, late: late})
		}
		// Only now: a tick in between still finds that the worker waited.
		rec.waitingFrom.Store(0)
	}
	return nil
}

// goesOn says whether another operation may start after one that was answered
// at last. At the limit it waits for the clock to end the run, so that workers
// stop by the limit though the clock may be late, and in order.
func (c *clock) goesOn(last time.Duration) bool {
	if c.run.Limit > 0 && last >= c.run.Limit {
		<-c.stop
	}
	return !c.stopping.Load()
}

// pace leads one worker along its pacer's schedule. It allocates nothing per operation.
type pace struct {
	clock  *clock
	worker Worker
	timer  *time.Timer
	alarm  *alarm // rather than timer; nil for none
	// n is the operation whose turn it is, due when it is intended to start,
	// after when the one after it is.
	n          int64
	due, after time.Duration
	// earliest is when the least gap since the last send is over.
	earliest time.Duration
}

func newPace(c *clock, w Worker) *pace {
	p := &pace{clock: c, worker: w}
	if w.Pacer != nil {
		p.timer = time.NewTimer(math.MaxInt64)
		p.due, p.after = w.Pacer.Start(0), w.Pacer.Start(1)
	}
	return p
}

func (p *pace) close() {
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.alarm != nil {
		p.alarm.close()
	}
}

func (p *pace) advance() {
	p.n++
	p.due, p.after = p.after, p.worker.Pacer.Start(p.n+1)
}

// skipOverdue drops what is overdue by more than DropAfter; false means that
// the run stops.
func (p *pace) skipOverdue(rec *Recorder) bool {
	if p.worker.Pacer == nil || p.worker.DropAfter <= 0 {
		return true
	}
	overdue := time.Since(p.clock.start) - p.worker.DropAfter
	var dropped int64
	for ; p.due < overdue && !p.clock.stopping.Load(); dropped++ {
		p.advance()
	}
	if dropped > 0 {
		rec.drop(dropped)
	}
	return !p.clock.stopping.Load()
}

// wait waits until the operation may be sent; false means that the run stops
// or that the schedule has ended.
func (p *pace) wait() bool {
	if p.worker.Pacer == nil {
		return true
	}
	c := p.clock
	if p.due == never {
		return false
	}
	at := max(p.due, p.earliest)
	if c.run.Limit > 0 && at >= c.run.Limit {
		<-c.stop
		return false
	}
	left := at - time.Since(c.start)
	if left <= 0 {
		return !c.stopping.Load()
	}
	if p.alarm != nil && p.alarm.wait(left) == nil {
		return true
	}
	p.timer.Reset(at - time.Since(c.start))
	select {
	case <-p.timer.C:
		return true
	case <-c.stop:
		return false
	}
}

// send notes that the operation is sent, says when it was intended and whether
// that makes it late, and moves on to the next.
func (p *pace) send(sent time.Duration) (intended time.Duration, late bool) {
	if p.worker.Pacer == nil {
		return sent, false
	}
	intended = p.due
	allowed := p.worker.LateAfter
	if allowed <= 0 {
		allowed = max(p.after-p.due, lateFloor)
	}
	p.earliest = sent + p.worker.MinGap
	p.advance()
	return intended, sent-intended > allowed
}
