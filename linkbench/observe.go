package linkbench

import (
	"context"
	"time"

	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/results"
)

// Phase is a load or a run of requests whose operations are to be observed,
// one at a time. Warm-ups and index builds are none.
type Phase struct {
	Kind    string // results.KindLoad or results.KindRequest
	First   int    // number of the first worker
	Workers int
	Ops     []string // what Observed.Op is a position in
	// Units are the requests or rows that will be sent, 0 where time ends the
	// phase; Limit is that time, 0 without one.
	Units int64
	Limit time.Duration
}

// Observed is one operation that ended.
type Observed struct {
	Op      int
	Rows    int64 // read or changed by a request, of the batch of a load
	History bool  // a list query for an older page
	Failed  bool  // given up, or of unknown outcome
	// Retries are attempts after a first one that was rolled back. Switched is
	// an add that became an update, or an update that became an add.
	Retries  int64
	Switched bool
	Took     time.Duration
	At       time.Time // when it ended
}

// Observer sees the operations of one worker. Both methods are called by the
// worker's goroutine alone. One that is given up may call them after the step
// has ended.
type Observer interface {
	// Observe takes an operation inside its measured time: it must be quick.
	Observe(Observed)
	// Idle is called between two operations, outside the measured time.
	Idle()
}

// observable is a task that knows what its last Do was.
type observable interface {
	load.Task
	sentLast() Observed
}

// observed is a task whose operations an observer sees. Without an observer
// there is none, so that a request pays nothing for it.
type observed struct {
	observable
	by Observer
}

func (t *observed) Next() bool {
	t.by.Idle()
	return t.observable.Next()
}

func (t *observed) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	sent := time.Now()
	done, err := t.observable.Do(ctx, rec)
	o := t.sentLast()
	o.At = time.Now()
	o.Took, o.Failed = o.At.Sub(sent), done.Failed || err != nil
	t.by.Observe(o)
	return done, err
}

// observe puts the session's observers around the tasks of a phase.
func (s Session) observe(spec *step.Spec, units int64, first int) {
	if s.Observe == nil || spec.Kind != results.KindLoad && spec.Kind != results.KindRequest {
		return
	}
	workers := spec.Run.Workers
	by := s.Observe(Phase{Kind: spec.Kind, First: first, Workers: len(workers), Ops: spec.Run.Ops, Units: units, Limit: spec.Run.Limit})
	for i := range workers {
		if t, ok := workers[i].Task.(observable); ok {
			workers[i].Task = &observed{t, by(i)}
		}
	}
}

func (t *requestTask) sentLast() Observed {
	return Observed{Op: int(t.req.Op), Rows: t.result.Rows, History: t.req.History, Retries: t.retrier.last, Switched: t.result.Switched > 0}
}

func (t *loadTask) sentLast() Observed {
	return Observed{Op: t.op, Rows: t.pending.rows(), Retries: t.retrier.last}
}
