package linkbench_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/internal/step"
	"insertbench/iostat"
	"insertbench/linkbench"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/memory"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

func workload(t *testing.T, change func(*config.Config)) *stream.Workload {
	t.Helper()
	c := config.Default(config.Demo)
	c.MaxID1 = 301
	c.ChunkIDs, c.PieceLinks = 50, 100
	c.Run.BulkRows, c.Run.Requesters, c.Run.RequestsPerRequester = 64, 3, 500
	if change != nil {
		change(&c)
	}
	r, err := c.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	w, err := stream.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func session(t *testing.T, db linkbench.Database) linkbench.Session {
	t.Helper()
	m, err := step.NewMeter(iostat.Root{}, step.Target{Server: db})
	if err != nil {
		t.Fatal(err)
	}
	w, err := results.Create(t.TempDir(), results.Run{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return linkbench.Session{DB: db, Meter: m, Writer: w}
}

// loaded makes a database with the workload in it.
func loaded(t *testing.T, w *stream.Workload, db *memory.Store) linkbench.Session {
	t.Helper()
	l := linkbench.Layout{FirstNewNode: w.Config().MaxID1}
	if err := linkbench.CreateTables(t.Context(), db, l, false); err != nil {
		t.Fatal(err)
	}
	s := session(t, db)
	if _, _, err := linkbench.Load(t.Context(), w, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// The database holds the same whatever the number of loaders and compat mode,
// and what the stream of the original loads is verified as well.
func TestLoadAndVerify(t *testing.T) {
	for _, change := range []func(*config.Config){
		func(c *config.Config) { c.Run.Loaders = 1 },
		func(c *config.Config) { c.Run.Loaders = 5 },
		func(c *config.Config) { c.Run.Loaders, c.Compat = 5, 1 },
		func(c *config.Config) { c.Run.Loaders, c.Stream = 1, config.Original },
		func(c *config.Config) { c.GenerateNodes = false },
		func(c *config.Config) { c.LinkTypes, c.Compat = 5, 1 },
		func(c *config.Config) { c.StartID1, c.MaxID1 = 1001, 1201 },
	} {
		w, db := workload(t, change), memory.New()
		loaded(t, w, db)
		// A load by other loaders must be verified by this workload's rows.
		other := workload(t, func(c *config.Config) { change(c); c.Run.Loaders = min(c.Run.Loaders, 2) })
		v, err := linkbench.Verify(t.Context(), other, db, linkbench.CheckLoaded)
		if err != nil {
			t.Errorf("%+v: %v", v, err)
		}
		if d := cmp.Diff(v.Expected, v.Found); d != "" && w.Config().GenerateNodes {
			t.Errorf("-expected +found:\n%s", d)
		}
		if _, err := linkbench.Verify(t.Context(), w, db, linkbench.CheckConsistent); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyFinds(t *testing.T) {
	const typ = graph.FirstLinkType
	for _, c := range []struct {
		name   string
		tamper func(*memory.Store)
		loaded []string // parts of differences, none for passing
		kept   []string
	}{
		{"wrong count", func(s *memory.Store) { s.Tamper(graph.Count{ID: 290, Type: typ, Count: 99}, -1) },
			[]string{"count of id 290, type 123456789 is 99"}, []string{"count of id 290, type 123456789 is 99"}},
		// id 290 has one link of each type, to itself.
		{"lost link", func(s *memory.Store) { s.Tamper(graph.Count{ID: 290, Type: typ, Count: 0}, 290) },
			[]string{"id1 290 has no links of type 123456789, where 1 were loaded"}, nil},
		{"count of nothing", func(s *memory.Store) { s.Tamper(graph.Count{ID: 5000, Type: typ, Count: 2}, -1) },
			[]string{"count of id 5000, type 123456789 is 2, and it has no links"}, []string{"id 5000"}},
		{"empty count", func(s *memory.Store) { s.Tamper(graph.Count{ID: 5000, Type: typ, Count: 0}, -1) }, nil, nil},
		{"unknown type", func(s *memory.Store) { s.Tamper(graph.Count{ID: 290, Type: 5, Count: 1}, -1) },
			[]string{"only"}, []string{"only"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, db := workload(t, nil), memory.New()
			if got := w.Degrees().Links(290, 0); got != 1 {
				t.Fatalf("id 290 has %d links", got)
			}
			loaded(t, w, db)
			c.tamper(db)
			for check, want := range map[linkbench.Check][]string{linkbench.CheckLoaded: c.loaded, linkbench.CheckConsistent: c.kept} {
				v, err := linkbench.Verify(t.Context(), w, db, check)
				if (err != nil) != (len(want) > 0) || err != nil && !errors.Is(err, linkbench.ErrVerify) {
					t.Errorf("%s: %v", check, err)
				}
				all := strings.Join(v.Differences, "\n")
				for _, part := range want {
					if !strings.Contains(all, part) {
						t.Errorf("%s: %q is missing in\n%s", check, part, all)
					}
				}
			}
		})
	}
}

// ofOthers is a database with tables of a graph of a thousand million ids.
type ofOthers struct{ *memory.Store }

func (ofOthers) TableRows(context.Context) (linkbench.Rows, error) {
	return linkbench.Rows{Nodes: 1e9, Links: 5e9, Counts: 2e9}, nil
}

func (ofOthers) ScanCounts(context.Context, int64, int64, int64, func(graph.Count) error) error {
	return errors.New("thousands of millions of counts are read")
}

// Counts of ids that the workload hasn't would be held in memory, however many.
func TestVerifyOfAnotherGraph(t *testing.T) {
	for _, check := range []linkbench.Check{linkbench.CheckLoaded, linkbench.CheckConsistent} {
		v, err := linkbench.Verify(t.Context(), workload(t, nil), ofOthers{memory.New()}, check)
		if !errors.Is(err, linkbench.ErrVerify) || !strings.Contains(err.Error(), "2000000000 counts") || !strings.Contains(err.Error(), "--maxid1") {
			t.Errorf("%s: %v", check, err)
		}
		if v.Found["counts"] != 2e9 {
			t.Errorf("%s: found %v", check, v.Found)
		}
	}
}

// faults fails statements by their number among those of a name.
type faults struct {
	n     atomic.Int64
	names string
	fail  func(n int64) error
}

func (f *faults) fault(statement string) error {
	if !strings.Contains(f.names, statement) {
		return nil
	}
	return f.fail(f.n.Add(1))
}

func failure(class drivers.Class) error {
	return &drivers.Error{Class: class, Code: "1213", Err: errors.New("deadlock found")}
}

// Every third write is rolled back: all are carried out in the end, their
// retries are counted, and the counts hold.
func TestRetries(t *testing.T) {
	w, db := workload(t, nil), memory.New()
	f := &faults{names: "bulk links, add link, update link", fail: func(n int64) error {
		if n%3 == 0 {
			return failure(drivers.Retryable)
		}
		return nil
	}}
	db.Fault = f.fault
	s := loaded(t, w, db)
	steps, stats, err := linkbench.Requests(t.Context(), w, linkbench.RequestPlan{}, s)
	if err != nil {
		t.Fatal(err)
	}
	var done, retries, errs int64
	for _, o := range stats.Ops {
		done, retries, errs = done+o.Done, retries+o.Retries, errs+o.Errors
	}
	if done != 1500 || retries == 0 || errs != 0 {
		t.Errorf("%d done, %d retries, %d errors", done, retries, errs)
	}
	last := steps[len(steps)-1]
	if len(last.Errors) != 1 || last.Errors[0].Count != retries || last.Errors[0].Code != "1213" {
		t.Errorf("errors %+v, want %d of code 1213", last.Errors, retries)
	}
	if m := last.Metrics["requests"]; m.Value == nil || *m.Value != 1500 {
		t.Errorf("requests %+v", m)
	}
	if _, err := linkbench.Verify(t.Context(), w, db, linkbench.CheckConsistent); err != nil {
		t.Error(err)
	}
}

func TestErrorBudget(t *testing.T) {
	for _, c := range []struct {
		budget int64
		want   string
	}{{-1, ""}, {1000, ""}, {3, "no failures left"}} {
		w := workload(t, func(cfg *config.Config) {
			cfg.Run.MaxFailedPerRequester = c.budget
			cfg.Run.Requesters = 1
		})
		db := memory.New()
		f := &faults{names: "get node", fail: func(n int64) error {
			if n%2 == 0 {
				return failure(drivers.Fatal)
			}
			return nil
		}}
		db.Fault = f.fault
		s := loaded(t, w, db)
		_, stats, err := linkbench.Requests(t.Context(), w, linkbench.RequestPlan{}, s)
		get := stats.Ops[graph.GetNode]
		if c.want == "" {
			if err != nil || get.Errors == 0 || get.Done-get.Errors > 1 || get.Done < get.Errors {
				t.Errorf("budget %d: %+v, %v; want every second one to fail", c.budget, get, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || get.Errors != c.budget+1 {
			t.Errorf("budget %d: %+v, %v", c.budget, get, err)
		}
	}
}

func TestUnknownOutcomeEndsTheRun(t *testing.T) {
	w, db := workload(t, nil), memory.New()
	f := &faults{names: "add link", fail: func(n int64) error {
		if n == 20 {
			return failure(drivers.Unknown)
		}
		return nil
	}}
	db.Fault = f.fault
	s := loaded(t, w, db)
	steps, _, err := linkbench.Requests(t.Context(), w, linkbench.RequestPlan{}, s)
	if err == nil || !strings.Contains(err.Error(), "not sent again") {
		t.Errorf("%v", err)
	}
	unknown := int64(0)
	for _, c := range steps[0].Clients {
		unknown += c.RowsUnknown
	}
	if unknown != 1 || steps[0].Complete {
		t.Errorf("%d unknown, complete %v", unknown, steps[0].Complete)
	}
	if _, err := linkbench.Verify(t.Context(), w, db, linkbench.CheckConsistent); err != nil {
		t.Error(err)
	}
}

func TestLoadFailureSaysWhere(t *testing.T) {
	w, db := workload(t, nil), memory.New()
	f := &faults{names: "bulk links", fail: func(n int64) error {
		if n == 5 {
			return failure(drivers.Fatal)
		}
		return nil
	}}
	db.Fault = f.fault
	if err := linkbench.CreateTables(t.Context(), db, linkbench.Layout{}, false); err != nil {
		t.Fatal(err)
	}
	_, acked, err := linkbench.Load(t.Context(), w, session(t, db))
	if err == nil || !strings.Contains(err.Error(), "load_link of 64 rows") {
		t.Errorf("%v", err)
	}
	rows, err := db.TableRows(t.Context())
	if err != nil || rows != (linkbench.Rows{Nodes: acked.Nodes, Links: acked.Links, Counts: acked.Counts}) {
		t.Errorf("%+v, %v, acknowledged %+v", rows, err, acked)
	}
}

func TestWarmUpIsNotCounted(t *testing.T) {
	w, db := workload(t, func(c *config.Config) { c.Run.WarmupS = 1 }), memory.New()
	s := loaded(t, w, db)
	var names []string
	steps, stats, err := linkbench.Requests(t.Context(), w, linkbench.RequestPlan{Name: "L1.P3"}, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		names = append(names, s.Name+" "+s.Kind)
	}
	if d := cmp.Diff([]string{"warmup warmup", "L1.P3 request"}, names); d != "" {
		t.Error(d)
	}
	var done int64
	for _, o := range stats.Ops {
		done += o.Done
	}
	if done != 1500 {
		t.Errorf("%d requests, want 3 × 500", done)
	}
}

func TestInterruptedVerify(t *testing.T) {
	w, db := workload(t, nil), memory.New()
	loaded(t, w, db)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := linkbench.Verify(ctx, w, db, linkbench.CheckLoaded); !errors.Is(err, context.Canceled) || v.Passed != nil {
		t.Errorf("%+v, %v", v, err)
	}
}
