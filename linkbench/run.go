package linkbench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// Session is what a run has at hand.
type Session struct {
	DB     Database
	Meter  *step.Meter
	Writer *results.Writer
	// Progress, if set, is called as a step begins and gives what each interval
	// is shown to; verification has none.
	Progress func(Goal) func(*load.Interval)
	// Done, if set, takes each step as it ends, whole or not. Its error ends
	// the run.
	Done func(results.Step) error
	// Seen, if set, sees the histograms of each step as it ends.
	Seen func(step string, res *load.Result)
	// Observe, if set, is called as a load or measured requests begin and gives
	// what sees the operations of each worker, from 0.
	Observe func(Phase) func(worker int) Observer
}

// Goal is what ends a step: so many rows or requests, or a time, whichever
// comes first; 0 where it doesn't. Waiting, if set, is what a step waits for
// that counts nothing before its end, empty where that isn't known.
type Goal struct {
	Step    string
	Units   int64
	Limit   time.Duration
	Waiting func() string
}

// watch gives a step what the session wants to see of it.
func (s Session) watch(spec *step.Spec, units int64) {
	s.watchGoal(spec, Goal{Step: spec.Name, Units: units, Limit: spec.Run.Limit})
}

func (s Session) watchGoal(spec *step.Spec, goal Goal) {
	if s.Progress != nil {
		spec.Progress = s.Progress(goal)
	}
	more, name := spec.More, spec.Name
	spec.More = func(res *load.Result) map[string]results.Metric {
		if s.Seen != nil {
			s.Seen(name, res)
		}
		if more == nil {
			return nil
		}
		return more(res)
	}
}

// Prepare refuses what can be known to fail before anything is touched: a bulk
// insert above the server's limit, and tables that exist unless they may be
// dropped. Errors are of kind drivers.ErrConfig.
func Prepare(ctx context.Context, w *stream.Workload, db Database, drop bool) error {
	if err := checkBatch(ctx, w, db); err != nil {
		return err
	}
	existing, err := db.ListTables(ctx)
	if err != nil {
		return fmt.Errorf("list LinkBench's tables: %w", err)
	}
	if len(existing) > 0 && !drop {
		return drivers.Configf("LinkBench's tables are there (%s): add --drop to replace them, or load into another database",
			strings.Join(existing, ", "))
	}
	return nil
}

// checkBatch asks for the largest batch: links at their longest, or nodes that
// went just past their bound by one of the largest size.
func checkBatch(ctx context.Context, w *stream.Workload, db Connections) error {
	rows := w.Config().Run.BulkRows
	return db.CheckBatch(ctx, rows, max(rows*graph.MaxLinkBytes, maxBatchBytes+graph.MaxNodeBytes))
}

// CreateTables makes the tables, replacing those that exist when they may be
// dropped.
func CreateTables(ctx context.Context, db Tables, l Layout, drop bool) error {
	existing, err := db.ListTables(ctx)
	if err != nil {
		return fmt.Errorf("list LinkBench's tables: %w", err)
	}
	if len(existing) > 0 {
		if !drop {
			return drivers.Configf("table %s appeared meanwhile; add --drop to replace it", existing[0])
		}
		if err := db.DropTables(ctx); err != nil {
			return fmt.Errorf("drop LinkBench's tables to replace them: %w", err)
		}
	}
	if err := db.CreateTables(ctx, l); err != nil {
		return fmt.Errorf("create LinkBench's tables: %w", err)
	}
	return nil
}

// Load inserts nodes, links and counts with as many connections as there are
// loaders. What it returns is valid as far as the load came, whatever the error.
func Load(ctx context.Context, w *stream.Workload, s Session) (results.Step, LoadSums, error) {
	return resumeLoad(ctx, w, s, nil)
}

// resumeLoad is Load without the pieces that were acknowledged before, whose
// rows are in the sums and not in the step. It makes no step where none is left.
func resumeLoad(ctx context.Context, w *stream.Workload, s Session, r *Resume) (results.Step, LoadSums, error) {
	sums := r.Before()
	q := newWork(w, r)
	q.save = s.Writer.AppendPiece
	var earlier []results.Piece
	if r != nil {
		earlier = r.pieces
	}
	if err := s.Writer.StartPieces(earlier); err != nil || r != nil && r.Loaded() {
		return results.Step{}, sums, err
	}
	tasks, err := openLoaders(ctx, w, s.DB, q)
	defer func() {
		for _, t := range tasks {
			_ = t.loader.Close() // the rows are acknowledged; nothing is left to lose
		}
	}()
	if err != nil {
		return results.Step{}, sums, err
	}
	spec := step.Spec{Name: "load", Kind: results.KindLoad, Server: s.DB, Rates: true, Run: load.Run{Ops: loadOps()}}
	for _, t := range tasks {
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: t})
	}
	s.watch(&spec, Expected(w).rows()-sums.rows())
	s.observe(&spec, Expected(w).rows()-sums.rows(), 0)
	done, err := s.Meter.Run(ctx, s.Writer, spec)
	for _, t := range tasks {
		sums.add(t.acked)
	}
	if r != nil {
		done.Notes = append(done.Notes, r.Note())
	}
	return done, sums, err
}

// Expected is what a load will insert, without its bytes.
func Expected(w *stream.Workload) LoadSums {
	t := w.Degrees().Totals()
	s := LoadSums{Links: t.Links, Counts: t.Counts}
	if w.Config().GenerateNodes {
		s.Nodes = t.Nodes
	}
	return s
}

// openLoaders opens the connections of a load. One that is resumed has
// those that leave rows alone which are there.
func openLoaders(ctx context.Context, w *stream.Workload, db Connections, q *work) ([]*loadTask, error) {
	open := db.OpenLoader
	if q.resume != nil {
		resumer, ok := db.(Resumer)
		if !ok {
			return nil, drivers.Configf("a load into this database can't be resumed: load again with --drop")
		}
		open = resumer.OpenFiller
	}
	var tasks []*loadTask
	loaders := w.Config().Run.Loaders
	for i := range loaders {
		l, err := open(ctx)
		if err != nil {
			return tasks, fmt.Errorf("open the connection of loader %d of %d: %w", i, loaders, err)
		}
		tasks = append(tasks, newLoadTask(w, q, l))
	}
	return tasks, nil
}

// BuildIndex builds the link table's secondary index; links is how many it holds.
func BuildIndex(ctx context.Context, s Session, l Layout, links int64) (results.Step, error) {
	task := &indexTask{db: s.DB, layout: l, links: links}
	watched, waiting := drivers.WithWaiting(context.WithoutCancel(ctx))
	task.ctx, task.cancel = context.WithCancel(watched)
	spec := step.Spec{Name: "index", Kind: results.KindIndex, Server: s.DB,
		Run: load.Run{Ops: []string{"index"}, Workers: []load.Worker{{Task: task}}}}
	s.watchGoal(&spec, Goal{Step: spec.Name, Units: links, Waiting: waiting.Text})
	return s.Meter.Run(ctx, s.Writer, spec)
}

// indexTask builds the index, once. Its units are links.
type indexTask struct {
	db     Tables
	layout Layout
	links  int64
	done   bool
	// ctx ends with Abort only: the statement has no deadline.
	ctx    context.Context
	cancel context.CancelFunc
}

func (t *indexTask) Next() bool {
	first := !t.done
	t.done = true
	return first
}

func (t *indexTask) Do(_ context.Context, rec *load.Recorder) (load.Done, error) {
	defer t.cancel()
	if err := t.db.CreateIndex(t.ctx, t.layout); err != nil {
		rec.Error(drivers.CodeOf(err), drivers.ClassOf(err).String())
		return load.Done{}, fmt.Errorf("build the secondary index on %d links: %w", t.links, err)
	}
	return load.Done{Units: t.links}, nil
}

func (t *indexTask) Abort() { t.cancel() }
