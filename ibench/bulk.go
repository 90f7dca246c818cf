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

// BulkLoader is a Loader with a bulk load, whose inserters need a last step.
// It is for loads into new tables, by one client each.
type BulkLoader interface {
	// CheckBulkLoad refuses an engine that has none; kind drivers.ErrConfig.
	CheckBulkLoad(ctx context.Context) error
	OpenBulkInserter(ctx context.Context, table string) (Inserter, error)
}

// bulkLoader is the database's optional ability.
func bulkLoader(db Loader) (BulkLoader, error) {
	if b, ok := db.(BulkLoader); ok {
		return b, nil
	}
	return nil, drivers.Configf("--bulk-load is MyRocks's, and means nothing to this database")
}

// checkBulkLoad refuses a bulk load that the database doesn't have.
func checkBulkLoad(ctx context.Context, db Loader) error {
	b, err := bulkLoader(db)
	if err != nil {
		return err
	}
	return b.CheckBulkLoad(ctx)
}

// openInserter opens a client's connection, for a bulk load or not.
func openInserter(ctx context.Context, db Loader, table string, bulk bool) (Inserter, error) {
	if !bulk {
		return db.OpenInserter(ctx, table)
	}
	b, err := bulkLoader(db)
	if err != nil {
		return nil, err
	}
	return b.OpenBulkInserter(ctx, table)
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
	if t.finishing {
		return false
	}
	t.finishing = !t.insertTask.Next()
	return true
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
