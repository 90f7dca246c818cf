package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/config"
	"insertbench/linkbench/degree"
	"insertbench/linkbench/javarand"
)

func workload(t testing.TB, c config.Config) *Workload {
	t.Helper()
	r, err := c.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// recorded is the configuration the op streams were recorded with (fixtures' README).
func recorded(m compat.Mode, s config.Stream) config.Config {
	c := config.Default(config.P2017)
	c.Compat, c.Stream = m, s
	c.MaxID1 = 10001
	c.Degree = degree.Spec{Kind: degree.Zipf, Shape: 1.5, Mean: 2}
	c.Run.Loaders, c.Run.Requesters = 1, 2
	c.LoadSeed, c.RequestSeed = 12345, 12345
	return c
}

func recordings() map[compat.Mode]string {
	return map[compat.Mode]string{
		compat.Y2020: "testdata/opstream_never_change_false/",
		compat.Y2013: "testdata/opstream_never_change_true/",
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRecordedLoad(t *testing.T) {
	for mode, dir := range recordings() {
		w := workload(t, recorded(mode, config.Original))
		var nodes, links bytes.Buffer
		want := read(t, dir+"load_nodes.tsv")
		if err := w.PrintNodes(context.Background(), &nodes, int64(strings.Count(want, "\n")-1)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, nodes.String()); d != "" {
			t.Errorf("%v nodes (-recorded +ours):\n%s", mode, d)
		}
		want = read(t, dir+"load_links.tsv")
		if err := w.PrintLinks(context.Background(), &links, int64(strings.Count(want, "\n")-1)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, links.String()); d != "" {
			t.Errorf("%v links (-recorded +ours):\n%s", mode, d)
		}
	}
}

// The recording has two requesters with the first 60 requests of each; more requesters must not change them.
func TestRecordedRequests(t *testing.T) {
	for mode, dir := range recordings() {
		want := read(t, dir+"requests.tsv")
		for _, s := range []config.Stream{config.Original, config.Pieces} {
			for _, requesters := range []int{2, 7} {
				c := recorded(mode, s)
				c.Run.Requesters = requesters
				var out bytes.Buffer
				if err := workload(t, c).PrintRequests(context.Background(), &out, 60); err != nil {
					t.Fatal(err)
				}
				got := out.String()
				if !strings.HasPrefix(got, want) {
					t.Errorf("%v %v, %d requesters (-recorded +ours):\n%s", mode, s, requesters, cmp.Diff(want, got))
				}
			}
		}
	}
}

func TestAccessVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			Kind string
			N    int64
			Rows [][2]int64 `json:"rank_then_shuffled_id"`
		}
	}
	if err := json.Unmarshal([]byte(read(t, "testdata/access_ids.json")), &doc); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, c := range doc.Cases {
		cfg := config.Default(config.P2017)
		cfg.MaxID1 = c.N + 1
		cfg.Degree = degree.Spec{Kind: degree.Const, Default: 1}
		w := workload(t, cfg)
		ch := map[string]*chooser{
			"LINK_READS": &w.linkReads.correlated, "LINK_READS_UNCORR": &w.linkReads.uncorrelated,
			"LINK_WRITES": &w.linkWrites.correlated, "LINK_WRITES_UNCORR": &w.linkWrites.uncorrelated,
			"NODE_READS": &w.nodeReads, "NODE_UPDATES": &w.nodeUpdates, "NODE_DELETES": &w.nodeDeletes,
		}[c.Kind]
		rng := javarand.New(12345)
		for i, r := range c.Rows {
			if got := ch.choose(rng, new(position)); got != r[1] {
				t.Errorf("%s n %d draw %d: %d, want %d (rank %d)", c.Kind, c.N, i, got, r[1], r[0])
			}
			rows++
		}
	}
	if rows != 21*20 {
		t.Errorf("%d draws, the recording has 420", rows)
	}
}

// Ranks drawn by measured accesses, and how many accesses the data give the ids of ranks 1, 10, 100 and 1,000.
func TestRealAccessVectors(t *testing.T) {
	var doc struct {
		N     int64
		Cases []struct {
			Kind   string
			Choose []int64   `json:"choose_Random12345_fresh_state"`
			Counts []float64 `json:"expectedCount_1_10_100_1000"`
		}
	}
	if err := json.Unmarshal([]byte(read(t, "testdata/real_access.json")), &doc); err != nil {
		t.Fatal(err)
	}
	cfg := config.Default(config.P2017)
	cfg.MaxID1 = doc.N + 1
	real := config.Access{Kind: config.Real}
	cfg.LinkReads, cfg.LinkWrites, cfg.NodeReads, cfg.NodeUpdates = real, real, real, real
	w := workload(t, cfg)
	for _, c := range doc.Cases {
		ch := map[string]*chooser{"LINK_READS": &w.linkReads.correlated, "LINK_WRITES": &w.linkWrites.correlated,
			"NODE_READS": &w.nodeReads}[c.Kind]
		section := map[string]degree.Section{"LINK_READS": degree.LinkReads, "LINK_WRITES": degree.LinkWrites,
			"NODE_READS": degree.NodeReads}[c.Kind]
		rng, at := javarand.New(12345), new(position)
		var got []int64
		for range c.Choose {
			got = append(got, 1+ch.real(rng, at))
		}
		if d := cmp.Diff(c.Choose, got); d != "" {
			t.Errorf("%s (-recorded +ours):\n%s", c.Kind, d)
		}
		for i, rank := range []int64{1, 10, 100, 1000} {
			if got := w.cfg.Tables[section].At(1 - float64(rank-1)/float64(doc.N)); float64(got) != c.Counts[i] {
				t.Errorf("%s rank %d: %d accesses, recorded %v", c.Kind, rank, got, c.Counts[i])
			}
		}
	}
	cfg.NodeDeletes = real
	if _, err := cfg.Resolve(); err == nil || !strings.Contains(err.Error(), "node_delete_function") {
		t.Errorf("deletes without data: %v", err)
	}
}

func TestID2Vectors(t *testing.T) {
	var doc struct {
		MaxID1 int64
		Cases  []struct {
			NeverChange bool `json:"never_change"`
			ID1         int64
			LinkType    int64 `json:"link_type"`
			NLinks      int64
			PExisting   float64
			One         []int64 `json:"chooseForOp_Random12345"`
			Four        []int64 `json:"chooseMultiple4_Random12345"`
		}
	}
	if err := json.Unmarshal([]byte(read(t, "testdata/id2_for_op.json")), &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Cases {
		cfg := config.Default(config.P2017)
		cfg.MaxID1 = doc.MaxID1
		if c.NeverChange {
			cfg.Compat = compat.Y2013
		}
		w := workload(t, cfg)
		if got := w.degrees.Links(c.ID1, 0); got != c.NLinks {
			t.Errorf("id %d has %d links, recorded %d", c.ID1, got, c.NLinks)
		}
		ch, rng := w.newID2Chooser(0, 1), javarand.New(12345)
		var got []int64
		for range c.One {
			got = append(got, ch.one(rng, c.ID1, 0, c.PExisting))
		}
		if d := cmp.Diff(c.One, got); d != "" {
			t.Errorf("%v id %d p %v (-recorded +ours):\n%s", cfg.Compat, c.ID1, c.PExisting, d)
		}
		rng.Seed(12345)
		if d := cmp.Diff(c.Four, ch.several(nil, 4, rng, c.ID1, 0, c.PExisting)); d != "" {
			t.Errorf("%v id %d p %v, four (-recorded +ours):\n%s", cfg.Compat, c.ID1, c.PExisting, d)
		}
	}
}
