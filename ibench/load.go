package ibench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/results"
)

// Session is what a run has at hand.
type Session struct {
	DB     Database
	Meter  *step.Meter
	Writer *results.Writer
	// Progress, if set, is called as a step begins, with its name and the
	// rows it is to reach, and gives what each interval is shown to.
	Progress func(step string, rows int64) func(*load.Interval)
}

// Loaded is what came of a load, as far as it came.
type Loaded struct {
	Steps  []results.Step
	Verify *results.Verify
}

// Prepare refuses what can be known to fail, before anything is touched: a
// statement above the server's limit, and tables that exist unless they may be
// dropped. Errors are of kind drivers.ErrConfig.
func Prepare(ctx context.Context, c Config, db Database) error {
	if err := db.CheckBatch(ctx, c.RowsPerCommit, c.DataLengthMax); err != nil {
		return err
	}
	if err := c.checkShape(db); err != nil {
		return err
	}
	if c.BulkLoad {
		if err := checkBulkLoad(ctx, db); err != nil {
			return err
		}
	}
	existing, err := c.existingTables(ctx, db)
	if err != nil || len(existing) == 0 || c.Drop {
		return err
	}
	return drivers.Configf("table %s exists; add --drop to replace it, or remove the benchmark's tables with ibench drop", existing[0])
}

// existingTables are those of the load's tables that exist, in order.
func (c Config) existingTables(ctx context.Context, db Tables) ([]string, error) {
	names, err := db.ListTables(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the benchmark's tables: %w", err)
	}
	exists := map[string]bool{}
	for _, name := range names {
		exists[name] = true
	}
	var found []string
	for t := range c.Tables {
		if name := TableName(t); exists[name] {
			found = append(found, name)
		}
	}
	return found, nil
}

// Load makes the tables, inserts the rows, builds the indexes that come at the
// end, and verifies. What it returns is valid as far as the load came,
// whatever the error.
func Load(ctx context.Context, c Config, s Session) (Loaded, error) {
	var out Loaded
	if err := createTables(ctx, c, s.DB); err != nil {
		return out, err
	}
	tasks, err := openTasks(ctx, c, s.DB)
	defer closeTasks(tasks)
	if err != nil {
		return out, err
	}
	loaded, err := s.Meter.Run(ctx, s.Writer, insertStep(c, s, tasks))
	out.Steps = append(out.Steps, loaded)
	if err != nil {
		out.Verify = verifyPartial(ctx, c, s.DB, tasks)
		return out, err
	}
	if c.IndexesAt == IndexesAtEnd && c.SecondaryIndexes > 0 {
		var progress func(*load.Interval)
		if s.Progress != nil {
			progress = s.Progress("index", c.Rows)
		}
		built, err := s.Meter.Run(ctx, s.Writer, indexStep("index", s.DB, c, c.loadedRows(), c.SecondaryIndexList(), progress))
		out.Steps = append(out.Steps, built)
		if err != nil {
			return out, err
		}
	}
	out.Verify, err = verify(ctx, c, s.DB, tasks)
	return out, err
}

func createTables(ctx context.Context, c Config, db Tables) error {
	existing, err := c.existingTables(ctx, db)
	if err != nil {
		return err
	}
	for _, name := range existing {
		if !c.Drop {
			return drivers.Configf("table %s appeared meanwhile; add --drop to replace it", name)
		}
		if err := db.DropTable(ctx, name); err != nil {
			return fmt.Errorf("drop table %s to replace it: %w", name, err)
		}
	}
	if err := runScript(ctx, db, "--ddl-pre", c.DDLPre); err != nil {
		return err
	}
	for t := range c.Tables {
		table := c.table(t)
		if c.IndexesAt == IndexesAtStart {
			table.Indexes = c.SecondaryIndexList()
		}
		if err := db.CreateTable(ctx, table); err != nil {
			return fmt.Errorf("create table %s: %w", table.Name, err)
		}
	}
	return runScript(ctx, db, "--ddl-post", c.DDLPost)
}

// openTasks opens a connection per client; those opened before an error are
// returned with it.
func openTasks(ctx context.Context, c Config, db Loader) ([]*insertTask, error) {
	var tasks []*insertTask
	for client := range c.Clients {
		inserter, err := openInserter(ctx, db, TableName(c.ClientTable(client)), c.BulkLoad)
		if err != nil {
			return tasks, fmt.Errorf("open the connection of client %d of %d: %w", client, c.Clients, err)
		}
		tasks = append(tasks, newInsertTask(c, client, inserter))
	}
	return tasks, nil
}

func closeTasks(tasks []*insertTask) {
	for _, t := range tasks {
		_ = t.inserter.Close() // the rows are acknowledged; nothing is left to lose
	}
}

// insertStep is the measured insert.
func insertStep(c Config, s Session, tasks []*insertTask) step.Spec {
	spec := step.Spec{Name: "load", Kind: results.KindLoad, Server: s.DB, Rates: true, Run: load.Run{Ops: []string{"insert"}}}
	for _, t := range tasks {
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: asFinishing(t)})
	}
	spec.More = func(*load.Result) map[string]results.Metric {
		var acked Sums
		for _, t := range tasks {
			acked.Add(t.acked)
		}
		return byteMetrics(c, acked, acked.Rows)
	}
	if c.BulkLoad {
		spec.Run.Ops = append(spec.Run.Ops, finishOp)
	}
	if s.Progress != nil {
		spec.Progress = s.Progress(spec.Name, c.Rows)
	}
	return spec
}

// indexStep is the measured build of secondary indexes, all tables side by
// side, one statement or a few each. rows are those of each table.
func indexStep(name string, db Database, c Config, rows []int64, indexes []Index, progress func(*load.Interval)) step.Spec {
	spec := step.Spec{Name: name, Kind: results.KindIndex, Server: db, Run: load.Run{Ops: []string{"index"}}, Progress: progress}
	spec.More = heldBytes(c, sum(rows))
	for t, n := range rows {
		task := &indexTask{db: db, table: TableName(t), rows: n, indexes: indexes}
		task.ctx, task.cancel = context.WithCancel(context.Background())
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: task})
	}
	return spec
}

// loadedRows is how many rows each table holds after a load.
func (c Config) loadedRows() []int64 {
	rows := make([]int64, c.Tables)
	for client := range c.Clients {
		rows[c.ClientTable(client)] += c.ClientRows(client)
	}
	return rows
}

// indexTask builds one table's indexes, once. Its units are rows indexed,
// counted once for all indexes, as the original's l.x counts them.
type indexTask struct {
	db      Tables
	table   string
	rows    int64
	indexes []Index
	done    bool
	// ctx ends with Abort only: the statement has no deadline.
	ctx    context.Context
	cancel context.CancelFunc
}

// Next is true once.
func (t *indexTask) Next() bool {
	first := !t.done
	t.done = true
	return first
}

// Do builds the indexes.
func (t *indexTask) Do(_ context.Context, rec *load.Recorder) (load.Done, error) {
	defer t.cancel()
	if err := t.db.CreateIndexes(t.ctx, t.table, t.indexes); err != nil {
		rec.Error(drivers.CodeOf(err), drivers.ClassOf(err).String())
		return load.Done{}, fmt.Errorf("build %d secondary indexes on %s, %d rows: %w", len(t.indexes), t.table, t.rows, err)
	}
	return load.Done{Units: t.rows}, nil
}

// Abort cancels the statement.
func (t *indexTask) Abort() { t.cancel() }

// partialVerifyTimeout bounds the look at the tables after a failed load: the
// server may be gone.
const partialVerifyTimeout = 10 * time.Second

// verifyPartial looks whether a load that failed left what was acknowledged,
// as far as the server still answers. An interrupted one isn't looked at: who
// interrupts wants to get away.
func verifyPartial(ctx context.Context, c Config, db Loader, tasks []*insertTask) *results.Verify {
	if ctx.Err() != nil {
		return &results.Verify{Mode: string(c.Verify), Note: "not verified: the load was interrupted"}
	}
	ctx, cancel := context.WithTimeout(ctx, partialVerifyTimeout)
	defer cancel()
	v, _ := verify(ctx, c, db, tasks) // the load's own error is the one to tell
	return v
}

// verify compares each table with what its clients were told.
func verify(ctx context.Context, c Config, db Loader, tasks []*insertTask) (*results.Verify, error) {
	v := &results.Verify{Mode: string(c.Verify)}
	if c.Verify == VerifyOff {
		return v, nil
	}
	begin := time.Now()
	expected, unknown := make([]Sums, c.Tables), make([]int64, c.Tables)
	var total, found Sums
	for _, t := range tasks {
		expected[c.ClientTable(t.client)].Add(t.acked)
		unknown[c.ClientTable(t.client)] += t.unknown.Rows
		total.Add(t.acked)
	}
	var errs []error
	for t := range c.Tables {
		one, err := verifyTable(ctx, db, TableName(t), expected[t], unknown[t], c.Verify)
		if err != nil && !errors.Is(err, ErrVerify) {
			v.Note = "not verified: " + err.Error()
			return v, err
		}
		if err != nil {
			errs = append(errs, err)
			v.Differences = append(v.Differences, "table "+one.Table+": "+one.Difference)
		}
		found.Add(one.Found)
		if one.KeepsNothing {
			v.Note = "the engine keeps nothing; verified as empty"
		}
	}
	if n := sum(unknown); n > 0 && v.Note == "" {
		v.Note = fmt.Sprintf("%d rows were acknowledged, %d more are of unknown outcome, %d are there", total.Rows, n, found.Rows)
	}
	passed := len(errs) == 0
	v.Passed = &passed
	v.Seconds = results.Known(time.Since(begin).Seconds())
	v.Expected, v.Found = total.byName(c.Verify), found.byName(c.Verify)
	return v, errors.Join(errs...)
}

func sum(counts []int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}

// byName gives the sums under their names in the record.
func (s Sums) byName(mode VerifyMode) map[string]int64 {
	m := map[string]int64{"rows": s.Rows}
	if mode == VerifyFull {
		m["sum_cashregisterid"] = s.CashRegisterID
		m["sum_customerid"] = s.CustomerID
		m["sum_productid"] = s.ProductID
		m["sum_price"] = s.Price
		m["sum_data_bytes"] = s.DataBytes
	}
	return m
}

// DropTables removes the benchmark's tables and gives the names of those it
// removed, also where an error ended it.
func DropTables(ctx context.Context, db Tables) ([]string, error) {
	names, err := db.ListTables(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the benchmark's tables: %w", err)
	}
	slices.SortFunc(names, func(a, b string) int { // pi2 before pi10
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	for i, name := range names {
		if err := db.DropTable(ctx, name); err != nil {
			return names[:i], fmt.Errorf("drop table %s: %w", name, err)
		}
	}
	return names, nil
}
