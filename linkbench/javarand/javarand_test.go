package javarand

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// draws collects len(want) results of next and compares them exactly.
func draws[T any](t *testing.T, name string, want []T, next func() T) {
	t.Helper()
	got := make([]T, len(want))
	for i := range got {
		got[i] = next()
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-recorded +ours):\n%s", name, d)
	}
}

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

func field[T any](t *testing.T, c map[string]json.RawMessage, key string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(c[key], &v); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return v
}

func seedOf(t *testing.T, c map[string]json.RawMessage) int64 {
	t.Helper()
	n, err := strconv.ParseInt(field[string](t, c, "seed"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRandomVectors(t *testing.T) {
	var doc struct {
		Cases []map[string]json.RawMessage `json:"cases"`
	}
	readJSON(t, "testdata/java_random.json", &doc)
	if len(doc.Cases) != 7 {
		t.Fatalf("%d seeds, want 7", len(doc.Cases))
	}
	for _, c := range doc.Cases {
		seed := seedOf(t, c)
		name := func(k string) string { return strconv.FormatInt(seed, 10) + " " + k }
		for key := range c {
			bound, ok := strings.CutPrefix(key, "nextInt_")
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(bound, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			r := New(seed)
			draws(t, name(key), field[[]int32](t, c, key), func() int32 { return r.Int32n(int32(n)) })
			r.Seed(seed)
			draws(t, name(key)+" as int64", field[[]int64](t, c, key), func() int64 { return r.Int64n(n) })
		}
		draws(t, name("nextInt"), field[[]int32](t, c, "nextInt"), New(seed).Int32)
		draws(t, name("nextDouble"), field[[]float64](t, c, "nextDouble"), New(seed).Float64)
		draws(t, name("nextGaussian"), field[[]float64](t, c, "nextGaussian"), New(seed).Norm)
		r := New(seed)
		draws(t, name("nextLong"), field[[]string](t, c, "nextLong"),
			func() string { return strconv.FormatInt(r.Int64(), 10) })
	}
}

func TestMasterVectors(t *testing.T) {
	var doc struct {
		Cases []map[string]json.RawMessage `json:"cases"`
	}
	readJSON(t, "testdata/master_sha1prng.json", &doc)
	for _, c := range doc.Cases {
		m := NewMaster(seedOf(t, c))
		draws(t, string(c["seed"]), field[[]string](t, c, "nextLong"),
			func() string { return strconv.FormatInt(m.Int64(), 10) })
	}
}

func TestSeedDropsWaitingGaussian(t *testing.T) {
	r := New(1)
	first := r.Norm()
	r.Seed(1)
	if again := r.Norm(); again != first {
		t.Errorf("after Seed: %v, want %v", again, first)
	}
}

// Fill must be n calls of Int32n, whose vectors are recorded.
func TestFillIsInt32n(t *testing.T) {
	for _, n := range []int32{1, 2, 69, 128, 171, 256} {
		a, b := New(12345), New(12345)
		got := make([]byte, 1000)
		a.Fill(got, 7, n)
		for i, g := range got {
			if want := 7 + byte(b.Int32n(n)); g != want {
				t.Fatalf("n=%d byte %d: %d, want %d", n, i, g, want)
			}
		}
		if a.Int64() != b.Int64() {
			t.Errorf("n=%d: streams differ after Fill", n)
		}
	}
}

// Beyond 2^31 there is nothing to compare with: values must cover the range evenly. 3·2^61 leaves the largest
// share to reject (a quarter of 2^63), where taking a remainder would put half of all values in the lowest third.
func TestInt64nLargeRangesAreEven(t *testing.T) {
	for _, n := range []int64{1 << 31, 3_000_000_000, 10_000_000_000, 3 << 61} {
		r := New(1)
		var thirds [3]int
		const samples = 30000
		for range samples {
			v := r.Int64n(n)
			if v < 0 || v >= n {
				t.Fatalf("n=%d: %d out of range", n, v)
			}
			thirds[int(float64(v)/float64(n)*3)]++
		}
		for i, c := range thirds {
			if math.Abs(float64(c)-samples/3) > 500 { // six standard deviations: sqrt(30000·1/3·2/3) = 82
				t.Errorf("n=%d third %d: %d of %d", n, i, c, samples)
			}
		}
	}
}

func TestLogAgainstMath(t *testing.T) {
	for _, x := range []float64{1e-300, 1e-9, 0.1, 0.5, 0.7071067811865475, 0.9999999, 1, 1.0000001, 1.5, 2, 3, 1e9} {
		if got, want := Log(x), math.Log(x); math.Abs(got-want) > 1e-15*math.Max(1, math.Abs(want)) {
			t.Errorf("Log(%v) = %v, want about %v", x, got, want)
		}
	}
}
