package ibench

import (
	"context"
	"fmt"

	"insertbench/drivers"
	"insertbench/internal/load"
)

// Finisher is an Inserter whose rows may become visible only with a last step.
type Finisher interface {
	// NeedsFinish is true where Finish has something to do.
	NeedsFinish() bool
	// Finish makes the acknowledged rows visible. Errors are *drivers.Error.
	Finish(ctx context.Context) error
}

// finishOp names the operation that ends a bulk load. It is inside the
// measured window: until then nobody can see the rows.
const finishOp = "finish"

// finishingTask inserts one client's rows, then finishes.
type finishingTask struct {
	*insertTask
	finisher  Finisher
	finishing bool
}

// asFinishing wraps a task whose inserter needs a last step.
func asFinishing(t *insertTask) load.Task {
	if f, ok := t.inserter.(Finisher); ok && f.NeedsFinish() {
		return &finishingTask{insertTask: t, finisher: f}
	}
	return t
}

// Next prepares the next statement, or the last step, once.
func (t *finishingTask) Next() bool {
	if t.insertTask.Next() {
		return true
	}
	first := !t.finishing
	t.finishing = true
	return first
}

// Do sends the statement or does the last step, whose operation is the one
// after insert.
func (t *finishingTask) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	if !t.finishing {
		return t.insertTask.Do(ctx, rec)
	}
	if err := t.finisher.Finish(ctx); err != nil {
		rec.Error(drivers.CodeOf(err), drivers.ClassOf(err).String())
		return load.Done{}, fmt.Errorf("client %d: %w; rows that it loaded may not be there", t.client, err)
	}
	return load.Done{Op: 1}, nil
}
