package results

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// perRequest is a step of requests with all its counters.
func perRequest(name, kind string, raw Raw, levels Levels, more map[string]float64) Step {
	raw.Sources = testSources
	s := Step{Name: name, Kind: kind, StartedUTC: started, Complete: true, Metrics: raw.Metrics(PerRequest)}
	for metric, m := range levels.Metrics() {
		s.Metrics[metric] = m
	}
	for metric, v := range more {
		s.Metrics[metric] = Metric{Value: &v}
	}
	return s
}

func requestOperation(name, kind string, count, p99US int64, outcome *Outcome) Operation {
	op := Operation{Name: name, Kind: kind, Count: count, Outcome: outcome}
	if count > 0 {
		half, most := p99US/2, p99US*2
		op.P50US, op.P75US, op.P95US, op.P99US, op.P999US, op.MaxUS = &half, &half, &p99US, &p99US, &most, &most
		op.MeanUS = ptr(float64(half))
	}
	return op
}

// linkRun is a load, a warm-up and requests at two rates, the second of which
// was missed and interrupted.
func linkRun() *Run {
	load := measured("load", KindLoad, Raw{Seconds: 10, Ops: 1_000_000, Deltas: cpu(disk(1000, 2000, 16_000, 250_000), 12e6, 20e6, 8e6, 1e6, 1e5)},
		directory(512*miB, 256*miB, 256*miB, 0))
	load.Operations = []Operation{requestOperation("load_link", KindService, 1000, 3000, nil)}
	warm := perRequest("warmup.1000", KindWarmup, Raw{Seconds: 5, Ops: 5000, Deltas: cpu(disk(0, 0, 0, 0), 1e6, 10e6, 1e6, 1e5, 1e4)},
		directory(512*miB, 256*miB, 256*miB, 0), map[string]float64{TargetRequests: 1000, TargetPercent: 100})
	warm.Operations = []Operation{requestOperation("GET_NODE", KindService, 5000, 150, &Outcome{Found: 4900, Rows: 4900})}
	met := perRequest("request.1000", KindRequest, Raw{Seconds: 100, Ops: 100_000, Deltas: cpu(disk(82_000, 1000, 1_317_000, 1_980_000), 30e6, 200e6, 20e6, 3e6, 1e6)},
		directory(768*miB, 256*miB, 256*miB, 0), map[string]float64{
			TargetRequests: 1000, TargetPercent: 100, "late_operations": 12, LatencyMean: 400, LatencyP50: 250, LatencyP95: 900,
			LatencyP99: 2100, LatencyP999: 15_000, LatencyMax: 250_000,
		})
	met.Operations = []Operation{
		requestOperation("UPDATE_LINK", KindService, 5000, 17_000, &Outcome{Errors: 1, Retries: 7, Found: 4998, Rows: 4998, Switched: 3}),
		requestOperation("UPDATE_LINK", KindResponse, 5000, 18_000, nil),
		requestOperation("GET_LINKS_LIST", KindService, 30_000, 4500, &Outcome{Found: 29_000, Rows: 250_000}),
		requestOperation("GET_LINKS_LIST", KindResponse, 30_000, 5000, nil),
		requestOperation("UPDATE_NODE", KindService, 5000, 12_000, &Outcome{Found: 4900, Rows: 4900}),
		requestOperation("UPDATE_NODE", KindResponse, 5000, 12_000, nil),
		requestOperation("GET_NODE", KindService, 60_000, 900, &Outcome{Found: 59_000, Rows: 59_000}),
		requestOperation("GET_NODE", KindResponse, 60_000, 1100, nil),
		requestOperation("DELETE_NODE", KindService, 0, 0, &Outcome{Errors: 2}),
		requestOperation("ADD_NODE", KindService, 0, 0, &Outcome{}),
	}
	met.Errors = []ErrorCount{{Code: "1213", Class: "retryable", Count: 7}}
	missed := perRequest("request.2000", KindRequest, Raw{Seconds: 10, Ops: 15_000, Deltas: Deltas{}}, Levels{},
		map[string]float64{TargetRequests: 2000, TargetPercent: 75})
	missed.Complete, missed.Reason = false, "stopped by SIGINT"
	passed := true
	return &Run{
		Schema: Schema, Workload: "linkbench", Plan: "run", StartedUTC: started, Engine: "InnoDB", Tag: "n1", Reason: "stopped by SIGINT",
		LinkBench: &LinkBench{Profile: "2017", Compat: "2020", Stream: "pieces"}, Steps: []Step{load, warm, met, missed},
		Verify: &Verify{Mode: "loaded", Passed: &passed, Note: "9 nodes, 9 links and 9 counts as generated"},
	}
}

func TestLinkGolden(t *testing.T) {
	run := linkRun()
	sections := Sections(run)
	if len(sections) != 3 {
		t.Fatalf("%d tables, want load, requests and latency by rate", len(sections))
	}
	for name, write := range map[string]func(*strings.Builder) error{
		"link.txt": func(b *strings.Builder) error {
			if err := WriteSections(b, sections, false); err != nil {
				return err
			}
			return WriteSummary(b, run)
		},
		"requests.csv":        func(b *strings.Builder) error { return sections[1].WriteCSV(b) },
		"requests_legend.txt": func(b *strings.Builder) error { return WriteLegend(b, RequestColumns()) },
		"sweep_legend.txt":    func(b *strings.Builder) error { return WriteLegend(b, SweepColumns()) },
	} {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, name, []byte(out.String()))
	}
}

// TestLinkTablesByHand pins the cells of the tables.
func TestLinkTablesByHand(t *testing.T) {
	want := [][]string{
		{
			// 1,000,000 ÷ 10 s; 1,000, 16,000 and 250,000 ÷ 1,000,000; 60 % of the host, 60e6 ÷ 100,000; 0.5 and 0.25 GiB;
			// 100 reads, 1,600 and 25,000 KiB a second.
			"100000 0.00100 0.0160 0.25 600 0.500 0.250 100 1.6 25.0 60.0 InnoDB.n1 (profile 2017, compat 2020)",
		}, {
			// 5,000 ÷ 5 s; no disk; 10 % of the host, 10e6 ÷ 1,000; 0.150 ms.
			"1000 0 0 0 10000 0.500 0.250 - 0.150 - - 0 0 0 10.0 InnoDB.n1 (profile 2017, compat 2020, warmup.1000)",
			// 100,000 ÷ 100 s; 82,000, 1,317,000 and 1,980,000 ÷ 100,000; 15 % of the host, 15e6 ÷ 1,000; 0.75 GiB; from the
			// intended start 12, 1.1, 18 and 5 ms; 820 reads, 13,170 and 19,800 KiB a second.
			"1000 0.82 13.17 19.80 15000 0.750 0.250 12.0 1.1 18.0 5.0 820 13.2 19.8 15.0 InnoDB.n1 (profile 2017, compat 2020, request.1000)",
			"1500 - - - - - - - - - - - - - - InnoDB.n1 (profile 2017, compat 2020, request.2000, partial)",
		}, {
			"1000 1000 met 0.40 0.25 0.90 2.10 15.00 250.00 12 15.0 InnoDB.n1 (profile 2017, compat 2020, request.1000)",
			"2000 1500 missed - - - - - - - - InnoDB.n1 (profile 2017, compat 2020, request.2000, partial)",
		},
	}
	for i, s := range Sections(linkRun()) {
		var lines []string
		for _, r := range s.Rows {
			var cells []string
			for _, c := range s.shown() {
				cells = append(cells, c.cell(r))
			}
			lines = append(lines, strings.Join(cells, " "))
		}
		if diff := cmp.Diff(want[i], lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.Title, diff)
		}
	}
}

// TestPublishedRequests recomputes the derived columns of published request
// rows (gists ffe5ecc3, 24th hour, and d9c486fc of mdcallag) from the printed
// rates: each printed figure stands for a range, and the ranges have to meet.
func TestPublishedRequests(t *testing.T) {
	const seconds = 1000
	for _, row := range []string{
		"4556 0 0 13.58 6788 3 0 61.9 30.9", "8581 0 0 12.31 3665 2 0 105.7 31.5",
		"1575 0.82 13.17 19.8 9493 1296 20.7 31.9 15.0", "2685 0.81 12.92 20.41 6707 2169 34.7 54.8 18.0",
	} {
		names := strings.Fields("tps r/t rkb/t wkb/t Mcpu/t r/s rMB/s wMB/s cpu")
		decimals := map[string]int{"r/t": 2, "rkb/t": 2, "rMB/s": 1}
		cells := map[string]printed{}
		for i, field := range strings.Fields(row) {
			cells[names[i]] = readPrinted(t, field, decimals[names[i]])
		}
		at := func(tps float64, end func(printed) float64) Row {
			raw := Raw{Seconds: seconds, Ops: int64(tps * seconds), Deltas: Deltas{
				Reads: ptr(end(cells["r/s"]) * seconds), ReadKB: ptr(end(cells["rMB/s"]) * 1000 * seconds),
				WrittenKB: ptr(end(cells["wMB/s"]) * 1000 * seconds), HostBusyUS: ptr(end(cells["cpu"])), HostTotalUS: ptr(100.0),
			}}
			return Row{Run: &Run{}, Step: &Step{Kind: KindRequest, Complete: true, Metrics: raw.Metrics(PerRequest)}}
		}
		low := at(cells["tps"].high, func(p printed) float64 { return p.low })
		high := at(cells["tps"].low, func(p printed) float64 { return p.high })
		for _, c := range RequestColumns() {
			switch c.Name {
			case "r/t", "rkb/t", "wkb/t", "Mcpu/t":
				if c.Name == "wkb/t" && strings.HasPrefix(row, "1575 ") {
					continue // 19.8 × 1575 is 31.2 MB/s, and 31.9 stands beside it
				}
				if a, b := *c.Number(low), *c.Number(high); b < cells[c.Name].low || a > cells[c.Name].high {
					t.Errorf("%s: %s is %g to %g, published %v", row, c.Name, a, b, cells[c.Name])
				}
			}
		}
	}
}
