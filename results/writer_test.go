package results

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

var started = time.Date(2026, 3, 1, 2, 3, 4, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// fullRun has something in every field of the record.
func fullRun() Run {
	ended := started.Add(61 * time.Second)
	h := hdrhistogram.New(1, 3_600_000_000, 3)
	for _, us := range []int64{200, 256, 257, 5_000} {
		_ = h.RecordValue(us)
	}
	insert := Summarise("insert", KindService, h)
	insert.Buckets, insert.Overflow = &[10]int64{2, 1, 0, 1}, 1
	return Run{
		Schema: Schema, Workload: "ibench", Plan: "load", Command: []string{"ibench", "load", "--rows=10"},
		ToolVersion: "0.1", StartedUTC: started, EndedUTC: &ended, Complete: false, Reason: "interrupted",
		ExitCode: ptr(130), Tag: "none", Label: "rx.none", DBMS: "mysql", Engine: "RocksDB",
		Config: map[string]any{"seed": json.Number("9223372036854775807"), "rows": json.Number("10")},
		Environment: Environment{
			Hostname: "h", OS: "linux", Kernel: "6.1", Arch: "amd64", CPUModel: "x", CPUs: 2, MemoryBytes: ptr(int64(1 << 30)),
			GoVersion: "go1.26", DataDir: "/data", Filesystem: "xfs",
			Devices:  []Device{{Name: "sda", Model: "m", SizeBytes: ptr(int64(9))}},
			Findings: []Finding{{Name: "swap", Value: "on", Why: "w", Advice: "a"}},
		},
		Server: Server{Product: "MariaDB", Version: "10.11", Durability: "d", Transport: "unix socket /s", Local: true,
			PID: ptr(int64(77)), Settings: []Setting{{Name: "n", Value: "v"}}},
		Steps: []Step{{
			Name: "load", Kind: KindLoad, StartedUTC: started, EndedUTC: &ended, Reason: "interrupted",
			Metrics:    map[string]Metric{"rows": {Value: ptr(10.0), Unit: "rows", Source: "clients"}, "reads": {Unit: "reads", Source: "kernel"}},
			Clients:    []Client{{Client: 0, RowsAcknowledged: 10, P75RowsPerSecond: ptr(1.5), MaxInsertSeconds: ptr(0.005), Error: "e"}},
			Operations: []Operation{insert},
			Events:     []Event{{Second: 3, Kind: "stall", Client: ptr(0), Text: "t"}}, EventsDropped: 2,
			Errors: []ErrorCount{{Code: "1213", Class: "retryable", Count: 4, Example: "deadlock"}},
			Dumps:  []string{"dumps/load-start-x.txt"}, DumpErrors: []string{"x"},
		}},
		Verify: &Verify{Mode: "full", Passed: ptr(false), Seconds: ptr(0.25), Expected: map[string]int64{"rows": 10},
			Found: map[string]int64{"rows": 9}, Differences: []string{"1 row is missing"}, Note: "n"},
		Warnings: []string{"w"},
	}
}

func TestRecordRoundTrip(t *testing.T) {
	want := fullRun()
	w, err := Create(filepath.Join(t.TempDir(), "new", "runs"), want)
	if err != nil {
		t.Fatal(err)
	}
	first, err := Load(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if first.Complete || first.Reason != StillRunning {
		t.Errorf("the first record says complete %v, reason %q", first.Complete, first.Reason)
	}
	if err := w.Save(want); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{w.Dir(), filepath.Join(w.Dir(), "run.json")} {
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read back from %s (-want +got):\n%s", path, diff)
		}
	}
	files, err := filepath.Glob(filepath.Join(w.Dir(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	hidden, _ := filepath.Glob(filepath.Join(w.Dir(), ".*"))
	if len(files) != 3 || len(hidden) != 0 {
		t.Errorf("files left: %v %v, want run.json, intervals.ndjson and hist.hlog", files, hidden)
	}
	if err := w.AppendInterval(Interval{}); err == nil {
		t.Error("an interval was appended to a closed record")
	}
}

func TestMissingIsNull(t *testing.T) {
	run := Run{StartedUTC: started, Steps: []Step{{Metrics: map[string]Metric{
		"a_kb": {Unit: "KiB"}, "b_kb": {Value: ptr(math.NaN())}, "c_kb": {Value: ptr(math.Inf(1))}, "d_kb": {Value: ptr(0.0)},
	}}}}
	data, err := Encode(run)
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		ExitCode any `json:"exit_code"`
		EndedUTC any `json:"ended_utc"`
		Steps    []struct {
			Metrics map[string]map[string]any
		}
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	m := raw.Steps[0].Metrics
	got := []any{raw.ExitCode, raw.EndedUTC, m["a_kb"]["value"], m["b_kb"]["value"], m["c_kb"]["value"], m["d_kb"]["value"]}
	if diff := cmp.Diff([]any{nil, nil, nil, nil, nil, 0.0}, got); diff != "" {
		t.Error(diff)
	}
	data, err = Encode(Run{})
	if err != nil || !strings.Contains(string(data), `"steps": []`) {
		t.Errorf("a run without steps has no empty array: %v\n%s", err, data)
	}
}

func TestSameSecond(t *testing.T) {
	dir := t.TempDir()
	head := Run{Workload: "ibench", Plan: "load", DBMS: "sqlite", StartedUTC: started}
	var names []string
	for range 3 {
		w, err := Create(dir, head)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		names = append(names, filepath.Base(w.Dir()))
	}
	want := []string{"20260301T020304Z-ibench-load-sqlite", "20260301T020304Z-ibench-load-sqlite-2", "20260301T020304Z-ibench-load-sqlite-3"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestDirName(t *testing.T) {
	for _, c := range []struct{ engine, tag, want string }{
		{"InnoDB", "cx6d", "InnoDB-cx6d"},
		{"", "", ""},
		{"../../etc", "a/b\\c", "_.._etc-a_b_c"},
		{"a b", "tab\tnew\nline", "a_b-tab_new_line"},
		{"ü", "\x00\xff", "_-__"},
		{"...", "--", ""},
		{"CON:", "x.", "CON_-x"},
		{strings.Repeat("e", 300), "", strings.Repeat("e", 40)},
	} {
		run := Run{StartedUTC: started, Workload: "ibench", Plan: "load", DBMS: "mysql", Engine: c.engine, Tag: c.tag}
		want := strings.TrimSuffix("20260301T020304Z-ibench-load-mysql-"+c.want, "-")
		if got := DirName(&run); got != want {
			t.Errorf("engine %q tag %q: %s, want %s", c.engine, c.tag, got, want)
		}
	}
}

func TestHistogramLog(t *testing.T) {
	w, err := Create(t.TempDir(), Run{Workload: "ibench", StartedUTC: started})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	values := map[string][]int64{
		"l.i0/insert/service":       {1, 255, 1_000, 1_000, 3_600_000_000},
		"l.i0/insert/response":      {77},
		"odd_step_/range_a/service": {12_345, 12_345},
		"l.i0/empty/service":        {},
	}
	keys := [][3]string{{"l.i0", "insert", KindService}, {"l.i0", "insert", KindResponse}, {"odd step,", "range a", KindService}, {"l.i0", "empty", KindService}}
	for _, k := range keys {
		h := hdrhistogram.New(1, 3_600_000_000, 3)
		for _, v := range values[HistogramTag(k[0], k[1], k[2])] {
			if err := h.RecordValue(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.AppendHistogram(k[0], k[1], k[2], started, started.Add(2500*time.Millisecond), h); err != nil {
			t.Fatal(err)
		}
		if h.Tag() != "" {
			t.Error("the caller's histogram kept the tag")
		}
	}
	f, err := os.Open(filepath.Join(w.Dir(), "hist.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log := hdrhistogram.NewHistogramLogReader(f)
	for range keys {
		h, err := log.NextIntervalHistogram()
		if err != nil || h == nil {
			t.Fatalf("reading back: %v, %v", h, err)
		}
		want, known := values[h.Tag()]
		if !known || h.TotalCount() != int64(len(want)) {
			t.Errorf("tag %q has %d samples, want %d", h.Tag(), h.TotalCount(), len(want))
		}
		if len(want) > 0 && (!h.ValuesAreEquivalent(h.Min(), want[0]) || !h.ValuesAreEquivalent(h.Max(), want[len(want)-1])) {
			t.Errorf("tag %q: %d to %d, want %v", h.Tag(), h.Min(), h.Max(), want)
		}
		if h.StartTimeMs() != started.UnixMilli() || h.EndTimeMs() != started.UnixMilli()+2500 {
			t.Errorf("tag %q: from %d to %d ms", h.Tag(), h.StartTimeMs(), h.EndTimeMs())
		}
	}
	if h, err := log.NextIntervalHistogram(); h != nil || err != nil {
		t.Errorf("after the last: %v, %v", h, err)
	}
}

func TestDump(t *testing.T) {
	w, err := Create(t.TempDir(), Run{Workload: "ibench", StartedUTC: started})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rel, err := w.Dump("l.i0", "start", "../global status.txt", []byte("x\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "dumps/l.i0-start-_global_status.txt"; rel != want {
		t.Errorf("path %q, want %q", rel, want)
	}
	if data, err := os.ReadFile(filepath.Join(w.Dir(), filepath.FromSlash(rel))); err != nil || string(data) != "x\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestUnusablePlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Create(file, Run{StartedUTC: started})
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "--results") {
		t.Errorf("a file in the place of the folder: %v", err)
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "write", Path: "/r/x.tmp", Err: syscall.ENOSPC}, "saving /r/x: no space left on device; free some space or name another folder with --results"},
		{&os.PathError{Op: "mkdir", Path: "/r", Err: syscall.EROFS}, "saving /r/x: read-only file system; name another folder with --results"},
		{&os.LinkError{Op: "rename", Old: "/r/x.tmp", New: "/r/x", Err: syscall.EACCES}, "saving /r/x: permission denied; name another folder with --results"},
		{&os.PathError{Op: "open", Path: "/r/x", Err: syscall.EIO}, "saving /r/x: input/output error"},
	} {
		got := explain("saving", "/r/x", c.err)
		if got.Error() != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if !errors.Is(got, errors.Unwrap(c.err)) {
			t.Errorf("%q doesn't wrap its cause", got)
		}
	}
}
