package results

import (
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

// The lines below are the original's, printed by iibench.py
// (mdcallag/mytools, bench/ibench) at the end of a client's run.
func TestHistogramBlock(t *testing.T) {
	want := "Insert rt:     256us       1ms       4ms      16ms      64ms     256ms        1s        4s       16s        gt         max\n" +
		"Insert rt:         0       330        26         4         0         0         0         0         0         0    0.004890\n"
	op := Operation{Buckets: &[10]int64{0, 330, 26, 4}, MaxUS: ptr(int64(4890))}
	if diff := cmp.Diff(want, HistogramBlock("Insert rt:", op)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want = " Query rt:     256us       1ms       4ms      16ms      64ms     256ms        1s        4s       16s        gt         max\n" +
		" Query rt:    467571       534       264        31         0         0         0         0         0         0    0.008294\n"
	op = Operation{Buckets: &[10]int64{467571, 534, 264, 31}, MaxUS: ptr(int64(8294))}
	if diff := cmp.Diff(want, HistogramBlock(" Query rt:", op)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want = "Delete rt:     256us       1ms       4ms      16ms      64ms     256ms        1s        4s       16s        gt         max\n" +
		"Delete rt:         -         -         -         -         -         -         -         -         -         -           -\n"
	if diff := cmp.Diff(want, HistogramBlock("Delete rt:", Operation{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSummarise(t *testing.T) {
	h := hdrhistogram.New(1, 3_600_000_000, 3)
	for us := int64(1); us <= 1000; us++ {
		if err := h.RecordValue(us); err != nil {
			t.Fatal(err)
		}
	}
	// 1 to 1,000 µs once each, told apart exactly by three digits below 2,048.
	want := Operation{Name: "insert", Kind: KindService, Count: 1000, MinUS: ptr(int64(1)), P50US: ptr(int64(500)), P75US: ptr(int64(750)),
		P90US: ptr(int64(900)), P95US: ptr(int64(950)), P99US: ptr(int64(990)), P999US: ptr(int64(999)), MaxUS: ptr(int64(1000)), MeanUS: ptr(500.5)}
	if diff := cmp.Diff(want, Summarise("insert", KindService, h)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	h.Reset()
	if diff := cmp.Diff(Operation{Name: "x", Kind: KindResponse}, Summarise("x", KindResponse, h)); diff != "" {
		t.Errorf("without samples (-want +got):\n%s", diff)
	}
}

func TestMaxSeconds(t *testing.T) {
	op := func(name, kind string, us int64) Operation { return Operation{Name: name, Kind: kind, MaxUS: &us} }
	none := Operation{Name: "insert", Kind: KindResponse}
	for _, c := range []struct {
		ops  []Operation
		want *float64
	}{
		{nil, nil},
		{[]Operation{op("query", KindService, 9)}, nil},
		{[]Operation{op("insert", KindService, 3_000_000), none}, ptr(3.0)},
		{[]Operation{op("insert", KindService, 9_000_000), op("insert", KindResponse, 2_000_000)}, ptr(2.0)},
		{[]Operation{op("insert", KindResponse, 2_000_000), op("insert", KindService, 9_000_000)}, ptr(2.0)},
		{[]Operation{op("insert", KindService, 1_000_000), op("insert", KindService, 4_000_000)}, ptr(4.0)},
	} {
		if diff := cmp.Diff(c.want, maxSeconds(c.ops, "insert")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.ops, diff)
		}
	}
}
