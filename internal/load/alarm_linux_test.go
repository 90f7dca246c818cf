package load

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
	"time"
)

func TestAlarm(t *testing.T) {
	a := newAlarm()
	if a == nil {
		t.Fatal("Linux has timers that epoll watches, and there is no alarm")
	}
	defer a.close()
	for range 3 {
		start := time.Now()
		if err := a.wait(2 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited < 2*time.Millisecond {
			t.Errorf("it went off after %v, before the 2 ms were over", waited)
		}
	}
	waiting := make(chan error)
	go func() { waiting <- a.wait(math.MaxInt64) }()
	a.interrupt()
	if err := <-waiting; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an interrupted wait: %v", err)
	}
}

// A wait that is broken off ends the worker at once, and no operation is sent
// before it is due.
func TestPunctual(t *testing.T) {
	const gap = time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stopped := errors.New("stopped")
	var begun, early int
	var start time.Time
	task := scripted(-1, func(n int, _ *Recorder) (Done, error) {
		begun++
		if time.Since(start) < time.Duration(n)*gap {
			early++
		}
		if n == 20 {
			cancel(stopped)
		}
		return Done{Units: 1}, nil
	})
	// After the 20th the next one is due in an hour and more.
	pace := pacerFunc(func(n int64) time.Duration {
		if n <= 20 {
			return time.Duration(n) * gap
		}
		return time.Duration(n) * time.Hour
	})
	r := Run{Ops: []string{"op"}, Punctual: true, Workers: []Worker{{Task: task, Pacer: pace}}, OnStart: func() { start = time.Now() }}
	res, err := r.Do(ctx)
	if !errors.Is(err, stopped) || res.Units() != 21 || begun != 21 || early != 0 {
		t.Errorf("%d operations, %d begun and %d of them early, error %v", res.Units(), begun, early, err)
	}
}

func TestAlarmsAreOfPunctualRuns(t *testing.T) {
	paced, unpaced := Worker{Pacer: Constant{PerSecond: 1, Batch: 1}}, Worker{}
	for _, punctual := range []bool{true, false} {
		c := newClock(Run{Punctual: punctual, Workers: []Worker{paced, unpaced}})
		if got := [2]bool{c.alarms[0] != nil, c.alarms[1] != nil}; got != [2]bool{punctual, false} {
			t.Errorf("punctual %t: alarms of a paced worker and of another: %v", punctual, got)
		}
		for _, a := range c.alarms {
			if a != nil {
				a.close()
			}
		}
	}
}

// pacerFunc is a schedule as a function.
type pacerFunc func(n int64) time.Duration

func (f pacerFunc) Start(n int64) time.Duration { return f(n) }
