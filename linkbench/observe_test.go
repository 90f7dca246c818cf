package linkbench_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"insertbench/drivers"
	"insertbench/linkbench"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/legacy"
	"insertbench/linkbench/memory"
	"insertbench/results"
)

// kept keeps what it observes, and counts how often its worker was between two operations.
type kept struct {
	all  []linkbench.Observed
	idle int
}

func (k *kept) Observe(o linkbench.Observed) { k.all = append(k.all, o) }
func (k *kept) Idle()                        { k.idle++ }

// Observers see each operation that counts and each failure once, of the warm-up none.
func TestObservers(t *testing.T) {
	w := workload(t, func(c *config.Config) { c.Run.WarmupS, c.Run.MaxFailedPerRequester = 1, -1 })
	db := memory.New()
	var phases []linkbench.Phase
	var observers [][]*kept
	s := session(t, db)
	s.Observe = func(p linkbench.Phase) func(int) linkbench.Observer {
		these := make([]*kept, p.Workers)
		for i := range these {
			these[i] = new(kept)
		}
		phases, observers = append(phases, p), append(observers, these)
		return func(i int) linkbench.Observer { return these[i] }
	}
	if err := linkbench.CreateTables(t.Context(), db, linkbench.Layout{FirstNewNode: w.Config().MaxID1}, false); err != nil {
		t.Fatal(err)
	}
	_, loaded, err := linkbench.Load(t.Context(), w, s)
	if err != nil {
		t.Fatal(err)
	}
	f := &faults{names: "get node", fail: func(n int64) error {
		switch n % 5 {
		case 0:
			return failure(drivers.Fatal)
		case 1:
			return failure(drivers.Retryable)
		}
		return nil
	}}
	db.Fault = f.fault
	_, stats, err := linkbench.Requests(t.Context(), w, linkbench.RequestPlan{FirstRequester: 7}, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(phases) != 2 || phases[0].Kind != results.KindLoad || phases[1].Kind != results.KindRequest || phases[1].First != 7 || phases[1].Units != 1500 {
		t.Fatalf("phases %+v", phases)
	}
	var rows [3]int64
	for _, k := range observers[0] {
		for _, o := range k.all {
			rows[o.Op] += o.Rows
		}
	}
	if rows != [3]int64{loaded.Nodes, loaded.Links, loaded.Counts} {
		t.Errorf("%d nodes, links and counts observed, loaded %+v", rows, loaded)
	}
	var seen linkbench.RequestStats
	for _, k := range observers[1] {
		if k.idle != len(k.all)+1 {
			t.Errorf("%d times between %d operations", k.idle, len(k.all))
		}
		for _, o := range k.all {
			op := &seen.Ops[o.Op]
			op.Retries += o.Retries
			if o.Failed {
				op.Errors++
				continue
			}
			op.Done++
			op.Rows += o.Rows
			if o.Switched {
				op.Switched++
			}
			if o.Took < 0 || o.At.IsZero() {
				t.Errorf("%+v", o)
			}
		}
	}
	if got := seen.Ops[graph.GetNode]; got.Errors == 0 || got.Retries == 0 || seen.Ops[graph.AddLink].Switched == 0 {
		t.Error("nothing failed, was sent again or became an update")
	}
	for op, got := range seen.Ops {
		want := stats.Ops[op]
		want.Found = 0 // isn't observed
		if got != want {
			t.Errorf("%s: observed %+v, counted %+v", graph.Op(op), got, want)
		}
	}
}

// The rows of the stream add up to the record's counts; of DELETE_LINK the original has none.
func TestStreamAddsUpToTheRecord(t *testing.T) {
	w, db := workload(t, nil), memory.New()
	s := loaded(t, w, db)
	var stream bytes.Buffer
	var phase *legacy.Phase
	log := legacy.NewLog(nil, &stream, time.Now)
	s.Observe = func(p linkbench.Phase) func(int) linkbench.Observer {
		phase = log.Phase(legacy.Settings{Display: time.Millisecond, MaxSamples: 20}, p, legacy.Load{})
		return func(i int) linkbench.Observer { return phase.Thread(i) }
	}
	steps, _, err := linkbench.Requests(t.Context(), w, linkbench.RequestPlan{}, s)
	if err != nil {
		t.Fatal(err)
	}
	phase.End()
	ops := map[string]int64{}
	for line := range strings.Lines(stream.String()) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if n, err := strconv.ParseInt(f[5], 10, 64); err == nil {
			ops[f[2]] += n
		}
	}
	for _, o := range steps[0].Operations {
		want := o.Count
		if o.Name == "DELETE_LINK" {
			want = 0
		}
		if ops[o.Name] != want || o.Count == 0 {
			t.Errorf("%s: %d in the stream, %d in the record", o.Name, ops[o.Name], o.Count)
		}
	}
	if list := slices.IndexFunc(steps[0].Operations, func(o results.Operation) bool { return o.Name == "GET_LINKS_LIST" }); ops["RANGE_SIZE"] != steps[0].Operations[list].Count {
		t.Errorf("%d sizes of lists", ops["RANGE_SIZE"])
	}
}
