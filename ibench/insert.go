package ibench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
)

const (
	// maxAttempts bounds how often one statement is sent when the server
	// rolls it back and asks for a retry.
	maxAttempts = 10
	// firstBackoff doubles with each retry up to lastBackoff.
	firstBackoff = time.Millisecond
	lastBackoff  = time.Second
)

// insertTask inserts one client's rows, a statement at a time.
type insertTask struct {
	client   int
	table    string
	rows     Rows
	next     int64
	end      int64
	perBatch int64
	inserter Inserter

	row     Row
	pending Sums
	// acked is what the server acknowledged, unknown what it never answered for.
	acked, unknown Sums

	// stream, if set, tells readers how far the client is; gate, if set, has
	// deletes follow; ended, if set, is called when there is nothing left to insert.
	stream *stream
	gate   *gate
	ended  func()

	abortOnce sync.Once
	aborted   chan struct{}
}

func newInsertTask(c Config, client int, inserter Inserter) *insertTask {
	return &insertTask{
		client: client, table: TableName(c.ClientTable(client)), rows: NewRows(c.Seed, client, c.RowSpec),
		end: c.ClientRows(client), perBatch: int64(c.RowsPerCommit), inserter: inserter, aborted: make(chan struct{}),
	}
}

// Next builds the next statement. Where deletes are far behind it waits for them.
func (t *insertTask) Next() bool {
	n := min(t.perBatch, t.end-t.next)
	if n <= 0 {
		t.finish()
		return false
	}
	if t.gate != nil && !t.gate.reserve() {
		return false
	}
	t.inserter.Reset()
	t.pending = Sums{}
	for i := t.next; i < t.next+n; i++ {
		t.rows.At(i, &t.row)
		t.inserter.Append(&t.row)
		t.pending.AddRow(&t.row)
	}
	return true
}

// finish tells those who follow this client's inserts that there are no more.
func (t *insertTask) finish() {
	if t.gate != nil {
		t.gate.end()
	}
	if t.ended != nil {
		t.ended()
	}
}

// Stop ends a wait for deletes.
func (t *insertTask) Stop() {
	if t.gate != nil {
		t.gate.halt()
	}
}

// Do sends the statement. A statement that the server rolled back is sent
// again; one whose outcome is unknown never is.
func (t *insertTask) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	rows := t.pending.Rows
	rec.Sending(rows)
	if t.stream != nil {
		t.stream.sent.Store(t.next + rows)
	}
	if t.gate != nil {
		t.gate.inserting(rows)
	}
	for attempt := 1; ; attempt++ {
		err := t.inserter.Insert(ctx)
		if err == nil {
			t.acked.Add(t.pending)
			t.next += rows
			if t.stream != nil {
				t.stream.acked.Store(t.next)
			}
			return load.Done{Units: rows}, nil
		}
		class := drivers.ClassOf(err)
		rec.Error(drivers.CodeOf(err), class.String())
		if class == drivers.Retryable && attempt < maxAttempts && backOff(attempt, t.aborted) {
			continue
		}
		if class == drivers.Unknown {
			t.unknown.Add(t.pending)
			rec.Unknown(rows)
		} else {
			rec.Refused(rows)
		}
		return load.Done{}, t.failure(err, class, attempt)
	}
}

// failure says where the client stood when the statement failed.
func (t *insertTask) failure(err error, class drivers.Class, attempts int) error {
	of := ""
	if t.end < math.MaxInt64 {
		of = fmt.Sprintf(" of %d", t.end)
	}
	where := fmt.Sprintf("client %d inserting its rows %d to %d%s into %s", t.client, t.next+1, t.next+t.pending.Rows, of, t.table)
	switch {
	case class == drivers.Unknown:
		return fmt.Errorf("%s: %w; they are not sent again", where, err)
	case attempts > 1:
		return fmt.Errorf("%s, %d attempts: %w", where, attempts, err)
	default:
		return fmt.Errorf("%s: %w", where, err)
	}
}

// backOff waits before a retry, between half the delay and the whole; false
// means that the run was aborted meanwhile. The jitter changes no data.
func backOff(attempt int, aborted <-chan struct{}) bool {
	delay := min(firstBackoff<<(attempt-1), lastBackoff)
	timer := time.NewTimer(delay/2 + rand.N(delay/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-aborted:
		return false
	}
}

// Abort breaks off a statement that is waiting for its answer.
func (t *insertTask) Abort() {
	t.abortOnce.Do(func() { close(t.aborted) })
	t.inserter.Abort()
}
