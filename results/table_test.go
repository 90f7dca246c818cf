package results

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

var testSources = Sources{Ops: "clients", Disk: "/proc/diskstats of sda", Host: "/proc/stat", Server: "/proc/PID/stat", Client: "getrusage"}

// measured is a step with all its counters.
func measured(name, kind string, raw Raw, levels Levels) Step {
	raw.Sources = testSources
	s := Step{Name: name, Kind: kind, StartedUTC: started, Complete: true, Metrics: raw.Metrics(PerRow)}
	for metric, m := range levels.Metrics() {
		s.Metrics[metric] = m
	}
	return s
}

func withRates(s Step, clients ...Client) Step {
	s.Clients = clients
	for name, m := range ClientRateMetrics(clients, PerRow) {
		s.Metrics[name] = m
	}
	return s
}

func disk(reads, writes, readKB, writtenKB float64) Deltas {
	return Deltas{Reads: &reads, Writes: &writes, ReadKB: &readKB, WrittenKB: &writtenKB}
}

func cpu(d Deltas, busy, total, server, client, switches float64) Deltas {
	d.HostBusyUS, d.HostTotalUS, d.ServerCPUUS, d.ClientCPUUS, d.ContextSwitches = &busy, &total, &server, &client, &switches
	return d
}

func directory(sizeBytes, rss, peak, dirty int64) Levels {
	return Levels{SizeBytes: &sizeBytes, SizeSource: "data directory", RSSBytes: &rss, RSSPeakBytes: &peak, DirtyBytesLeft: &dirty}
}

const miB = 1 << 20

// goldenRuns are the records that testdata/*/run.json holds: a load with
// indexes built after it, a remote server that was interrupted, and a small
// embedded run.
func goldenRuns() map[string]Run {
	load := withRates(measured("load", KindLoad,
		Raw{Seconds: 100, Ops: 1_000_000, Deltas: cpu(disk(50_000, 20_000, 800_000, 2_500_000), 120e6, 200e6, 80e6, 15e6, 3e6)},
		directory(1536*miB, 768*miB, 1024*miB, 64*miB)),
		Client{Client: 0, RowsAcknowledged: 500_000, P75RowsPerSecond: ptr(5100.0), P95RowsPerSecond: ptr(4800.0), P99RowsPerSecond: ptr(4000.0)},
		Client{Client: 1, RowsAcknowledged: 500_000, P75RowsPerSecond: ptr(4900.0), P95RowsPerSecond: ptr(4600.0), P99RowsPerSecond: ptr(3000.0)})
	load.Operations = []Operation{{Name: "insert", Kind: KindService, Count: 10_000, MaxUS: ptr(int64(2_500_000))}}
	index := measured("index", KindIndex,
		Raw{Seconds: 25, Ops: 1_000_000, Deltas: cpu(disk(10_000, 5_000, 200_000, 500_000), 30e6, 50e6, 26e6, 0, 1e6)},
		directory(2048*miB, 800*miB, 900*miB, 0))
	remote := withRates(measured("load", KindLoad, Raw{Seconds: 3, Ops: 12_345, Deltas: Deltas{ClientCPUUS: ptr(246_900.0)}},
		Levels{SizeBytes: ptr(int64(96 * miB)), SizeSource: SizeFromServer}), Client{RowsAcknowledged: 12_345})
	remote.Complete, remote.Reason = false, "interrupted by SIGINT"
	small := measured("load", KindLoad, Raw{Seconds: 0.5, Ops: 1_000, Deltas: cpu(disk(0, 3, 0, 12), 0, 1e6, 0, 0, 40)}, directory(miB, 5*miB, 5*miB, 0))
	small.Operations = []Operation{{Name: "insert", Kind: KindService, MaxUS: ptr(int64(4_120))}, {Name: "insert", Kind: KindResponse, MaxUS: ptr(int64(12_000))}}
	head := Run{Schema: Schema, Workload: "ibench", Plan: "load", Command: []string{"ibench", "load"}, StartedUTC: started}
	runs := map[string]Run{}
	add := func(name, engine, tag string, complete bool, steps ...Step) {
		run := head
		run.Engine, run.Tag, run.Complete, run.Steps = engine, tag, complete, steps
		runs[name] = run
	}
	add("indexed", "RocksDB", "none", true, load, index)
	add("remote", "InnoDB", "", false, remote)
	add("small", "sqlite", "a|b\n", true, small)
	return runs
}

// goldenTable reads the records of testdata.
func goldenTable(t *testing.T) Table {
	t.Helper()
	want := goldenRuns()
	var runs []*Run
	for _, name := range []string{"indexed", "remote", "small"} {
		path := filepath.Join(name, runFile)
		if *update {
			if err := os.MkdirAll(filepath.Join("testdata", name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		data, err := Encode(want[name])
		if err != nil {
			t.Fatal(err)
		}
		golden(t, path, data)
		run, err := Load(filepath.Join("testdata", path))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, &run)
	}
	return Table{Columns: LoadColumns(), Rows: LoadRows(runs...)}
}

func TestLoadTableGolden(t *testing.T) {
	table := goldenTable(t)
	wide := table
	wide.Wide = true
	for name, write := range map[string]func(*strings.Builder) error{
		"load.txt":      func(b *strings.Builder) error { return table.WriteText(b) },
		"load_wide.txt": func(b *strings.Builder) error { return wide.WriteText(b) },
		"load.md":       func(b *strings.Builder) error { return table.WriteMarkdown(b) },
		"load.csv":      func(b *strings.Builder) error { return table.WriteCSV(b) },
		"load.json":     func(b *strings.Builder) error { return table.WriteJSON(b) },
		"legend.txt":    func(b *strings.Builder) error { return WriteLegend(b, LoadColumns()) },
	} {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, name, []byte(out.String()))
	}
}

// TestLoadTableByHand pins every cell of the golden table.
func TestLoadTableByHand(t *testing.T) {
	table := goldenTable(t)
	columns := table.shown()
	want := []string{
		// 1,000,000 rows ÷ 100 s; percentiles (5100+4900)÷2, (4800+4600)÷2, (4000+3000)÷2; 50,000, 800,000 KiB and
		// 2,500,000 KiB ÷ 1,000,000; host 120 of 200 s = 60 %, 60e6 ÷ 10,000; 1.5 and 0.75 GiB; 50,000 ÷ 100;
		// 8,000 and 25,000 KiB/s ÷ 1,000; slowest 2,500,000 us.
		"10000 5000 4700 3500 0.050 0.80 2.50 6000 1.50 0.750 500 8.0 25.0 60.0 2.500 RocksDB.none",
		// 1,000,000 ÷ 25 s; 10,000, 200,000 and 500,000 ÷ 1,000,000; 30 of 50 s = 60 %, 60e6 ÷ 40,000; 2 GiB,
		// 800 ÷ 1024 GiB; 10,000 ÷ 25; 8,000 and 20,000 KiB/s.
		"40000 - - - 0.010 0.20 0.50 1500 2.00 0.781 400 8.0 20.0 60.0 - RocksDB.none (index)",
		// 1,000,000 ÷ 125 s; 60,000, 1,000,000 and 3,000,000 ÷ 1,000,000; 150 of 250 s = 60 %, 60e6 ÷ 8,000;
		// 60,000 ÷ 125; 8,000 and 24,000 KiB/s.
		"8000 - - - 0.060 1.00 3.00 7500 2.00 0.781 480 8.0 24.0 60.0 2.500 RocksDB.none (total)",
		// 12,345 ÷ 3 s; 96 ÷ 1024 GiB.
		"4115 - - - - - - - 0.0938* - - - - - - InnoDB (partial)",
		// 1,000 ÷ 0.5 s; nothing read; 12 KiB ÷ 1,000 = 0.012; 1 and 5 MiB in GiB; 24 KiB/s ÷ 1,000; idle; 12,000 us from the intended start.
		"2000 - - - 0 0 0.0120 0 0.000977 0.00488 0 0 0.0240 0 0.012 sqlite.a|b?",
	}
	if len(table.Rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(table.Rows), len(want))
	}
	for i, r := range table.Rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.cell(r))
		}
		if diff := cmp.Diff(want[i], strings.Join(cells, " ")); diff != "" {
			t.Errorf("row %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestMissingInEachFormat(t *testing.T) {
	run := Run{Engine: "e", Complete: true}
	step := Step{Kind: KindLoad, Complete: true, Metrics: Raw{Ops: -1}.Metrics(PerRow)}
	table := Table{Columns: LoadColumns(), Rows: []Row{{Run: &run, Step: &step}}}
	words := map[string]bool{}
	for _, c := range table.Columns {
		words[c.Name] = c.Text != nil
	}
	var text, sheet, object strings.Builder
	if err := table.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if got := strings.Join(strings.Fields(lines[1]), " "); got != strings.Repeat("- ", 15)+"e" {
		t.Errorf("text: %s", got)
	}
	if err := table.WriteCSV(&sheet); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(sheet.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range records[0] {
		if !words[name] && records[1][i] != "" {
			t.Errorf("CSV: %s is %q", name, records[1][i])
		}
	}
	if err := table.WriteJSON(&object); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(object.String()), &rows); err != nil {
		t.Fatal(err)
	}
	for name, isWord := range words {
		if value, found := rows[0][name]; !isWord && (!found || value != nil) {
			t.Errorf("JSON: %s is %v", name, value)
		}
	}
}

func TestPartialRunIsSaid(t *testing.T) {
	for _, c := range []struct {
		run  Run
		want []string
	}{
		{Run{Complete: true, Steps: []Step{{Kind: KindLoad, Name: "load", Complete: true}}}, nil},
		{Run{Engine: "e", Steps: []Step{{Kind: KindLoad, Name: "load", Reason: "a\nb"}}}, []string{"partial: e, load: a?b"}},
		{Run{Engine: "e", Reason: "disk full", Steps: []Step{{Kind: KindLoad, Name: "load", Complete: true}}}, []string{"partial: e: disk full"}},
		{Run{Engine: "e", Steps: []Step{{Kind: KindLoad, Name: "load", Complete: true}, {Kind: KindIndex, Name: "index"}}},
			[]string{"partial: e, index: no reason recorded"}},
	} {
		if diff := cmp.Diff(c.want, Table{Rows: LoadRows(&c.run)}.partial()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFormatNumber(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{11716.4, 0, "11716"}, {9.6, 0, "10"}, {9.4, 0, "9.40"}, {0.0384, 3, "0.038"}, {0.00384, 3, "0.00384"},
		{0.0000029, 3, "0.000003"}, {0.0000004, 3, "0"}, {0, 2, "0"}, {3.5, 1, "3.5"}, {0.2, 1, "0.200"},
		{0.0996, 2, "0.10"}, {0.094, 2, "0.0940"}, {-5, 0, "-5.00"}, {1e15, 0, "1000000000000000"}, {0.99999, 0, "1.000"},
	} {
		if got := FormatNumber(&c.v, c.decimals); got != c.want {
			t.Errorf("%g with %d decimals: %s, want %s", c.v, c.decimals, got, c.want)
		}
	}
	if got := FormatNumber(nil, 0); got != "-" {
		t.Errorf("missing: %s", got)
	}
}

func TestEmptyTable(t *testing.T) {
	var out strings.Builder
	table := Table{Columns: LoadColumns(), Rows: LoadRows(&Run{Complete: true, EndedUTC: ptr(time.Time{})})}
	if err := table.WriteText(&out); err != nil || !strings.HasPrefix(out.String(), "ips.av") {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := table.WriteJSON(&out); err != nil || !json.Valid([]byte(out.String())) {
		t.Errorf("%v\n%s", err, out.String())
	}
}
