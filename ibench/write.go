package ibench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"sync/atomic"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/results"
)

// writing is a write step under way.
type writing struct {
	bench    *Bench
	step     Step
	began    State
	streams  []*stream
	writers  []*insertTask
	deleters []*deleteTask
	readers  []*readTask
	left     atomic.Int64 // writers that go on
	long     []*holding
	closers  []func() error
}

// canWrite refuses what the tables as they are don't allow.
func (b *Bench) canWrite(s Step) error {
	if s.Readers > 0 && s.Query == RangeQueries && b.State.Indexes == 0 {
		return drivers.Configf("range queries need a secondary index, and the tables have none; build them with ibench index")
	}
	if s.Deletes && b.keepsNothing() {
		return drivers.Configf("engine %s keeps no rows, so that there are none to delete", b.DB.Identity().Engine)
	}
	return nil
}

// write inserts rows, with deletes and queries beside or without.
func (b *Bench) write(ctx context.Context, s Step) (results.Step, error) {
	w := &writing{bench: b, step: s, began: State{Clients: append([]Position(nil), b.State.Clients...), Indexes: b.State.Indexes}}
	if err := b.canWrite(s); err != nil {
		return results.Step{}, err
	}
	if db, ok := b.DB.(drivers.Announced); ok && s.Readers > 0 {
		defer db.Announce(s.workers(b.Config.Clients))()
	}
	defer w.close()
	if err := w.open(ctx); err != nil {
		return results.Step{}, err
	}
	done, err := w.measured(ctx)
	var caught int64
	if err == nil {
		caught, err = w.catchUp(ctx)
	}
	for i, stream := range w.streams {
		b.State.Clients[i] = stream.position()
	}
	for _, t := range w.writers {
		b.unknown[t.client].inserted += t.unknown.Rows
	}
	for _, t := range w.deleters {
		b.unknown[t.client].deleted += t.unknown
	}
	if caught > 0 {
		done.Events = append(done.Events, results.Event{Second: s.Seconds, Kind: "catch-up",
			Text: fmt.Sprintf("%d rows were deleted after the window, to keep the tables as long as they were", caught)})
	}
	if err != nil {
		return done, err
	}
	return done, w.check(&done)
}

// open opens the connections of all workers.
func (w *writing) open(ctx context.Context) error {
	c := w.bench.Config
	for client, p := range w.bench.State.Clients {
		w.streams = append(w.streams, newStream(client, p))
	}
	if w.step.Writers > 0 {
		w.left.Store(int64(c.Clients))
		for client := range c.Clients {
			if err := w.openWriter(ctx, client); err != nil {
				return fmt.Errorf("open the connection of client %d of %d: %w", client, c.Clients, err)
			}
		}
	}
	for reader := range c.Clients * w.step.Readers {
		if err := w.openReader(ctx, reader); err != nil {
			return fmt.Errorf("open the connection of reader %d of %d: %w", reader, c.Clients*w.step.Readers, err)
		}
	}
	return w.openLong(ctx)
}

func (w *writing) openWriter(ctx context.Context, client int) error {
	c, table := w.bench.Config, TableName(w.bench.Config.ClientTable(client))
	inserter, err := openInserter(ctx, w.bench.DB, table, w.step.bulk(c))
	if err != nil {
		return err
	}
	w.closers = append(w.closers, inserter.Close)
	c.RowsPerCommit = w.step.RowsPerCommit
	t := newInsertTask(c, client, inserter)
	t.stream = w.streams[client]
	t.ended = func() { w.left.Add(-1) }
	t.next, t.end = t.stream.sent.Load(), math.MaxInt64
	if w.step.Rows > 0 {
		t.end = t.next + w.step.clientRows(c, client)
	}
	w.writers = append(w.writers, t)
	if !w.step.Deletes {
		return nil
	}
	db, err := w.bench.deleting()
	if err != nil {
		return err
	}
	deleter, err := db.OpenDeleter(ctx, table)
	if err != nil {
		return err
	}
	w.closers = append(w.closers, deleter.Close)
	t.gate = newGate()
	w.deleters = append(w.deleters, &deleteTask{
		client: client, table: table, op: 1, deleter: deleter, stream: t.stream, gate: t.gate, aborted: make(chan struct{}),
	})
	return nil
}

// openReader opens reader number n: clients have one each before any has a second.
func (w *writing) openReader(ctx context.Context, n int) error {
	c := w.bench.Config
	db, err := w.bench.reader()
	if err != nil {
		return err
	}
	client := n % c.Clients
	table := c.ClientTable(client)
	querier, err := db.OpenQuerier(ctx, TableName(table), client, w.step.RowsPerQuery)
	if err != nil {
		return err
	}
	w.closers = append(w.closers, querier.Close)
	t := &readTask{
		reader: n, table: TableName(table), kind: w.step.Query, rows: w.step.RowsPerQuery, indexes: w.bench.State.Indexes,
		spec: c.RowSpec, querier: querier, rng: splitMix64{state: w.seed(roleQueries, n)},
		samples: sampler{size: max(1, samplesPerStep/(c.Clients*w.step.Readers))},
	}
	t.op = len(w.ops()) - 1
	for i, s := range w.streams {
		if c.ClientTable(i) == table {
			t.streams = append(t.streams, s)
		}
	}
	if (db.NumbersByClient() || len(t.streams) == 1) && !w.bench.keepsNothing() {
		t.own, t.ownRows = w.streams[client], NewRows(c.Seed, client, c.RowSpec)
	}
	if w.step.Writers > 0 {
		t.writing = &w.left
	}
	w.readers = append(w.readers, t)
	return nil
}

// seed is that of a worker's stream in this step.
func (w *writing) seed(r role, worker int) uint64 {
	return streamSeed(w.bench.Config.Seed+uint64(w.bench.number)*gamma, r, worker)
}

// ops are the step's operations in the order of their numbers.
func (w *writing) ops() []string {
	ops := []string{step.OpInsert}
	if w.step.bulk(w.bench.Config) {
		return append(ops, finishOp)
	}
	if w.step.Deletes {
		ops = append(ops, step.OpDelete)
	}
	if w.step.Readers > 0 {
		ops = append(ops, step.OpQuery)
	}
	return ops
}

// spec is the step to measure.
func (w *writing) spec() step.Spec {
	s, c := w.step, w.bench.Config
	spec := step.Spec{
		Name: s.Name, Kind: results.KindWrite, Server: w.bench.DB, Rates: true, More: w.more,
		Run: load.Run{Ops: w.ops(), Punctual: w.bench.Punctual, Limit: time.Duration(s.Seconds * float64(time.Second))},
	}
	dropAfter := time.Duration(s.DropAfter * float64(time.Second))
	add := func(role step.Role, client int, task load.Task, p load.Pacer, gap time.Duration) {
		spec.Workers = append(spec.Workers, step.Worker{Client: client, Role: role})
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: task, Pacer: p, MinGap: gap, DropAfter: dropAfter})
	}
	pacer := func(client int) load.Pacer {
		return s.pacer(s.Pacing, s.Rate, s.RowsPerCommit, w.seed(rolePacing, client), client, c.Clients)
	}
	for _, t := range w.writers {
		add(step.Writer, t.client, asFinishing(t), pacer(t.client), minGap(s.Rate, s.RowsPerCommit))
	}
	for _, t := range w.deleters {
		add(step.Deleter, t.client, t, pacer(t.client), minGap(s.Rate, s.RowsPerCommit))
	}
	for _, t := range w.readers {
		p := s.pacer(s.QueryPacing, s.QueryRate, 1, w.seed(rolePacing, c.Clients+t.reader), t.reader, len(w.readers))
		add(step.Reader, t.reader%c.Clients, t, p, minGap(s.QueryRate, 1))
	}
	if s.Do == ActionLoad {
		spec.Kind = results.KindLoad
	}
	rows := s.Rows
	if due := int64(s.targetRate(s.Seconds) * s.Seconds * float64(len(w.writers))); due > 0 && (rows == 0 || due < rows) {
		rows = due // what time ends is about as many rows as its rate has
	}
	spec.Progress = w.bench.shown(s, rows)
	return spec
}

// more is what only the workload knows of the step.
func (w *writing) more(res *load.Result) map[string]results.Metric {
	m := map[string]results.Metric{}
	set := func(name, unit, source string, v float64) {
		m[name] = results.Metric{Value: results.Known(v), Unit: unit, Source: source}
	}
	maps.Copy(m, w.longMetrics())
	var inserted Sums
	held := w.began.Rows()
	for _, t := range w.writers {
		inserted.Add(t.acked)
	}
	for _, t := range w.deleters {
		held -= t.stream.deleted.Load() - w.began.Clients[t.client].Deleted
	}
	maps.Copy(m, byteMetrics(w.bench.Config, inserted, held+inserted.Rows))
	seconds := res.Window().Seconds()
	if w.step.Rate > 0 {
		target := w.step.targetRate(seconds) * float64(len(w.writers))
		set(results.TargetRate, "rows/s", "asked for, all writers", target)
		set(results.TargetPercent, "%", "100 × rows_per_second ÷ "+results.TargetRate, 100*float64(res.Ops[0].Units)/seconds/target)
	}
	if len(w.deleters) > 0 {
		var lowest int64
		var took time.Duration
		for _, t := range w.deleters {
			lowest += t.lowest
			took += t.lowestTime
		}
		deleted := float64(res.Ops[1].Units)
		set("deleted_rows", "rows", "acknowledged by the server", deleted)
		set("deleted_rows_per_second", "rows/s", "deleted_rows ÷ window_seconds", deleted/seconds)
		set("min_key_queries", "queries", "asked by the deleters", float64(lowest))
		set("min_key_us", "us", "all of them together", float64(took.Microseconds()))
	}
	if len(w.readers) > 0 {
		var fetched, queries int64
		for _, t := range w.readers {
			fetched += t.fetched
			queries += t.queries
		}
		set("fetched_rows", "rows", "returned by queries", float64(fetched))
		set("fetched_rows_per_query", "rows/query", "fetched_rows ÷ queries", float64(fetched)/float64(queries))
	}
	return m
}

// catchUp removes what the end of the step kept from being removed.
func (w *writing) catchUp(ctx context.Context) (total int64, err error) {
	for _, t := range w.deleters {
		n, err := t.catchUp(ctx, t.stream.acked.Load(), w.began.Clients[t.client], w.step.RowsPerCommit)
		if err != nil {
			return total, fmt.Errorf("delete after the window what was inserted in it: %w", err)
		}
		total += n
	}
	return total, nil
}

// check compares the sampled range queries with the rows of the seed.
func (w *writing) check(done *results.Step) error {
	var samples []sample
	for _, t := range w.readers {
		samples = append(samples, t.samples.all()...)
	}
	if len(samples) == 0 || w.bench.Config.Verify != VerifyFull || w.bench.keepsNothing() {
		return nil
	}
	done.Metrics["checked_queries"] = results.Metric{Value: results.Known(float64(len(samples))), Unit: "queries", Source: "range queries compared with rows made again from the seed"}
	return checkSamples(w.bench.Config, samples)
}

func (w *writing) close() {
	for _, end := range w.closers {
		_ = end() // what was acknowledged is; nothing is left to lose
	}
}
