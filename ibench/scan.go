package ibench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/results"
)

// scan reads the primary key, each secondary index, and the primary key again,
// each time all tables at once over one connection per table. The primary key
// comes twice because what the steps before left to be written back or
// compacted falls into the first scan.
func (b *Bench) scan(ctx context.Context, s Step) ([]results.Step, error) {
	scans := []int{PrimaryKey}
	for i := range b.State.Indexes {
		scans = append(scans, i)
	}
	scans = append(scans, PrimaryKey)
	var steps []results.Step
	for n, index := range scans {
		name := fmt.Sprintf("%s.%d.%s", s.Name, n+1, indexLabel(index))
		if n > 0 && index == PrimaryKey {
			name += scanEnd
		}
		done, err := b.scanOne(ctx, name, index)
		if done.Name != "" {
			steps = append(steps, done)
		}
		if err != nil {
			return steps, err
		}
	}
	return steps, nil
}

// scanEnd is behind the name of a scan step's last scan.
const scanEnd = "2"

// IsScanOf is whether a measured step is one of the scans of a scan step.
func IsScanOf(name, step string) bool {
	rest, ok := strings.CutPrefix(name, step+".")
	return ok && len(rest) > 1 && rest[1] == '.'
}

// EndsScan is whether a measured step is the last of a scan step's scans.
func EndsScan(name string) bool { return strings.HasSuffix(name, "."+indexLabel(PrimaryKey)+scanEnd) }

func indexLabel(index int) string {
	if index == PrimaryKey {
		return "pk"
	}
	return Indexes[index].Name
}

func (b *Bench) scanOne(ctx context.Context, name string, index int) (results.Step, error) {
	db, err := b.reader()
	if err != nil {
		return results.Step{}, err
	}
	spec := step.Spec{Name: name, Kind: results.KindScan, Server: b.DB, Run: load.Run{Ops: []string{"scan"}}}
	for t, rows := range b.State.tableRows(b.Config) {
		scanner, err := db.OpenScanner(ctx, TableName(t))
		if err != nil {
			return results.Step{}, err
		}
		defer scanner.Close()
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: &scanTask{
			scanner: scanner, table: TableName(t), index: index, rows: rows, keepsNothing: b.keepsNothing(),
		}})
	}
	spec.Progress = b.shown(Step{Name: name}, b.State.Rows())
	return b.Meter.Run(ctx, b.Writer, spec)
}

// keepsNothing is whether the last look at the tables found an engine that
// stores nothing.
func (b *Bench) keepsNothing() bool { return b.DB.Identity().Durability == "keeps nothing" }

// scanTask scans one table once. Its units are entries.
type scanTask struct {
	scanner      Scanner
	table        string
	index        int
	rows         int64
	keepsNothing bool
	done         bool
}

// Next is true once.
func (t *scanTask) Next() bool {
	first := !t.done
	t.done = true
	return first
}

// Do scans, and refuses another count than that of the rows.
func (t *scanTask) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	n, err := t.scanner.Scan(ctx, t.index)
	if err != nil {
		rec.Error(drivers.CodeOf(err), drivers.ClassOf(err).String())
		return load.Done{}, fmt.Errorf("scan %s of %s: %w", indexLabel(t.index), t.table, err)
	}
	if n != t.rows && !t.keepsNothing {
		return load.Done{}, fmt.Errorf("%w: a scan of %s of %s read %d entries, where the table holds %d rows", ErrVerify, indexLabel(t.index), t.table, n, t.rows)
	}
	return load.Done{Units: n}, nil
}

// Abort ends the scan.
func (t *scanTask) Abort() { t.scanner.Abort() }

// settle brings the database to rest. What was done and seen is in the step's events.
func (b *Bench) settle(ctx context.Context, s Step) (results.Step, error) {
	db, err := b.settler()
	if err != nil {
		return results.Step{}, err
	}
	task := &settleTask{db: db, limit: time.Duration(s.LimitSeconds * float64(time.Second))}
	ctx, waiting := drivers.WithWaiting(ctx)
	task.ctx, task.cancel = context.WithCancel(ctx)
	for t := range b.Config.Tables {
		task.tables = append(task.tables, TableName(t))
	}
	done, err := b.Meter.Run(ctx, b.Writer, step.Spec{
		Name: s.Name, Kind: results.KindSettle, Server: b.DB, Progress: b.shownAs(Step{Seconds: s.LimitSeconds}, Goal{Step: s.Name, Waiting: waiting.Text}),
		More: heldBytes(b.Config, b.State.Rows()),
		Run:  load.Run{Ops: []string{"settle"}, Workers: []load.Worker{{Task: task}}, Grace: settleGrace},
	})
	for _, list := range []struct {
		kind  string
		texts []string
	}{{"settle", task.settled.Actions}, {"verified", task.settled.Verified}, {"unverified", task.settled.Unverified}} {
		for _, text := range list.texts {
			done.Events = append(done.Events, results.Event{Kind: list.kind, Text: text})
		}
	}
	return done, err
}

// settleGrace is given twice to a settle that was interrupted, so that it can
// put the server's variables back, or say that it couldn't: a driver may try
// for half a minute.
const settleGrace = 20 * time.Second

type settleTask struct {
	db      Settler
	tables  []string
	limit   time.Duration
	done    bool
	settled Settled
	ctx     context.Context
	cancel  context.CancelFunc
}

// Next is true once.
func (t *settleTask) Next() bool {
	first := !t.done
	t.done = true
	return first
}

// Do settles.
func (t *settleTask) Do(_ context.Context, rec *load.Recorder) (load.Done, error) {
	defer t.cancel()
	var err error
	t.settled, err = t.db.Settle(t.ctx, t.tables, t.limit)
	if err != nil && t.ctx.Err() != nil { // the user's doing, not an error of the database
		return load.Done{}, fmt.Errorf("bring the database to rest: interrupted: %w", err)
	}
	if err != nil {
		rec.Error(drivers.CodeOf(err), "fatal")
		return load.Done{}, fmt.Errorf("bring the database to rest: %w", err)
	}
	return load.Done{}, nil
}

// Abort ends the wait.
func (t *settleTask) Abort() { t.cancel() }
