package ibench

import (
	"context"
	"fmt"
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

	abortOnce sync.Once
	aborted   chan struct{}
}

func newInsertTask(c Config, client int, inserter Inserter) *insertTask {
	return &insertTask{
		client: client, table: TableName(c.ClientTable(client)), rows: NewRows(c.Seed, client, c.RowSpec),
		end: c.ClientRows(client), perBatch: int64(c.RowsPerCommit), inserter: inserter, aborted: make(chan struct{}),
	}
}

// Next builds the next statement.
func (t *insertTask) Next() bool {
	n := min(t.perBatch, t.end-t.next)
	if n <= 0 {
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

// Do sends the statement. A statement that the server rolled back is sent
// again; one whose outcome is unknown never is.
func (t *insertTask) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	rows := t.pending.Rows
	for attempt := 1; ; attempt++ {
		err := t.inserter.Insert(ctx)
		if err == nil {
			t.acked.Add(t.pending)
			t.next += rows
			return load.Done{Units: rows}, nil
		}
		class := drivers.ClassOf(err)
		rec.Error(drivers.CodeOf(err), class.String())
		if class == drivers.Retryable && attempt < maxAttempts && t.backOff(attempt) {
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
	where := fmt.Sprintf("client %d inserting its rows %d to %d of %d into %s",
		t.client, t.next+1, t.next+t.pending.Rows, t.end, t.table)
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
func (t *insertTask) backOff(attempt int) bool {
	delay := min(firstBackoff<<(attempt-1), lastBackoff)
	timer := time.NewTimer(delay/2 + rand.N(delay/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.aborted:
		return false
	}
}

// Abort breaks off a statement that is waiting for its answer.
func (t *insertTask) Abort() {
	t.abortOnce.Do(func() { close(t.aborted) })
	t.inserter.Abort()
}
