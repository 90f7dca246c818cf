package legacy

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"insertbench/linkbench/javarand"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBuckets(t *testing.T) {
	var doc struct {
		N      int        `json:"num_buckets"`
		Bounds [][2]int64 `json:"bounds_us_lo_hi"`
		Of     [][2]int64 `json:"us_to_bucket"`
	}
	if err := json.Unmarshal([]byte(read(t, "testdata/latency_buckets.json")), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.N != numBuckets {
		t.Errorf("%d buckets, recorded %d", numBuckets, doc.N)
	}
	for i, b := range doc.Bounds {
		if low, high := bucketBounds(i); low != b[0] || high != b[1] {
			t.Errorf("bucket %d is [%d,%d), recorded %v", i, low, high, b)
		}
	}
	for _, r := range doc.Of {
		if got := bucketOf(r[0]); int64(got) != r[1] {
			t.Errorf("%d us is in bucket %d, recorded %d", r[0], got, r[1])
		}
	}
}

// samples are the latencies the recording describes in words.
func samples(t *testing.T, described string) []int64 {
	t.Helper()
	var us []int64
	switch {
	case strings.HasPrefix(described, "["):
		if err := json.Unmarshal([]byte(described), &us); err != nil {
			t.Fatal(err)
		}
	case strings.HasPrefix(described, "100,200,"):
		for i := int64(1); i <= 1000; i++ {
			us = append(us, i*100)
		}
	case strings.HasPrefix(described, "10000 x floor(exp(ln(1500)+gaussian))"):
		rng := javarand.New(12345)
		for range 10000 {
			us = append(us, int64(math.Floor(math.Exp(math.Log(1500)+rng.Norm()))))
		}
	default:
		t.Fatalf("unknown samples %q", described)
	}
	return us
}

func TestFinalLines(t *testing.T) {
	var doc struct {
		Header string `json:"csv_header"`
		Cases  []struct {
			Latencies string `json:"latencies_us"`
			Line      string `json:"log_line_after_prefix"`
			CSV       string `json:"csv_row"`
		}
	}
	if err := json.Unmarshal([]byte(read(t, "testdata/latency_stats_example.json")), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Header != CSVHeader {
		t.Errorf("header %s", CSVHeader)
	}
	for _, c := range doc.Cases {
		var l Latencies
		for _, us := range samples(t, c.Latencies) {
			l.Add(us, 1)
		}
		if got := l.Line("GET_NODE", 1); got != c.Line {
			t.Errorf("%s:\n got %s\nwant %s", c.Latencies, got, c.Line)
		}
		if got := l.CSV("GET_NODE", 1); got != c.CSV {
			t.Errorf("%s:\n got %s\nwant %s", c.Latencies, got, c.CSV)
		}
	}
}

// The console log recorded a load of 20,000 nodes with two link loaders and 100,000 requests of two requesters.
// Durations are those its rates imply: 80,000 links / 434,783 per second = 184 ms, and so on.
func TestConsoleLines(t *testing.T) {
	log := read(t, "testdata/sample_output/console.log")
	load := Load{IDs: 20000, Nodes: 20000, ExpectedNodes: 20000, Links: 80000, Counts: 40000, Took: 184 * time.Millisecond}
	progress := Load{IDs: 20000, IDsDone: 5664, Links: 22656, Counts: 11328, Took: 115 * time.Millisecond}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	at := func(ms int) time.Time { return time.Date(2026, 11, 30, 21, 9, 7, ms*1e6, time.UTC) }
	for _, want := range []string{
		Prefix("INFO", at(585), "main") + "Config file: home/config/mem.properties",
		Prefix("INFO", at(700), "Thread-2") + "Loading of nodes [1,20001) done",
		Prefix("INFO", at(857), "main") + load.Final(),
		Prefix("INFO", at(746), "Thread-1") + progress.Progress(),
		Requests{Done: 100000, Took: ms(228)}.Final(),
		Requests{Done: 20000, Planned: 100000, Took: ms(59), MaxTimeS: 100000}.Progress(),
		Requests{Done: 80000, Planned: 100000, Took: ms(184), MaxTimeS: 100000}.Progress(),
		Requester{1, 50000, ms(209), 10957, 2096, 0, 11279}.Line(),
		Requester{0, 50000, ms(213), 10984, 2122, 0, 11224}.Line(),
	} {
		if !strings.Contains(log, want+"\n") {
			t.Errorf("the log has no line\n%s", want)
		}
	}
	if got := Prefix("WARN", at(0), "main"); got != "WARN 2026-11-30 21:09:07.0 [main]: " {
		t.Errorf("%q", got)
	}
}

// Whole rows of the recorded files, from the figures in them: thread 2 sent twenty batches of nodes; sorted, places
// 0, 5, 10, 14, 17, 18 and 19 are printed. The others are free as long as order and sum (20 × 425.8 = 8516) hold:
// 5·84 + 5·109 + 4·115 + 181 + 600 + 769 + 807 + 1445 + 3289.
func TestSampleLines(t *testing.T) {
	s := Sample{Thread: 2, Op: "LOAD_NODE_BULK", TotalOps: 20, Ops: 20, DurationMS: 71, Values: []int64{
		3289, 84, 84, 84, 84, 84, 109, 109, 109, 109, 109, 115, 115, 115, 115, 181, 807, 1445, 600, 769}}
	if !strings.Contains(read(t, "testdata/sample_output/console.log"), s.Line()+"\n") {
		t.Errorf("the log has no line\n%s", s.Line())
	}
	stream := read(t, "testdata/sample_output/csvstream.csv")
	if !strings.HasPrefix(stream, StreamHeader+"\n") || !strings.Contains(stream, s.CSV(1796072947)+"\n") {
		t.Errorf("the stream has no row\n%s", s.CSV(1796072947))
	}
}

func TestHDRRows(t *testing.T) {
	csv := read(t, "testdata/sample_output/csvstats_hdr.csv")
	h := HDR{Count: 542, Percentiles: [5]int64{0, 0, 0, 0, 1}, MaxUS: 10, MeanUS: 0.05}
	load := HDR{Count: 20, Percentiles: [5]int64{450, 612, 2919, 15903, 20831}, MaxUS: 20831, MeanUS: 3443.4}
	for _, want := range []string{HDRCSVHeader, h.CSV("ADD_NODE", 1), load.CSV("LOAD_LINKS_BULK", 2)} {
		if !strings.Contains(csv, want+"\n") {
			t.Errorf("the file has no row\n%s", want)
		}
	}
}

// Java's Double.toString for values of both notations, by its documentation.
func TestJavaDouble(t *testing.T) {
	for x, want := range map[float64]string{0: "0.0", 1024: "1024.0", 425.8: "425.8", 0.015420200462606014: "0.015420200462606014",
		1e7: "1.0E7", 12345678.5: "1.23456785E7", 0.0005: "5.0E-4", 0.001: "0.001"} {
		if got := javaDouble(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

// Values below 2,048 µs are exact in a histogram of three digits, so bucket edges hold here.
func TestAddHistogram(t *testing.T) {
	h := hdrhistogram.New(1, 3_600_000_000, 3)
	var want Latencies
	for _, us := range []int64{5, 99, 100, 950, 999, 1000} {
		for range us%7 + 1 {
			if err := h.RecordValue(us); err != nil {
				t.Fatal(err)
			}
		}
		want.Add(us, us%7+1)
	}
	var got Latencies
	got.AddHistogram(h, 1000, want.meanUS())
	if diff := math.Abs(got.sumUS - want.sumUS); diff > 1e-6 {
		t.Errorf("sum %v, want %v", got.sumUS, want.sumUS)
	}
	got.sumUS = want.sumUS
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A cell of a histogram of two digits is 2,048 µs wide at 228,409 µs: maximum and mean come from what was timed.
func TestAddHistogramExact(t *testing.T) {
	h := hdrhistogram.New(1, 3_600_000_000, 2)
	for _, us := range []int64{228_409, 50} {
		if err := h.RecordValue(us); err != nil {
			t.Fatal(err)
		}
	}
	var l Latencies
	l.AddHistogram(h, 228_409, 114_229.5)
	if got, want := l.Line("GET_NODE", 2), "max = 228.409ms  mean = 114.23ms threads = 2"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want it to end in %s", got, want)
	}
}

// The order of final lines is that of the recorded log.
func TestOpsOrder(t *testing.T) {
	log, at := read(t, "testdata/sample_output/console.log"), -1
	requests := log[strings.Index(log, "LOAD PHASE COMPLETED"):]
	for _, op := range Ops()[:10] {
		next := strings.Index(requests, ": "+op+" count = ")
		if next <= at {
			t.Errorf("%s comes at %d, after %d", op, next, at)
		}
		at = next
	}
}
