package results

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// scanStep is a scan of rows in so many seconds with a share of the host's CPU.
func scanStep(name string, rows int64, seconds, cpuPercent float64) Step {
	raw := Raw{Seconds: seconds, Ops: rows}
	raw.HostBusyUS, raw.HostTotalUS = Known(cpuPercent*1e6), Known(100e6)
	return Step{Name: name, Kind: KindScan, Complete: true, Metrics: raw.Metrics(PerRow)}
}

// TestPublishedScan recomputes the published full scans of 80M rows before and
// after the write tests (myrocks.8may18.none: 29 and 33 s, 2.758 and 2.424
// Mrps; inno.o5717.ahi: 17 and 16 s, 4.705 and 5.000). The published figures
// were cut to three decimals.
func TestPublishedScan(t *testing.T) {
	for _, c := range []struct{ pre, post, preMrps, postMrps float64 }{
		{29, 33, 2.758, 2.424}, {28, 35, 2.857, 2.285}, {17, 16, 4.705, 5.000}, {17, 17, 4.705, 4.705},
	} {
		run := &Run{Workload: "ibench", Complete: true, Steps: []Step{
			scanStep("scan.1.pk", 80_000_000, c.pre, 3), {Name: "q1000", Kind: KindWrite}, scanStep("scan2.1.pk", 80_000_000, c.post, 3),
		}}
		rows := ScanRows(run)
		if len(rows) != 1 {
			t.Fatalf("%d lines, want the two scans in one", len(rows))
		}
		for name, want := range map[string]float64{"secs": c.pre, "secs.post": c.post, "Mrps": c.preMrps, "Mrps.post": c.postMrps} {
			got := cellOf(t, ScanColumns(), rows[0], name)
			if cut := math.Floor(got*1000+1e-9) / 1000; cut != want {
				t.Errorf("%v s and %v s: %s is %v, published as %v", c.pre, c.post, name, got, want)
			}
		}
		// 3 % of the host for 29 s: 3 × 29 × 1e6 ÷ 80e6.
		if got, want := cellOf(t, ScanColumns(), rows[0], "Mcpu/o"), 3*c.pre/80; math.Abs(got-want) > 1e-9 {
			t.Errorf("Mcpu/o is %v, want %v", got, want)
		}
	}
}

func cellOf(t *testing.T, columns []Column, r Row, name string) float64 {
	t.Helper()
	for _, c := range columns {
		if c.Name == name {
			if v := c.Number(r); v != nil {
				return *v
			}
			t.Fatalf("%s has no value", name)
		}
	}
	t.Fatalf("there is no column %s", name)
	return 0
}

// writeStep is 10 s of 1,000 rows/s and 200 queries/s by one client; the host
// read 4,000 times 16 KiB and was busy for 5 s of one core of four.
func writeStep() Step {
	raw := Raw{Seconds: 10, Ops: 10_000}
	raw.Reads, raw.ReadKB, raw.Writes, raw.WrittenKB = Known(4000), Known(64_000), Known(1000), Known(20_480)
	raw.HostBusyUS, raw.HostTotalUS, raw.ContextSwitches = Known(5e6), Known(40e6), Known(60_000)
	s := Step{Name: "q1000", Kind: KindWrite, Complete: true, Metrics: raw.Metrics(PerRow), StartedUTC: time.Unix(0, 0)}
	raw.Ops = 2000
	for name, m := range raw.Metrics(PerQuery) {
		s.Metrics[name] = m
	}
	s.Metrics[TargetRate] = Metric{Value: Known(1100)}
	s.Metrics[TargetPercent] = Metric{Value: Known(100.0 / 1.1)}
	slow := int64(2_500_000)
	s.Operations = []Operation{{Name: "query", Kind: KindService, Count: 2000, MaxUS: &slow}}
	s.Clients = []Client{
		{Role: "writer", P50RowsPerSecond: Known(1000), P99RowsPerSecond: Known(990)},
		{Role: "reader", P50QueriesPerSecond: Known(210), P99QueriesPerSecond: Known(150)},
	}
	return s
}

// TestMergedRow computes the original's 21 columns by hand (etl.sh,
// mdcallag/mytools): cpupq = cpups × cores × 1e4 ÷ qps = 12.5 × 4 × 1e4 ÷ 200.
func TestMergedRow(t *testing.T) {
	step := writeStep()
	run := &Run{Workload: "ibench", Engine: "InnoDB", Complete: true, Steps: []Step{step}}
	rows := MergedRows(run)
	if len(MergedColumns()) != 21 || len(rows) != 1 {
		t.Fatalf("%d columns and %d rows, want 21 and 1", len(MergedColumns()), len(rows))
	}
	for name, want := range map[string]float64{
		"ips": 1000, "qps": 200, "rps": 400, "rmbps": 6.25, "wps": 100, "wmbps": 2,
		"rpq": 2, "rkbpq": 32, "wpi": 0.1, "wkbpi": 2.048, "csps": 6000, "cpups": 12.5, "cspq": 30, "cpupq": 2500,
		"maxop": 2.5, "p50": 210, "p99": 150,
	} {
		if got := cellOf(t, MergedColumns(), rows[0], name); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestTargetMissedIsSaid: 1,000 of 1,100 rows/s are 90.9 %, under 95 %.
func TestTargetMissedIsSaid(t *testing.T) {
	step := writeStep()
	run := &Run{Workload: "ibench", Engine: "InnoDB", Complete: true, Steps: []Step{step, {Name: "l.i1", Kind: KindWrite, Complete: true}}}
	var text, csv bytes.Buffer
	sections := Sections(run)
	if len(sections) != 1 {
		t.Fatalf("%d sections, want 1", len(sections))
	}
	if err := WriteSections(&text, sections, false); err != nil {
		t.Fatal(err)
	}
	if err := sections[0].WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	if got := strings.Fields(lines[1])[:5]; !cmp.Equal(got, []string{"q1000", "1000", "1100", "missed", "200"}) {
		t.Errorf("the line begins with %v", got)
	}
	if got := strings.Fields(lines[2])[:5]; !cmp.Equal(got, []string{"l.i1", "-", "-", "-", "-"}) {
		t.Errorf("the line without figures begins with %v", got)
	}
	if rows := strings.Split(csv.String(), "\n"); !strings.HasPrefix(rows[2], "l.i1,,,,,") {
		t.Errorf("CSV has %q for what isn't known", rows[2])
	}
}

// TestEveryColumnIsExplained: a legend without a hole.
func TestEveryColumnIsExplained(t *testing.T) {
	for _, k := range TableKinds() {
		seen := map[string]bool{}
		for _, c := range k.Columns() {
			if c.Meaning == "" || c.Number != nil && (c.Unit == "" || c.Formula == "") || seen[c.Name] {
				t.Errorf("table %s: column %q has meaning %q, unit %q, formula %q, or comes twice", k.Name, c.Name, c.Meaning, c.Unit, c.Formula)
			}
			seen[c.Name] = true
		}
	}
}
