package linkbench

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

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
	if db, ok := s.DB.(drivers.Announced); ok {
		defer db.Announce(w.Config().Run.Requesters)()
	}
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
		spec := requestSpec(w, p, s, tasks, p.warmupName(), results.KindWarmup, run.WarmupS)
		warm, err := s.Meter.Run(ctx, s.Writer, spec)
		describe(&warm, sum(tasks))
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
	spec := requestSpec(w, p, s, tasks, p.name(), results.KindRequest, run.MaxTimeS)
	measured, err := s.Meter.Run(ctx, s.Writer, spec)
	stats := sum(tasks)
	describe(&measured, stats)
	return append(steps, measured), stats, err
}

// sum adds up what the requesters did.
func sum(tasks []*requestTask) RequestStats {
	var stats RequestStats
	for _, t := range tasks {
		stats.add(t.stats)
	}
	return stats
}

// describe puts what the requests came to into the step's record.
func describe(s *results.Step, stats RequestStats) {
	for i := range s.Operations {
		o := &s.Operations[i]
		if op, ok := graph.ByName(o.Name); ok && o.Kind == results.KindService {
			n := stats.Ops[op]
			o.Outcome = &results.Outcome{Errors: n.Errors, Retries: n.Retries, Found: n.Found, Rows: n.Rows, Switched: n.Switched}
		}
	}
	s.Metrics[results.HistoryQueries] = results.Metric{
		Value: results.Known(float64(stats.History)), Unit: "requests", Source: "list queries for an older page",
	}
}

func requestSpec(w *stream.Workload, p RequestPlan, s Session, tasks []*requestTask, name, kind string, limitS int64) step.Spec {
	spec := step.Spec{Name: name, Kind: kind, Server: s.DB, Rates: true, Per: results.PerRequest,
		Run: load.Run{Ops: requestOps(), Punctual: true, Limit: time.Duration(limitS) * time.Second}}
	units := int64(0)
	for i, t := range tasks {
		units += max(t.left, 0)
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: t, Pacer: pacer(w, p, len(tasks), i)})
	}
	spec.More = func(res *load.Result) map[string]results.Metric {
		m := latencyMetrics(res)
		if target := p.target(w, len(tasks)); target > 0 {
			m[results.TargetRequests] = results.Metric{Value: results.Known(target), Unit: "requests/s", Source: "asked for, all requesters"}
			m[results.TargetPercent] = results.Metric{
				Value: reached(res, units, func(i int) load.Pacer { return pacer(w, p, len(tasks), i) }),
				Unit:  "%", Source: "100 × requests answered ÷ requests that were due by then",
			}
		}
		return m
	}
	s.watch(&spec, units)
	s.observe(&spec, units, p.FirstRequester)
	return spec
}

// target is the total rate asked for, 0 for none.
func (p RequestPlan) target(w *stream.Workload, requesters int) float64 {
	if p.PerSecond > 0 {
		return float64(p.PerSecond)
	}
	return max(w.Config().Run.RatePerRequester, 0) * float64(requesters)
}

// reached is how much of a schedule was answered, in percent. Arrivals are
// random, so it is compared with those that came, not with their mean: in a few
// seconds the two differ by more than a server that can't keep up.
func reached(res *load.Result, planned int64, schedule func(worker int) load.Pacer) *float64 {
	end := res.LastAck
	if end <= 0 {
		return nil
	}
	if planned > 0 && res.Units() == planned {
		var last time.Duration // when the last of them was due
		for i, w := range res.Workers {
			last = max(last, schedule(i).Start(w.Units-1))
		}
		return results.Known(100 * min(1, last.Seconds()/end.Seconds()))
	}
	// What failed is in no count: a worker's schedule ends all the same.
	each := int64(math.MaxInt64)
	if planned > 0 {
		each = planned / int64(len(res.Workers))
	}
	var due int64
	for i := range res.Workers {
		pacer := schedule(i)
		for n := int64(0); n < each && pacer.Start(n) < end; n++ {
			due++
		}
	}
	if due == 0 {
		return nil
	}
	return results.Known(100 * float64(res.Units()) / float64(due))
}

// latencyMetrics are the latencies of all requests together.
func latencyMetrics(res *load.Result) map[string]results.Metric {
	const source = "all operations, from the intended start where there was a rate, else from sending"
	all := load.NewHistogram()
	var maxUS int64
	for _, op := range res.Ops {
		all.Merge(op.Response)
		maxUS = max(maxUS, op.MaxResponseUS)
	}
	m := map[string]results.Metric{}
	us := func(name string, value func() float64) {
		metric := results.Metric{Unit: "us", Source: source}
		if all.TotalCount() > 0 {
			metric.Value = results.Known(value())
		}
		m[name] = metric
	}
	at := func(percent float64) func() float64 {
		return func() float64 { return float64(min(all.ValueAtPercentile(percent), maxUS)) }
	}
	us(results.LatencyMean, all.Mean)
	us(results.LatencyP50, at(50))
	us(results.LatencyP95, at(95))
	us(results.LatencyP99, at(99))
	us(results.LatencyP999, at(99.9))
	us(results.LatencyMax, func() float64 { return float64(maxUS) })
	return m
}

// pacer is a requester's part of a total rate, or its own rate; nil for none.
// Arrivals are independent of the requests' streams, so a rate doesn't change
// what is asked, and those of several client processes differ.
func pacer(w *stream.Workload, p RequestPlan, requesters, i int) load.Pacer {
	seed := uint64(w.Config().RequestSeed) + uint64(p.FirstRequester+i)<<32 + 1
	if p.PerSecond > 0 {
		return &load.Poisson{PerSecond: p.PerSecond, Batch: int64(requesters), Seed: seed}
	}
	if rate := w.Config().Run.RatePerRequester; rate > 0 {
		const thousandths = 1000 // lets a rate below one per second be a whole number of parts
		return &load.Poisson{PerSecond: max(int64(rate*thousandths+0.5), 1), Batch: thousandths, Seed: seed}
	}
	return nil
}

// warmupName tells the warm-ups of several rates apart.
func (p RequestPlan) warmupName() string {
	if rate, ok := strings.CutPrefix(p.Name, requestStep+"."); ok {
		return "warmup." + rate
	}
	return "warmup"
}

// requestStep is the name of a step of requests that has none of its own.
const requestStep = "request"

func (p RequestPlan) name() string {
	if p.Name == "" {
		return requestStep
	}
	return p.Name
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
