package dist

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/linkbench/javarand"
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

func mustInt(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// near allows what the recording allows between two correct implementations: a few units of the last place.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-15*math.Max(math.Abs(a), math.Abs(b)) }

func choose(n int, draw func() int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = draw()
	}
	return out
}

func TestShufflerVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			Name, Seed string
			Groups, N  int64
			Rows       [][3]int64 `json:"i_permute_invert"`
		}
		Full []struct {
			Seed        string
			Groups, N   int64
			Permutation []int64
		}
	}
	readJSON(t, "testdata/invertible_shuffler.json", &doc)
	rows := 0
	for _, c := range doc.Cases {
		s := NewShuffler(mustInt(t, c.Seed), c.Groups, c.N)
		for _, r := range c.Rows {
			rows++
			if p, i := s.Permute(r[0]), s.Invert(r[0]); p != r[1] || i != r[2] {
				t.Errorf("%s groups %d n %d: %d → %d, %d; want %d, %d", c.Name, c.Groups, c.N, r[0], p, i, r[1], r[2])
			}
		}
	}
	if rows < 900 {
		t.Errorf("only %d rows", rows)
	}
	for _, c := range doc.Full {
		s := NewShuffler(mustInt(t, c.Seed), c.Groups, c.N)
		for i, want := range c.Permutation {
			if got := s.Permute(int64(i)); got != want {
				t.Errorf("seed %s groups %d: %d → %d, want %d", c.Seed, c.Groups, i, got, want)
			}
		}
	}
}

// Beyond 2^31 ids, and where one group alone is beyond it, a permutation must still stay in range and invert.
func TestShufflerLarge(t *testing.T) {
	for _, n := range []int64{1 << 31, 1<<31 + 12345, 10_000_000_000, 1 << 45} {
		s := NewShuffler(SeedLinks, Groups, n)
		for _, i := range []int64{0, 1, 1023, 1024, n / 3, n / 2, n - 1025, n - 2, n - 1} {
			p := s.Permute(i)
			if p < 0 || p >= n || s.Invert(p) != i {
				t.Errorf("n %d: %d → %d → %d", n, i, p, s.Invert(p))
			}
		}
	}
}

func TestHarmonicVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			N             int64
			M             float64
			Approx, Exact *float64
		}
	}
	readJSON(t, "testdata/harmonic.json", &doc)
	for _, c := range doc.Cases {
		want := c.Approx
		if want == nil {
			want = c.Exact
		}
		if got := Harmonic(c.N, c.M); !near(got, *want) {
			t.Errorf("H(%d,%v) = %v, want %v", c.N, c.M, got, *want)
		}
	}
}

// H(1e9, 2) = ζ(2) − Σ_{i>1e9} 1/i² = π²/6 − 1e-9 + 0.5e-18, so to the 1e-15 of summing: 1.644934065848226.
// Above a million terms rounding of the sum itself is about 1e-14.
func TestHarmonicTail(t *testing.T) {
	if got, want := Harmonic(1_000_000_000, 2), math.Pi*math.Pi/6-1e-9; math.Abs(got-want) > 1e-13 {
		t.Errorf("H(1e9,2) = %.17g, want %.17g", got, want)
	}
}

func TestZipfVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			Shape, Alpha, Zetan, Eta, Point5theta float64
			Min, N                                int64
			P                                     []float64
			Quantile                              []int64
			Choose                                []int64   `json:"choose_Random12345"`
			PDF                                   []float64 `json:"pdf_ids_1_2_10_100"`
		}
	}
	readJSON(t, "testdata/zipf.json", &doc)
	draws := 0
	for _, c := range doc.Cases {
		z := NewZipf(c.Min, c.Min+c.N, c.Shape)
		if !near(z.alpha, c.Alpha) || !near(z.zeta, c.Zetan) || !near(z.eta, c.Eta) || z.second != 1+c.Point5theta {
			t.Errorf("shape %v n %d: alpha %v zeta %v eta %v, want %v %v %v", c.Shape, c.N, z.alpha, z.zeta, z.eta,
				c.Alpha, c.Zetan, c.Eta)
		}
		for i, p := range c.P {
			if got := z.Quantile(p); got != c.Quantile[i] {
				t.Errorf("shape %v n %d: quantile(%v) = %d, want %d", c.Shape, c.N, p, got, c.Quantile[i])
			}
		}
		rng := javarand.New(12345)
		got := choose(len(c.Choose), func() int64 { return z.Choose(rng) })
		if d := cmp.Diff(c.Choose, got); d != "" {
			t.Errorf("shape %v n %d draws (-recorded +ours):\n%s", c.Shape, c.N, d)
		}
		draws += len(got) + len(c.P)
		for i, id := range []int64{1, 2, 10, 100} {
			if got := z.PDF(id); !near(got, c.PDF[i]) {
				t.Errorf("shape %v n %d: pdf(%d) = %v, want %v", c.Shape, c.N, id, got, c.PDF[i])
			}
		}
	}
	if draws != 1012 {
		t.Errorf("%d draws and quantiles compared, the recording has 1012", draws)
	}
}

func TestUniformVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			Min, N   int64
			P        []float64
			Quantile []int64
			Choose   []int64 `json:"choose_Random12345"`
		}
	}
	readJSON(t, "testdata/uniform.json", &doc)
	for _, c := range doc.Cases {
		u := Uniform{Min: c.Min, Max: c.Min + c.N}
		for i, p := range c.P {
			if got := u.Quantile(p); got != c.Quantile[i] {
				t.Errorf("n %d: quantile(%v) = %d, want %d", c.N, p, got, c.Quantile[i])
			}
		}
		if c.N > math.MaxInt32 {
			continue // the original's draw is biased here
		}
		rng := javarand.New(12345)
		if d := cmp.Diff(c.Choose, choose(len(c.Choose), func() int64 { return u.Choose(rng) })); d != "" {
			t.Errorf("n %d draws (-recorded +ours):\n%s", c.N, d)
		}
	}
}

func TestGeometricVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			P        float64
			Min, Max int64
			R        []float64
			Quantile []int64
			Choose   []int64 `json:"choose_Random12345"`
			Hist     []int64 `json:"hist_1M_Random1_first12"`
			Mean     float64 `json:"mean_1M"`
		}
	}
	readJSON(t, "testdata/geometric.json", &doc)
	for _, c := range doc.Cases {
		g := Geometric{Min: c.Min, Max: c.Max, P: c.P}
		fixed := g
		fixed.Exact = true
		for i, r := range c.R {
			if got := g.Quantile(r); got != c.Quantile[i] {
				t.Errorf("p %v: quantile(%v) = %d, want %d", c.P, r, got, c.Quantile[i])
			}
			if want := max(c.Min, c.Quantile[i]-1); fixed.Quantile(r) != want {
				t.Errorf("p %v exact: quantile(%v) = %d, want %d", c.P, r, fixed.Quantile(r), want)
			}
		}
		rng := javarand.New(12345)
		if d := cmp.Diff(c.Choose, choose(len(c.Choose), func() int64 { return g.Choose(rng) })); d != "" {
			t.Errorf("p %v draws (-recorded +ours):\n%s", c.P, d)
		}
		rng.Seed(1)
		hist, sum := make([]int64, 12), 0.0
		for range 1_000_000 {
			v := g.Choose(rng)
			sum += float64(v)
			if v < 12 {
				hist[v]++
			}
		}
		if d := cmp.Diff(c.Hist, hist); d != "" || sum/1e6 != c.Mean {
			t.Errorf("p %v: mean %v, want %v; histogram (-recorded +ours):\n%s", c.P, sum/1e6, c.Mean, d)
		}
	}
}

func TestLognormalVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			Max    int64
			Median float64
			Choose []int64 `json:"choose_Random12345"`
			Mean   float64 `json:"mean_1M_Random1"`
			Zeros  int64
			AtMax  int64 `json:"at_max_minus_1"`
		}
	}
	readJSON(t, "testdata/lognormal_sizes.json", &doc)
	for _, c := range doc.Cases {
		l := NewLognormal(c.Median, c.Max)
		rng := javarand.New(12345)
		if d := cmp.Diff(c.Choose, choose(len(c.Choose), func() int64 { return int64(l.Choose(rng)) })); d != "" {
			t.Errorf("median %v draws (-recorded +ours):\n%s", c.Median, d)
		}
		rng.Seed(1)
		var sum, zeros, atMax int64
		for range 1_000_000 {
			v := int64(l.Choose(rng))
			sum += v
			if v == 0 {
				zeros++
			}
			if v == c.Max-1 {
				atMax++
			}
		}
		if float64(sum)/1e6 != c.Mean || zeros != c.Zeros || atMax != c.AtMax {
			t.Errorf("median %v: mean %v zeros %d at max %d; want %v %d %d", c.Median, float64(sum)/1e6, zeros, atMax,
				c.Mean, c.Zeros, c.AtMax)
		}
	}
}

func TestArrivalGapVectors(t *testing.T) {
	var doc struct {
		Cases []struct {
			Rate float64 `json:"requestrate"`
			Gaps []int64 `json:"interarrival_ns_Random12345"`
		}
	}
	readJSON(t, "testdata/exp_interarrival.json", &doc)
	for _, c := range doc.Cases {
		rng := javarand.New(12345)
		if d := cmp.Diff(c.Gaps, choose(len(c.Gaps), func() int64 { return ArrivalGapNS(rng, c.Rate) })); d != "" {
			t.Errorf("rate %v (-recorded +ours):\n%s", c.Rate, d)
		}
	}
}
