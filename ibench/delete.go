package ibench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
)

// findLowestEvery is after how many statements the smallest key is asked for
// again (resync_get_min of iibench.py).
const findLowestEvery = 1000

// deleteTask removes one client's oldest rows, as many as it inserts.
type deleteTask struct {
	client  int
	table   string
	op      int
	deleter Deleter
	stream  *stream
	gate    *gate

	pending    int
	statements int64
	// unknown counts rows of statements that were never answered.
	unknown int64
	// lowest and lowestTime are the queries for the smallest key and their time.
	lowest     int64
	lowestTime time.Duration
	lowestErr  error

	abortOnce sync.Once
	aborted   chan struct{}
}

// Next waits for a delete to be due and, every so often, asks for the smallest
// key, which is no part of the delete's time: the record has it apart.
func (t *deleteTask) Next() bool {
	if t.pending = t.gate.next(); t.pending == 0 {
		return false
	}
	if t.statements%findLowestEvery == 0 {
		t.findLowest(context.Background())
	}
	t.statements++
	return true
}

func (t *deleteTask) findLowest(ctx context.Context) {
	begin := time.Now()
	t.lowestErr = t.deleter.FindLowest(ctx)
	t.lowest++
	t.lowestTime += time.Since(begin)
}

// Do deletes.
func (t *deleteTask) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	defer t.gate.deleted()
	if t.lowestErr != nil {
		rec.Error(drivers.CodeOf(t.lowestErr), drivers.ClassOf(t.lowestErr).String())
		return load.Done{}, fmt.Errorf("client %d: %w", t.client, t.lowestErr)
	}
	n, err := t.remove(ctx, t.pending, rec.Error)
	if err != nil {
		return load.Done{}, err
	}
	return load.Done{Op: t.op, Units: n}, nil
}

// remove deletes n rows. A statement that the server rolled back is sent
// again; one whose outcome is unknown never is. Fewer rows than asked for mean
// that somebody else deletes too.
func (t *deleteTask) remove(ctx context.Context, n int, note func(code, class string)) (int64, error) {
	t.stream.deleting.Add(int64(n))
	for attempt := 1; ; attempt++ {
		deleted, err := t.deleter.Delete(ctx, n)
		if err == nil && deleted == int64(n) {
			t.stream.deleted.Add(deleted)
			return deleted, nil
		}
		where := fmt.Sprintf("client %d deleting its oldest %d rows from %s", t.client, n, t.table)
		if err == nil {
			return 0, fmt.Errorf("%s: there were %d: %w", where, deleted, ErrVerify)
		}
		class := drivers.ClassOf(err)
		note(drivers.CodeOf(err), class.String())
		if class == drivers.Retryable && attempt < maxAttempts && backOff(attempt, t.aborted) {
			continue
		}
		if class == drivers.Unknown {
			t.unknown += int64(n)
			return 0, fmt.Errorf("%s: %w; it is not sent again", where, err)
		}
		return 0, fmt.Errorf("%s: %w", where, err)
	}
}

// catchUp removes, after the step, what its end kept from being removed, so
// that the table is as long as it was before. It gives how many rows.
func (t *deleteTask) catchUp(ctx context.Context, inserted int64, began Position, batch int) (int64, error) {
	length := began.Inserted - began.Deleted
	due := inserted - length - t.stream.deleted.Load()
	for left := due; left > 0; left -= int64(batch) {
		if t.findLowest(ctx); t.lowestErr != nil {
			return due, t.lowestErr
		}
		if _, err := t.remove(ctx, int(min(left, int64(batch))), func(string, string) {}); err != nil {
			return due, err
		}
	}
	return max(due, 0), nil
}

// Stop ends the wait for a delete to be due.
func (t *deleteTask) Stop() { t.gate.halt() }

// Abort breaks off a statement that is waiting for its answer.
func (t *deleteTask) Abort() {
	t.abortOnce.Do(func() { close(t.aborted) })
	t.gate.halt()
	t.deleter.Abort()
}
