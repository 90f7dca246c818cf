package linkbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"insertbench/drivers"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// IndexAt is when the secondary index is built.
type IndexAt string

// Index at the start: with the tables, so that the load maintains it; at the
// end: after the load, timed apart.
const (
	IndexNever IndexAt = "never"
	IndexStart IndexAt = "start"
	IndexEnd   IndexAt = "end"
)

// Plan is what a run does, in the order of its fields.
type Plan struct {
	// Load makes the tables, replacing those that exist with Drop, and loads.
	Load bool `json:"load"`
	// Resume, if set, is the load that this one goes on with: no tables are
	// made, and what is there is verified whatever Verify says.
	Resume  *Resume `json:"-"`
	Drop    bool    `json:"drop"`
	IndexAt IndexAt `json:"index_at"`
	Layout  Layout  `json:"layout"`
	Request bool    `json:"request"`
	// Rates are total requests per second, a step for each, none of which
	// repeats another's requests; without any there is one step, at the
	// workload's pace.
	Rates []int64 `json:"request_rates_per_second"`
	// FirstRequester and AllRequesters are as in RequestPlan.
	FirstRequester int `json:"first_requester"`
	AllRequesters  int `json:"all_requesters"`
	// Verify compares after the load and after the requests.
	Verify bool `json:"verify"`
}

// Validate says what is wrong with a plan, as an error of kind drivers.ErrConfig.
func (p Plan) Validate() error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, drivers.Configf(format, args...))
		}
	}
	refuse(!slices.Contains([]IndexAt{IndexNever, IndexStart, IndexEnd}, p.IndexAt), "index at %q: it is start, end or never", p.IndexAt)
	refuse(p.Load && p.Request && p.IndexAt == IndexNever, "requests need the secondary index: build it at start or end")
	refuse(p.Layout.Index != IndexCovering && p.Layout.Index != IndexShort, "index %q: it is covering or short", p.Layout.Index)
	refuse(p.Layout.Partitions < 0 || p.Layout.Partitions > 8192, "%d partitions: it is 0 to 8192", p.Layout.Partitions)
	refuse(!slices.Contains([]int{0, 1, 2, 4, 8, 16}, p.Layout.KeyBlockKB), "a key block of %d KB: it is 1, 2, 4, 8 or 16, or 0 for no compression", p.Layout.KeyBlockKB)
	seen := map[int64]bool{}
	for _, rate := range p.Rates {
		refuse(rate < 1, "a rate of %d requests per second: it is 1 or more", rate)
		refuse(seen[rate], "the rate of %d requests per second stands there twice", rate)
		seen[rate] = true
	}
	refuse(p.FirstRequester < 0 || p.AllRequesters < 0, "numbers of requesters can't be negative")
	return errors.Join(errs...)
}

// Prepare refuses what can be known to fail before anything is touched, as an
// error of kind drivers.ErrConfig: a load over tables that may not be dropped,
// another step on tables that aren't there.
func (p Plan) Prepare(ctx context.Context, w *stream.Workload, db Database) error {
	if c, ok := db.(layoutChecker); ok && p.Load {
		if err := c.CheckLayout(p.Layout); err != nil {
			return err
		}
	}
	switch {
	case p.Load && p.Resume != nil:
		return p.Resume.prepare(ctx, w, db, p)
	case p.Load:
		return Prepare(ctx, w, db, p.Drop)
	}
	if err := NeedTables(ctx, db); err != nil {
		return err
	}
	if p.Request {
		return needGraph(ctx, w, db)
	}
	return needIndexable(ctx, w, db, p.Layout)
}

// layoutChecker is a database whose engine decides which layouts there are. It
// is asked before --drop drops anything.
type layoutChecker interface {
	CheckLayout(l Layout) error
}

// needGraph asks for a link of the first id, as requests do: databases are told
// to use the index, and some refuse where there is none. Then it looks for the
// last ids, since requests on a graph that has fewer find little.
func needGraph(ctx context.Context, w *stream.Workload, db Connections) (err error) {
	c, err := db.OpenClient(ctx)
	if err != nil {
		return fmt.Errorf("open a connection to try a request: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	q := ListQuery{ID1: w.Config().StartID1, Type: graph.FirstLinkType, MaxTimeMS: math.MaxInt64, Limit: 1}
	if err := c.ListLinks(ctx, &q, func(*graph.Link) {}); err != nil {
		return drivers.Configf("try a request: %w; if the link table has no index id1_type, build it with linkbench index", err)
	}
	return needLastIDs(ctx, w, c)
}

// needIndexable refuses to build an index that is there, and on a graph of
// fewer ids than the workload's: the figures are per link that it generates.
func needIndexable(ctx context.Context, w *stream.Workload, db Database, l Layout) (err error) {
	if r, ok := db.(Resumer); ok {
		has, err := r.HasIndex(ctx, l)
		if err != nil {
			return err
		}
		if has {
			return drivers.Configf("the link table has its index id1_type already; there is nothing to build")
		}
	}
	c, err := db.OpenClient(ctx)
	if err != nil {
		return fmt.Errorf("open a connection to look at the graph: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return needLastIDs(ctx, w, c)
}

// needLastIDs refuses a graph that holds nothing of the last ids. Requests may
// have deleted some of a small graph's nodes and links, hardly those of so many.
func needLastIDs(ctx context.Context, w *stream.Workload, c Client) error {
	const tried = 64
	cfg := w.Config()
	if !cfg.GenerateNodes || cfg.MaxID1-cfg.StartID1 < tried {
		return nil
	}
	var node graph.Node
	for id := cfg.MaxID1 - 1; id >= cfg.MaxID1-tried; id-- {
		found, err := c.GetNode(ctx, id, graph.NodeType, &node)
		if err != nil {
			return fmt.Errorf("look for the last nodes: %w", err)
		}
		links, err := c.CountLinks(ctx, id, graph.FirstLinkType)
		if err != nil {
			return fmt.Errorf("look for the last links: %w", err)
		}
		if found || links > 0 {
			return nil
		}
	}
	return drivers.Configf("the graph has none of the last %d ids below maxid1 %d: give the --maxid1 and --profile that it was loaded with", tried, cfg.MaxID1)
}

// NeedTables refuses a database without LinkBench's tables, as an error of
// kind drivers.ErrConfig.
func NeedTables(ctx context.Context, db Tables) error {
	const tables = 3
	names, err := db.ListTables(ctx)
	if err != nil {
		return fmt.Errorf("list LinkBench's tables: %w", err)
	}
	switch {
	case len(names) == 0:
		return drivers.Configf("there are no tables of LinkBench: make them with linkbench load")
	case len(names) < tables:
		return drivers.Configf("of LinkBench's three tables there is only %s: load again with --drop", strings.Join(names, ", "))
	}
	return nil
}

// Run carries the plan out. What the steps came to is handed to s.Done; what
// is returned beside an error is valid too.
func (p Plan) Run(ctx context.Context, w *stream.Workload, s Session) (*results.Verify, error) {
	p.Verify = p.Verify || p.Resume != nil
	r := &running{Plan: p, w: w, s: s}
	r.Layout.FirstNewNode = w.Config().MaxID1
	err := r.run(ctx)
	switch {
	case !p.Verify:
		return &results.Verify{Mode: "off"}, err
	case r.verified == nil:
		return &results.Verify{Mode: "full", Note: "not verified: a step did not end"}, err
	}
	if p.Request && !r.requested && err != nil {
		r.notes = append(r.notes, "not after the requests, which did not end")
	}
	r.verified.Note = strings.Join(r.notes, "; ")
	return r.verified, err
}

// running is a plan under way.
type running struct {
	Plan
	w         *stream.Workload
	s         Session
	requested bool  // all requests were made
	nodes     int64 // loaded, and added less removed by requests
	verified  *results.Verify
	notes     []string // what verification found
}

func (r *running) run(ctx context.Context) error {
	if r.Load {
		if err := r.load(ctx); err != nil {
			return err
		}
	}
	if r.IndexAt == IndexEnd {
		if err := r.index(ctx); err != nil {
			return err
		}
	}
	if r.Load && r.Verify {
		if err := r.check(ctx, CheckLoaded); err != nil {
			return err
		}
	}
	if !r.Request {
		return nil
	}
	if err := r.request(ctx); err != nil {
		return err
	}
	r.requested = true
	if !r.Verify {
		return nil
	}
	return r.check(ctx, CheckConsistent)
}

func (r *running) load(ctx context.Context) error {
	if r.Resume == nil {
		if err := CreateTables(ctx, r.s.DB, r.Layout, r.Drop); err != nil {
			return err
		}
	}
	if r.IndexAt == IndexStart {
		has, err := r.hasIndex(ctx)
		if err == nil && !has {
			err = r.s.DB.CreateIndex(ctx, r.Layout)
		}
		if err != nil {
			return fmt.Errorf("build the secondary index before the load: %w", err)
		}
	}
	loaded, sums, err := resumeLoad(ctx, r.w, r.s, r.Resume)
	r.nodes = sums.Nodes
	return r.done(err, loaded)
}

// index builds the index at the end, unless a load that is resumed had come so
// far.
func (r *running) index(ctx context.Context) error {
	if has, err := r.hasIndex(ctx); has || err != nil {
		return err
	}
	built, err := BuildIndex(ctx, r.s, r.Layout, Expected(r.w).Links)
	return r.done(err, built)
}

func (r *running) request(ctx context.Context) error {
	rates := r.Rates
	if len(rates) == 0 {
		rates = []int64{0}
	}
	for round, rate := range rates {
		plan := RequestPlan{PerSecond: rate, FirstRequester: r.FirstRequester, AllRequesters: r.AllRequesters}
		if len(rates) > 1 {
			plan.Name = fmt.Sprintf("%s.%d", requestStep, rate)
		}
		steps, _, err := Requests(ctx, r.w.Round(round), plan, r.s)
		if err := r.done(err, steps...); err != nil {
			return err
		}
	}
	return nil
}

// done hands steps on, and gives the first error.
func (r *running) done(err error, steps ...results.Step) error {
	for _, step := range steps {
		r.nodes += addedNodes(step)
		if step.Name != "" && r.s.Done != nil {
			err = errors.Join(err, r.s.Done(step))
		}
	}
	return err
}

// addedNodes is how many nodes requests added, less those removed.
func addedNodes(s results.Step) (n int64) {
	for _, o := range s.Operations {
		switch {
		case o.Outcome == nil:
		case o.Name == graph.AddNode.String():
			n += o.Outcome.Found
		case o.Name == graph.DeleteNode.String():
			n -= o.Outcome.Found
		}
	}
	return n
}

// check verifies and says in one clause what was compared.
func (r *running) check(ctx context.Context, c Check) error {
	if r.s.Progress != nil {
		r.s.Progress(Goal{Step: "verify"})
	}
	v, err := Verify(ctx, r.w, r.s.DB, c)
	if before := r.verified; before != nil && before.Seconds != nil && v.Seconds != nil {
		*v.Seconds += *before.Seconds
	}
	r.verified = v
	if err == nil && c == CheckConsistent && r.Load && v.Found["nodes"] != r.nodes {
		failed := false
		v.Passed = &failed
		v.Differences = append(v.Differences, fmt.Sprintf("%d nodes, where %d remain of those loaded and added less those deleted", v.Found["nodes"], r.nodes))
		err = fmt.Errorf("%w: %s", ErrVerify, v.Differences[0])
	}
	if err != nil {
		return err
	}
	r.notes = append(r.notes, Finding(v))
	return nil
}

// Finding is what a verification that passed has found, in a clause.
func Finding(v *results.Verify) string {
	found := fmt.Sprintf("%d nodes, %d links and %d counts", v.Found["nodes"], v.Found["links"], v.Found["counts"])
	if Check(v.Mode) == CheckLoaded {
		return found + " as generated, every count equals its visible links"
	}
	return "after requests " + found + ", every count equals its visible links"
}
