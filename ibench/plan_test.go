package ibench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/ibench"
)

func names(p ibench.Plan) string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

// TestBuiltInPlans: the steps and their batches, shares and rates are those of
// iq.sh (mdcallag/mytools): 100 rows a statement in l.i0, 50 in l.i1 and the
// steps of queries, 5 in l.i2; four fifths of rows2 in l.i1.
func TestBuiltInPlans(t *testing.T) {
	o := ibench.PlanOptions{Rows: 30_000_000, Rows2: 40_000_001, Indexes: 3, QuerySeconds: 1800}
	classic, err := ibench.BuiltIn("classic", o)
	if err != nil || names(classic) != "load scan q1000 q100" {
		t.Fatalf("classic is %q, %v", names(classic), err)
	}
	current, err := ibench.BuiltIn("current", o)
	if err != nil || names(current) != "l.i0 l.x l.i1 l.i2 settle qr100 qp100 qr500 qp500 qr1000 qp1000" {
		t.Fatalf("current is %q, %v", names(current), err)
	}
	type facts struct {
		Rows           int64
		Batch, Indexes int
		Rate           int64
		Seconds        float64
		Deletes        bool
		Readers        int
		Query          ibench.QueryKind
	}
	got := map[string]facts{}
	for _, s := range append(classic.Steps, current.Steps...) {
		if s.Do == ibench.ActionLoad || s.Do == ibench.ActionWrite {
			got[s.Name] = facts{s.Rows, s.RowsPerCommit, s.Indexes, s.Rate, s.Seconds, s.Deletes, s.Readers, s.Query}
		}
	}
	want := map[string]facts{
		"load":   {30_000_000, 100, 3, 0, 0, false, 0, "range"},
		"q1000":  {0, 100, 0, 1000, 1800, false, 1, "range"},
		"q100":   {0, 100, 0, 100, 1800, false, 1, "range"},
		"l.i0":   {30_000_000, 100, 0, 0, 0, false, 0, "range"},
		"l.i1":   {32_000_001, 50, 0, 0, 0, true, 0, "range"},
		"l.i2":   {8_000_000, 5, 0, 0, 0, true, 0, "range"},
		"qr100":  {0, 50, 0, 100, 1800, true, 1, "range"},
		"qp100":  {0, 50, 0, 100, 1800, true, 1, "point"},
		"qr500":  {0, 50, 0, 500, 1800, true, 1, "range"},
		"qp500":  {0, 50, 0, 500, 1800, true, 1, "point"},
		"qr1000": {0, 50, 0, 1000, 1800, true, 1, "range"},
		"qp1000": {0, 50, 0, 1000, 1800, true, 1, "point"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	// min(1200, 30 + 60) s.
	if limit := current.Steps[4].LimitSeconds; limit != 90 {
		t.Errorf("settle waits at most %v s, want 90", limit)
	}
	for _, p := range []ibench.Plan{classic, current} {
		if err := p.Validate(ibench.DefaultConfig()); err != nil {
			t.Errorf("plan %s: %v", p.Name, err)
		}
	}
}

func TestRates(t *testing.T) {
	rates, err := ibench.ParseRates("100:range,100:point, 250,250")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ibench.BuiltIn("current", ibench.PlanOptions{Rows: 10, Rows2: 10, QuerySeconds: 1, Rates: rates, NoDeletes: true, PostScan: true})
	if want := "l.i0 l.x l.i1 l.i2 settle qr100 qp100 qr250 qr250.2 scan2"; err != nil || names(p) != want {
		t.Errorf("steps are %q, %v, want %q", names(p), err, want)
	}
	for _, s := range p.Steps {
		if s.Deletes {
			t.Errorf("step %s deletes", s.Name)
		}
	}
	for _, bad := range []string{"", "x", "0", "-1", "100:", "100:scan", "100;200", "9999999999999999999"} {
		if got, err := ibench.ParseRates(bad); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
}

func TestPlanFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "plan.toml"))
	if err != nil {
		t.Fatal(err)
	}
	o := ibench.PlanOptions{Rows: 777, Indexes: 2}
	got, err := ibench.ParsePlan("mine", text, o)
	if err != nil {
		t.Fatal(err)
	}
	base := ibench.DefaultWrite()
	load := base
	load.Name, load.Do, load.Rows, load.Indexes, load.RowsPerCommit, load.Readers = "fill", ibench.ActionLoad, 777, 0, 200, 0
	index := base
	index.Name, index.Do, index.Readers = "build", ibench.ActionIndex, 0
	write := ibench.Step{
		Name: "mix", Do: ibench.ActionWrite, Rows: 1_000_000, Seconds: 60.5, RowsPerCommit: 25, Writers: 1, Rate: 330, Pacing: ibench.RampPacing,
		Deletes: true, Readers: 4, Query: ibench.PointQueries, RowsPerQuery: 3, QueryRate: 20, QueryPacing: ibench.PoissonPacing,
		RampFrom: 10, RampSeconds: 30, DropAfter: 2.5, Long: ibench.Long{HTAPSeconds: 1.5, LongReaderSeconds: 60},
	}
	settle := base
	settle.Name, settle.Do, settle.LimitSeconds, settle.Readers = "rest", ibench.ActionSettle, 45, 0
	if diff := cmp.Diff(ibench.Plan{Name: "mine", Steps: []ibench.Step{load, index, write, settle}}, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	for _, c := range []struct{ text, want string }{
		{"", "no [[step]]"},
		{"[[step]]\nname = 'a'", "what to do"},
		{"[[step]]\nname = 'a'\ndo = 'scan'\n[[step]]\nname = 'a'\ndo = 'scan'", "two steps named a"},
		{"[[step]]\nname = 'a'\ndo = 'scan'\nsekonds = 3", "step.sekonds is not known"},
		{"[[step]]\nname = 'a'\ndo = 'scan'\nrate = 5", "step a: do=scan takes nothing but name and do"},
		{"[[step]]\nname = 'a'\ndo = 'settle'\nlimit = 9\nseconds = 3", "do=settle takes nothing but name, do and limit"},
		{"[[step]]\nname = 'a'\ndo = 'write'\nseconds = 3\nsecondary-indexes = 1", "do=write takes the flags of ibench oltp"},
		{"[[step]]\nname = 'a'\ndo = 'load'\nlimit = 3", "do=load takes the flags of ibench oltp and secondary-indexes"},
		{"tables = 3\n[[step]]\nname = 'a'\ndo = 'scan'", "tables is not known"},
		{"[[step]]\nname = 'a'\nrate = 'fast'", "line 3"},
		{"[[step\n", "line 2"},
	} {
		if _, err := ibench.ParsePlan("bad", []byte(c.text), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gave error %v, want one with %q", c.text, err, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	p, err := ibench.BuiltIn("classic", ibench.PlanOptions{Rows: 10, QuerySeconds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from       string
		only, skip []string
		want       string
	}{
		{"", nil, nil, "load scan q1000 q100"},
		{"scan", nil, nil, "scan q1000 q100"},
		{"", []string{"q100", "scan"}, nil, "scan q100"},
		{"scan", nil, []string{"q1000"}, "scan q100"},
		{"q100", []string{"scan"}, nil, ""},
		{"", nil, []string{"nope"}, ""},
		{"nope", nil, nil, ""},
		{"", []string{"nope"}, nil, ""},
	} {
		got, err := p.Choose(c.from, c.only, c.skip)
		if (err != nil) != (c.want == "") || err == nil && names(got) != c.want {
			t.Errorf("from %q, only %q, skip %q gave %q, %v, want %q", c.from, c.only, c.skip, names(got), err, c.want)
		}
	}
}

// TestPlanNeedsIndexes: a plan that can't work is refused before it begins.
func TestPlanNeedsIndexes(t *testing.T) {
	p, err := ibench.BuiltIn("classic", ibench.PlanOptions{Rows: 10, QuerySeconds: 1, Indexes: 0})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(ibench.DefaultConfig()); err == nil || !strings.Contains(err.Error(), "secondary index") {
		t.Errorf("ranges without an index gave %v", err)
	}
}

func FuzzParsePlan(f *testing.F) {
	if text, err := os.ReadFile(filepath.Join("testdata", "plan.toml")); err == nil {
		f.Add(text)
	}
	f.Add([]byte("[[step]]\nname='a'\ndo='load'\nrows=1e9"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ibench.ParsePlan("fuzz", text, ibench.PlanOptions{Rows: 1})
		if err == nil && len(p.Steps) == 0 {
			t.Error("a plan without steps was taken")
		}
		_ = p.Validate(ibench.DefaultConfig())
	})
}

// TestDocumentedPlan: the plan in docs/steps.md works.
func TestDocumentedPlan(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "steps.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```toml\n")
	plan, _, _ := strings.Cut(after, "```")
	p, err := ibench.ParsePlan("documented", []byte(plan), ibench.PlanOptions{Rows: 1000, Indexes: 3})
	if err != nil || names(p) != "fill mixed rest scan" {
		t.Fatalf("steps are %q, %v", names(p), err)
	}
	if err := p.Validate(ibench.DefaultConfig()); err != nil {
		t.Error(err)
	}
}
