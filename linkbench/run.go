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
	// Progress, if set, is called as a step begins, with its name and the rows
	// or requests it is to reach, 0 where only time ends it. It gives what each
	// interval is shown to.
	Progress func(step string, units int64) func(*load.Interval)
}

// Prepare refuses what can be known to fail before anything is touched: a bulk
// insert above the server's limit, and tables that exist unless they may be
// dropped. Errors are of kind drivers.ErrConfig.
func Prepare(ctx context.Context, w *stream.Workload, db Database, drop bool) error {
	rows := w.Config().Run.BulkRows
	// The largest batch: links at their longest, or nodes that went just past
	// their bound by one of the largest size.
	if err := db.CheckBatch(ctx, rows, max(rows*graph.MaxLinkBytes, maxBatchBytes+graph.MaxNodeBytes)); err != nil {
		return err
	}
	existing, err := db.ListTables(ctx)
	if err != nil {
		return fmt.Errorf("list LinkBench's tables: %w", err)
	}
	if len(existing) > 0 && !drop {
		return drivers.Configf("table %s exists; add --drop to replace LinkBench's tables, or load into another database",
			strings.Join(existing, ", "))
	}
	return nil
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
	tasks, err := openLoaders(ctx, w, s.DB)
	defer func() {
		for _, t := range tasks {
			_ = t.loader.Close() // the rows are acknowledged; nothing is left to lose
		}
	}()
	if err != nil {
		return results.Step{}, LoadSums{}, err
	}
	spec := step.Spec{Name: "load", Kind: results.KindLoad, Server: s.DB, Rates: true, Run: load.Run{Ops: loadOps()}}
	for _, t := range tasks {
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: t})
	}
	if s.Progress != nil {
		spec.Progress = s.Progress(spec.Name, Expected(w).rows())
	}
	done, err := s.Meter.Run(ctx, s.Writer, spec)
	var acked LoadSums
	for _, t := range tasks {
		acked.add(t.acked)
	}
	return done, acked, err
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

func openLoaders(ctx context.Context, w *stream.Workload, db Connections) ([]*loadTask, error) {
	q := newWork(w)
	var tasks []*loadTask
	loaders := w.Config().Run.Loaders
	for i := range loaders {
		l, err := db.OpenLoader(ctx)
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
	task.ctx, task.cancel = context.WithCancel(context.WithoutCancel(ctx))
	spec := step.Spec{Name: "index", Kind: results.KindIndex, Server: s.DB,
		Run: load.Run{Ops: []string{"index"}, Workers: []load.Worker{{Task: task}}}}
	if s.Progress != nil {
		spec.Progress = s.Progress(spec.Name, links)
	}
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

// RequestPlan is how requests are made beyond what the workload's
// configuration says. The zero value follows the configuration, the numbers
// being those of the only client process.
type RequestPlan struct {
	Name string // of the step; "request" unless set
	// PerSecond is a total rate, open loop, arrivals of a Poisson process; 0
	// follows requestrate, and without one answers set the pace.
	PerSecond int64
	// FirstRequester and AllRequesters number the requesters when several
	// client processes share a run: this one has those from FirstRequester on.
	FirstRequester, AllRequesters int
}

// Requests runs the warm-up and then the measured requests, on the same
// connections and with the same streams. The steps it returns are valid as far
// as the run came.
func Requests(ctx context.Context, w *stream.Workload, p RequestPlan, s Session) ([]results.Step, RequestStats, error) {
	tasks, err := openRequesters(ctx, w, p, s.DB)
	defer func() {
		for _, t := range tasks {
			_ = t.client.Close() // every answer has come or is counted as unknown
		}
	}()
	if err != nil {
		return nil, RequestStats{}, err
	}
	run := w.Config().Run
	var steps []results.Step
	for _, t := range tasks {
		t.budget = run.MaxFailedPerRequester
	}
	if run.WarmupS > 0 {
		spec := requestSpec(w, p, s, tasks, "warmup", results.KindWarmup)
		spec.Run.Limit = time.Duration(run.WarmupS) * time.Second
		warm, err := s.Meter.Run(ctx, s.Writer, spec)
		steps = append(steps, warm)
		if err != nil {
			return steps, RequestStats{}, fmt.Errorf("warm-up: %w", err)
		}
	}
	for _, t := range tasks {
		t.stats = RequestStats{}
		t.budget = run.MaxFailedPerRequester
		if t.left = run.RequestsPerRequester; t.left == 0 {
			t.left = -1
		}
	}
	name := p.Name
	if name == "" {
		name = "request"
	}
	spec := requestSpec(w, p, s, tasks, name, results.KindRequest)
	spec.Run.Limit = time.Duration(run.MaxTimeS) * time.Second
	measured, err := s.Meter.Run(ctx, s.Writer, spec)
	steps = append(steps, measured)
	var stats RequestStats
	for _, t := range tasks {
		stats.add(t.stats)
	}
	return steps, stats, err
}

func requestSpec(w *stream.Workload, p RequestPlan, s Session, tasks []*requestTask, name, kind string) step.Spec {
	spec := step.Spec{Name: name, Kind: kind, Server: s.DB, Rates: true, Per: results.PerRequest,
		Run: load.Run{Ops: requestOps()}}
	units := int64(0)
	for i, t := range tasks {
		units += max(t.left, 0)
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: t, Pacer: pacer(w, p, len(tasks), i)})
	}
	if s.Progress != nil {
		spec.Progress = s.Progress(name, units)
	}
	return spec
}

// pacer is a requester's part of a total rate, or its own rate; nil for none.
// Arrivals are independent of the requests' streams, so a rate doesn't change
// what is asked.
func pacer(w *stream.Workload, p RequestPlan, requesters, i int) load.Pacer {
	seed := uint64(w.Config().RequestSeed) + uint64(i)<<32 + 1
	if p.PerSecond > 0 {
		return &load.Poisson{PerSecond: p.PerSecond, Batch: int64(requesters), Seed: seed}
	}
	if rate := w.Config().Run.RatePerRequester; rate > 0 {
		const thousandths = 1000 // lets a rate below one per second be a whole number of parts
		return &load.Poisson{PerSecond: max(int64(rate*thousandths+0.5), 1), Batch: thousandths, Seed: seed}
	}
	return nil
}

func openRequesters(ctx context.Context, w *stream.Workload, p RequestPlan, db Connections) ([]*requestTask, error) {
	n := w.Config().Run.Requesters
	all := max(p.AllRequesters, p.FirstRequester+n)
	gens := w.Requests(p.FirstRequester, n, all)
	var tasks []*requestTask
	for i, gen := range gens {
		c, err := db.OpenClient(ctx)
		if err != nil {
			return tasks, fmt.Errorf("open the connection of requester %d of %d: %w", i, n, err)
		}
		tasks = append(tasks, newRequestTask(gen, c, p.FirstRequester+i, w.Config().Run.MaxRetries))
	}
	return tasks, nil
}
