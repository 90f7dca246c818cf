package linkbench_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/linkbench"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/memory"
	"insertbench/results"
)

// everything is a plan of all that there is.
func everything() linkbench.Plan {
	return linkbench.Plan{
		Load: true, IndexAt: linkbench.IndexEnd, Layout: linkbench.Layout{Index: linkbench.IndexCovering}, Request: true,
		Rates: []int64{2000, 4000}, Verify: true,
	}
}

func TestPlan(t *testing.T) {
	w, db := workload(t, func(c *config.Config) { c.Run.RequestsPerRequester, c.Run.WarmupS = 100, 1 }), memory.New()
	s := session(t, db)
	var steps []string
	var requests []float64
	s.Done = func(step results.Step) error {
		steps = append(steps, step.Kind+" "+step.Name)
		if step.Kind == results.KindRequest {
			requests = append(requests, *step.Metrics["requests"].Value, *step.Metrics[results.TargetRequests].Value)
		}
		return nil
	}
	v, err := everything().Run(t.Context(), w, s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"load load", "index index", "warmup warmup.2000", "request request.2000", "warmup warmup.4000", "request request.4000",
	}
	if d := cmp.Diff(want, steps); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	// Three requesters of 100 requests at each rate.
	if d := cmp.Diff([]float64{300, 2000, 300, 4000}, requests); d != "" {
		t.Errorf("requests and target (-want +got):\n%s", d)
	}
	if v.Passed == nil || !*v.Passed || !strings.Contains(v.Note, "as generated, every count equals its visible links; after requests ") {
		t.Errorf("verified: %+v", v)
	}
}

// A plan that fails says what was verified before, and what wasn't.
func TestPlanThatFails(t *testing.T) {
	for _, c := range []struct {
		statement, note string
		steps           int
	}{
		{"links", "not verified: a step did not end", 1},
		{"get node", "300 nodes", 3},
	} {
		w, db := workload(t, func(c *config.Config) { c.Run.MaxFailedPerRequester = 0 }), memory.New()
		db.Fault = func(statement string) error {
			if strings.Contains(strings.ToLower(statement), c.statement) && !strings.Contains(statement, "sum") {
				return &drivers.Error{Class: drivers.Fatal, Code: "1", Err: errors.New("as asked")}
			}
			return nil
		}
		s := session(t, db)
		steps := 0
		s.Done = func(results.Step) error { steps++; return nil }
		plan := everything()
		plan.Rates = nil
		v, err := plan.Run(t.Context(), w, s)
		if err == nil || !strings.Contains(err.Error(), "as asked") {
			t.Errorf("%s: %v", c.statement, err)
		}
		if steps != c.steps || !strings.HasPrefix(v.Note, c.note) {
			t.Errorf("%s: %d steps, %q", c.statement, steps, v.Note)
		}
		if c.steps == 3 && !strings.HasSuffix(v.Note, "not after the requests, which did not end") {
			t.Errorf("%s: %q", c.statement, v.Note)
		}
	}
}

// A wrong count is found after the requests too.
func TestPlanVerifiesRequests(t *testing.T) {
	w, db := workload(t, nil), memory.New()
	s := session(t, db)
	s.Done = func(step results.Step) error {
		if step.Kind == results.KindRequest {
			db.Tamper(graph.Count{ID: 5, Type: graph.FirstLinkType, Count: 12345}, -1)
		}
		return nil
	}
	plan := everything()
	plan.Rates = nil
	v, err := plan.Run(t.Context(), w, s)
	if !errors.Is(err, linkbench.ErrVerify) || v.Passed == nil || *v.Passed {
		t.Errorf("%v, %+v", err, v)
	}
}

func TestPlanIsRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*linkbench.Plan)
		want   string
	}{
		{func(p *linkbench.Plan) { p.IndexAt = "soon" }, `index at "soon"`},
		{func(p *linkbench.Plan) { p.IndexAt = linkbench.IndexNever }, "requests need the secondary index"},
		{func(p *linkbench.Plan) { p.Layout.Index = "long" }, `index "long"`},
		{func(p *linkbench.Plan) { p.Layout.Partitions = -1 }, "-1 partitions"},
		{func(p *linkbench.Plan) { p.Layout.KeyBlockKB = 17 }, "17 KB"},
		{func(p *linkbench.Plan) { p.Rates = []int64{0} }, "rate of 0"},
		{func(p *linkbench.Plan) { p.Rates = []int64{5, 5} }, "twice"},
		{func(p *linkbench.Plan) { p.FirstRequester = -1 }, "negative"},
	} {
		p := everything()
		c.change(&p)
		err := p.Validate()
		if !errors.Is(err, drivers.ErrConfig) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
	if err := everything().Validate(); err != nil {
		t.Error(err)
	}
	err := linkbench.Plan{Request: true}.Prepare(t.Context(), workload(t, nil), memory.New())
	if !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("requests without tables: %v", err)
	}
}

// oneLayout is a database whose engine has no partitions.
type oneLayout struct{ *memory.Store }

func (oneLayout) CheckLayout(l linkbench.Layout) error {
	if l.Partitions > 0 {
		return drivers.Configf("no partitions")
	}
	return nil
}

// A layout that the engine doesn't have is refused while the old tables stand, though --drop lets them go.
func TestPrepareChecksLayoutBeforeDropping(t *testing.T) {
	db := oneLayout{memory.New()}
	if err := db.CreateTables(t.Context(), linkbench.Layout{}); err != nil {
		t.Fatal(err)
	}
	p := linkbench.Plan{Load: true, Drop: true, Layout: linkbench.Layout{Partitions: 2}}
	if err := p.Prepare(t.Context(), workload(t, nil), db); !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("a layout with partitions: %v", err)
	}
	if names, err := db.ListTables(t.Context()); err != nil || len(names) != 3 {
		t.Errorf("tables left: %v, %v", names, err)
	}
	p.Layout.Partitions = 0
	if err := p.Prepare(t.Context(), workload(t, nil), db); err != nil {
		t.Error(err)
	}
}

// Requests on ids that were never loaded find little: the graph of another --maxid1 is refused. 300 ids hold 300 in
// the tables; their last 64 are there, and those of 3,000 are not.
func TestPrepareLooksForLastIDs(t *testing.T) {
	db := memory.New()
	if err := db.CreateTables(t.Context(), linkbench.Layout{FirstNewNode: 301}); err != nil {
		t.Fatal(err)
	}
	l, err := db.OpenLoader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(300) {
		l.Nodes().Append(&graph.Node{ID: id + 1, Type: graph.NodeType})
	}
	if err := l.Nodes().Insert(t.Context()); err != nil {
		t.Fatal(err)
	}
	requests := linkbench.Plan{Request: true}
	for ids, want := range map[int64]error{300: nil, 3000: drivers.ErrConfig} {
		w := workload(t, func(c *config.Config) { c.MaxID1 = ids + 1 })
		if err := requests.Prepare(t.Context(), w, db); !errors.Is(err, want) {
			t.Errorf("%d ids: %v, want %v", ids, err, want)
		}
	}
}
