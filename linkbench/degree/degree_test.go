package degree

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/dist"
)

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func tables(t testing.TB, load func() (Tables, error)) Tables {
	t.Helper()
	tb, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return tb
}

func function(t testing.TB, s Spec, m compat.Mode, start, end int64, types int) *Function {
	t.Helper()
	f, err := New(s, m, start, end, types)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

type sums struct {
	SumTotal  int64 `json:"sum_total"`
	Type0     int64 `json:"links_type0"`
	Type1     int64 `json:"links_type1"`
	Loaded    int64 `json:"links_loaded"`
	CountRows int64 `json:"count_rows"`
	MaxDegree int64 `json:"max_outdegree"`
}

type realCase struct {
	Start   int64      `json:"startid1"`
	End     int64      `json:"maxid1"`
	N       int64      `json:"n"`
	ByRank  []int64    `json:"outdegree_by_rank_1_20"`
	Ranks   [][2]int64 `json:"rankid_outdegree"`
	Ids2020 [][4]int64 `json:"never_change_false_id1_total_type0_type1"`
	Sum2020 *sums      `json:"never_change_false_sums"`
	Ids2013 [][4]int64 `json:"never_change_true_id1_total_type0_type1"`
	Sum2013 *sums      `json:"never_change_true_sums"`
}

func TestRealVectors(t *testing.T) {
	var doc struct{ Cases []realCase }
	readJSON(t, "testdata/real_nlinks.json", &doc)
	spec := Spec{Kind: Real, Table: tables(t, Tables2017)[NLinks]}
	for _, c := range doc.Cases {
		for _, m := range []struct {
			mode compat.Mode
			ids  [][4]int64
			sums *sums
		}{{compat.Y2020, c.Ids2020, c.Sum2020}, {compat.Y2013, c.Ids2013, c.Sum2013}} {
			f := function(t, spec, m.mode, c.Start, c.End, 2)
			checkRanks(t, f, c)
			for _, r := range m.ids {
				total := f.Total(r[0])
				if got := [4]int64{r[0], total, f.Of(total, 0), f.Of(total, 1)}; got != r {
					t.Errorf("n %d mode %v: %v, want %v", c.N, m.mode, got, r)
				}
				if f.Loaded(total) != r[2]+r[3] {
					t.Errorf("n %d mode %v id %d: loaded %d, want %d", c.N, m.mode, r[0], f.Loaded(total), r[2]+r[3])
				}
			}
			checkTotals(t, f, m.sums)
		}
	}
}

func checkRanks(t *testing.T, f *Function, c realCase) {
	t.Helper()
	for i, want := range c.ByRank {
		if got := f.byRank(int64(i)); got != want {
			t.Errorf("n %d rank %d: %d, want %d", c.N, i+1, got, want)
		}
	}
	for _, r := range c.Ranks {
		if got := f.byRank(r[0] - c.Start); got != r[1] {
			t.Errorf("n %d rank %d: %d, want %d", c.N, r[0], got, r[1])
		}
	}
}

func checkTotals(t *testing.T, f *Function, want *sums) {
	t.Helper()
	if want == nil {
		return // the recording has no sums for 100 million ids and more
	}
	got := f.Totals()
	w := Totals{Nodes: f.Nodes(), Links: want.Loaded, Counts: want.CountRows, Max: want.MaxDegree,
		ByType: []int64{want.Type0, want.Type1}, Sum: want.SumTotal}
	if d := cmp.Diff(w, got); d != "" {
		t.Errorf("%d ids mode %v (-recorded +ours):\n%s", f.Nodes(), f.mode, d)
	}
}

// With compat off nothing is lost, so the links loaded are the recorded sum of out-degrees of 2020, where every
// id has at least one link per type and hence two count rows.
func TestTotalsOff(t *testing.T) {
	spec := Spec{Kind: Real, Table: tables(t, Tables2017)[NLinks]}
	for n, want := range map[int64]int64{10_000: 4219130, 100_000: 4603850, 1_000_000: 8628470, 10_000_000: 49736849} {
		got := function(t, spec, compat.Off, 1, n+1, 2).Totals()
		if got.Links != want || got.Counts != 2*n || got.ByType[0]+got.ByType[1] != want {
			t.Errorf("%d ids: %+v, want %d links", n, got, want)
		}
	}
}

// The reference gives the top rank of the 2011 data 961,963 links, and rows and means of both files.
func TestEmbeddedTables(t *testing.T) {
	for _, c := range []struct {
		name string
		load func() (Tables, error)
		rows map[Section]int
		mean map[Section]float64
		max  int64
	}{
		{"2017", Tables2017,
			map[Section]int{NLinks: 23616, LinkReads: 2824, LinkWrites: 2108, NodeReads: 163, NodeWrites: 654},
			map[Section]float64{NLinks: 3.8526, LinkReads: .03754, LinkWrites: .01572, NodeReads: .04666, NodeWrites: .00765},
			4181357},
		{"2011", Tables2011,
			map[Section]int{NLinks: 19951, LinkReads: 3988, LinkWrites: 3941, NodeReads: 1089, NodeWrites: 1477},
			map[Section]float64{NLinks: 4.0973, LinkReads: .6476, LinkWrites: .2307, NodeReads: .1492, NodeWrites: .1264},
			961963},
	} {
		tb := tables(t, c.load)
		for _, s := range Sections() {
			if tb[s].Len() != c.rows[s] {
				t.Errorf("%s %s: %d rows, want %d", c.name, s, tb[s].Len(), c.rows[s])
			}
			if got := tb[s].Mean(); math.Abs(got/c.mean[s]-1) > 1e-3 {
				t.Errorf("%s %s: mean %v, want %v", c.name, s, got, c.mean[s])
			}
		}
		if got := tb[NLinks].Max(); got != c.max {
			t.Errorf("%s: largest %d, want %d", c.name, got, c.max)
		}
	}
}

func TestArithmeticVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			Func, Config string
			Default      int64
			Rows         [][2]int64 `json:"id_nlinks_called_in_this_order"`
		}
	}
	readJSON(t, "testdata/arith_nlinks.json", &doc)
	for _, c := range doc.Cases {
		kind, err := ParseKind(c.Func)
		if err != nil {
			t.Fatal(err)
		}
		var config int64
		if err := json.Unmarshal([]byte(c.Config), &config); err != nil {
			t.Fatal(err)
		}
		f := function(t, Spec{Kind: kind, Config: config, Default: c.Default}, compat.Y2013, 1, 1001, 2)
		grown := int64(0)
		for _, r := range c.Rows {
			got := f.Total(r[0])
			if kind == PerfectSquares { // the recording adds each square's links to the default for good
				got += grown
				grown = got - c.Default
			}
			if got != r[1] {
				t.Errorf("%s(%d) = %d, want %d", c.Func, r[0], got, r[1])
			}
		}
	}
}

// Totals by runs must equal a visit of every id.
func TestTotalsByVisit(t *testing.T) {
	table := tables(t, Tables2011)[NLinks]
	specs := []Spec{
		{Kind: Real, Table: table}, {Kind: Real, Table: table, Cap: 50}, {Kind: Zipf, Shape: 1.5, Mean: 2},
		{Kind: Zipf, Shape: 0.8, Mean: 7.3}, {Kind: Uniform, Mean: 4.5}, {Kind: Const, Default: 5}, {Kind: Const},
		{Kind: Reciprocal, Default: 3}, {Kind: Multiples, Config: 7, Default: 1}, {Kind: Multiples, Config: 100000},
		{Kind: Exponential, Config: 3, Default: 1}, {Kind: PerfectSquares, Config: 2, Default: 1},
		{Kind: PerfectSquares, Config: 3},
	}
	for _, s := range specs {
		for _, mode := range compat.Modes() {
			for _, types := range []int{1, 2, 5} {
				if s.Kind == Reciprocal && s.Default == 0 {
					continue
				}
				f := function(t, s, mode, 3, 5003, types)
				want := Totals{Nodes: 5000, ByType: make([]int64, types)}
				for id := int64(3); id < 5003; id++ {
					total := f.Total(id)
					want.Sum += total
					want.Max = max(want.Max, total)
					for k := range types {
						n := f.Of(total, k)
						want.ByType[k] += n
						want.Links += n
						if n > 0 {
							want.Counts++
						}
					}
				}
				if d := cmp.Diff(want, f.Totals()); d != "" {
					t.Errorf("%v mode %v types %d (-visit +runs):\n%s", s.Kind, mode, types, d)
				}
				if f.Max() < want.Max {
					t.Errorf("%v mode %v: Max %d below %d", s.Kind, mode, f.Max(), want.Max)
				}
			}
		}
	}
}

// By hand, three types: 2020 drops the remainder; 2013 gives one more to every type below total - total/3;
// off gives one more to every type below total - 3·(total/3).
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		mode    compat.Mode
		total   int64
		want    []int64
		present int64
	}{
		{compat.Y2020, 5, []int64{1, 1, 1}, 3},
		{compat.Y2020, 3, []int64{1, 1, 1}, 3},
		{compat.Y2013, 0, []int64{0, 0, 0}, 0},
		{compat.Y2013, 2, []int64{1, 1, 0}, 2},
		{compat.Y2013, 3, []int64{2, 2, 1}, 3}, // base 1, left 3-1 = 2
		{compat.Y2013, 5, []int64{2, 2, 2}, 3}, // base 1, left 5-1 = 4
		{compat.Off, 5, []int64{2, 2, 1}, 3},
		{compat.Off, 6, []int64{2, 2, 2}, 3},
	} {
		f := function(t, Spec{Kind: Const, Default: 1}, c.mode, 1, 10, 3)
		sum := int64(0)
		for k, want := range c.want {
			if got := f.Of(c.total, k); got != want {
				t.Errorf("%v: type %d of %d links has %d, want %d", c.mode, k, c.total, got, want)
			}
			sum += want
		}
		if f.Loaded(c.total) != sum || f.Present(c.total) != c.present {
			t.Errorf("%v: %d links: loaded %d present %d, want %d %d", c.mode, c.total, f.Loaded(c.total),
				f.Present(c.total), sum, c.present)
		}
	}
}

// The first id's division by zero: the largest number plus one is negative in the original, hence no links in
// 2013 and one per type in 2020; with compat off it is n plus the default.
func TestReciprocalFirstID(t *testing.T) {
	for mode, want := range map[compat.Mode]int64{compat.Y2013: 0, compat.Y2020: 2, compat.Off: 1001} {
		f := function(t, Spec{Kind: Reciprocal, Default: 1}, mode, 1, 1001, 2)
		if got := f.Total(1); got != want {
			t.Errorf("%v: %d, want %d", mode, got, want)
		}
	}
}

func TestLargeGraphInConstantMemory(t *testing.T) {
	f := function(t, Spec{Kind: Real, Table: tables(t, Tables2017)[NLinks]}, compat.Y2020, 1, 3_000_000_001, 2)
	if got := f.byRank(0); got != 4181357 {
		t.Errorf("top rank has %d links", got)
	}
	top := f.start + f.shuffler.Permute(0)
	if got := f.Total(top); got != 4181357 {
		t.Errorf("id %d has %d links, want those of the top rank", top, got)
	}
	if f.shuffler.Permute(0) >= 3_000_000_000 || dist.Groups != 1024 {
		t.Error("permutation out of range")
	}
	// The sum of out-degrees tends to the mean of the table as n grows: 3.8526 per id plus what raising
	// 79.747 % of the ids from one link to two adds, .79747: 4.650.
	if got := f.Totals(); math.Abs(float64(got.Sum)/3e9-4.650) > 0.01 {
		t.Errorf("%d links for 3e9 ids", got.Sum)
	}
}

func TestNewRefuses(t *testing.T) {
	table := tables(t, Tables2017)[NLinks]
	for _, c := range []struct {
		spec       Spec
		start, end int64
		types      int
		want       string
	}{
		{Spec{Kind: Real, Table: table}, 0, 10, 2, "at least 1"},
		{Spec{Kind: Real, Table: table}, 10, 10, 2, "end above"},
		{Spec{Kind: Real, Table: table}, 1, 10, 0, "link types"},
		{Spec{Kind: Real}, 1, 10, 2, "distribution data"},
		{Spec{Kind: Zipf, Shape: 1, Mean: 2}, 1, 10, 2, "not 1"},
		{Spec{Kind: Zipf, Shape: math.NaN(), Mean: 2}, 1, 10, 2, "shape"},
		{Spec{Kind: Zipf, Shape: 0.5, Mean: 1e18}, 1, 10, 2, "smaller mean"},
		{Spec{Kind: Multiples}, 1, 10, 2, "at least 1"},
		{Spec{Kind: Exponential, Config: 1}, 1, 10, 2, "at least 2"},
		{Spec{Kind: PerfectSquares, Config: 63}, 1, 10, 2, "at most 62"},
		{Spec{Kind: Reciprocal}, 1, 10, 2, "9223372036854775807"},
		{Spec{Kind: Const, Default: -1}, 1, 10, 2, "default"},
		{Spec{Kind: Const, Cap: -1}, 1, 10, 2, "cap"},
		{Spec{Kind: 99}, 1, 10, 2, "unknown"},
	} {
		_, err := New(c.spec, compat.Y2020, c.start, c.end, c.types)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want an error with %q", c.spec, err, c.want)
		}
	}
}

func TestParseKind(t *testing.T) {
	for name, want := range map[string]Kind{
		"real": Real, "REAL": Real, "CONST": Const, "PERFECT_POWERS": PerfectSquares,
		"com.facebook.LinkBench.distributions.ZipfDistribution":    Zipf,
		"com.facebook.LinkBench.distributions.UniformDistribution": Uniform,
	} {
		if got, err := ParseKind(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := ParseKind("square"); err == nil {
		t.Error("square was accepted")
	}
}

func FuzzReadTables(f *testing.F) {
	seeds, err := filepath.Glob("testdata/tables/*")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, s := range seeds {
		b, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tb, err := ReadTables(bytes.NewReader(b))
		if err != nil {
			return
		}
		fn, err := New(Spec{Kind: Real, Table: tb[NLinks]}, compat.Y2020, 1, 1001, 2)
		if err != nil {
			return
		}
		if got := fn.Totals(); got.Links < 2000 {
			t.Errorf("%+v", got)
		}
	})
}
