package results

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// values are the metrics' numbers; a missing one isn't in it.
func values(m map[string]Metric) map[string]float64 {
	v := map[string]float64{}
	for name, metric := range m {
		if metric.Value != nil {
			v[name] = *metric.Value
		}
	}
	return v
}

func TestMetrics(t *testing.T) {
	d := cpu(disk(100, 50, 400, 1000), 3e6, 8e6, 2e6, 500_000, 5000)
	raw := Raw{Seconds: 4, Ops: 200, Deltas: d, Sources: testSources}
	want := map[string]float64{
		"window_seconds": 4, "queries": 200, "reads": 100, "writes": 50, "read_kb": 400, "written_kb": 1000,
		"host_cpu_us": 3e6, "host_total_us": 8e6, "server_cpu_us": 2e6, "client_cpu_us": 500_000, "context_switches": 5000,
		"queries_per_second":          50,      // 200 ÷ 4
		"host_cpu_percent":            37.5,    // 3 ÷ 8
		"mcpu_per_query":              750_000, // 1e6 × 37.5 ÷ 50
		"reads_per_second":            25,      // 100 ÷ 4
		"writes_per_second":           12.5,    // 50 ÷ 4
		"read_kb_per_second":          100,     // 400 ÷ 4
		"written_kb_per_second":       250,     // 1000 ÷ 4
		"context_switches_per_second": 1250,    // 5000 ÷ 4
		"reads_per_query":             0.5,     // 100 ÷ 200
		"writes_per_query":            0.25,    // 50 ÷ 200
		"read_kb_per_query":           2,       // 400 ÷ 200
		"written_kb_per_query":        5,       // 1000 ÷ 200
		"context_switches_per_query":  25,      // 5000 ÷ 200
		"host_cpu_us_per_query":       15_000,  // 3e6 ÷ 200
		"server_cpu_us_per_query":     10_000,  // 2e6 ÷ 200
		"client_cpu_us_per_query":     2500,    // 500,000 ÷ 200
	}
	m := raw.Metrics(PerQuery)
	if diff := cmp.Diff(want, values(m)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for name, metric := range m {
		if metric.Unit == "" || metric.Source == "" || strings.ContainsAny(name+metric.Unit+metric.Source, "{}") {
			t.Errorf("%s: %+v", name, metric)
		}
	}
	if diff := cmp.Diff(raw, RawOf(m, PerQuery)); diff != "" {
		t.Errorf("taken back out (-want +got):\n%s", diff)
	}
}

// TestMetricsMissing leaves out one input after the other: exactly what needs
// it may go missing.
func TestMetricsMissing(t *testing.T) {
	whole := func() Raw {
		d := cpu(disk(1, 1, 1, 1), 1, 1, 1, 1, 1)
		d.Flushes, d.Discards, d.DiscardedKB = ptr(1.0), ptr(1.0), ptr(1.0)
		return Raw{Seconds: 1, Ops: 1, Deltas: d}
	}
	all := whole().Metrics(PerRow)
	check := func(what string, raw Raw, wantGone ...string) {
		t.Helper()
		var gone []string
		got := values(raw.Metrics(PerRow))
		for name := range all {
			if _, found := got[name]; !found {
				gone = append(gone, name)
			}
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(wantGone)), slices.Sorted(slices.Values(gone))); diff != "" {
			t.Errorf("without %s (-want +got):\n%s", what, diff)
		}
	}
	if len(values(all)) != len(all) {
		t.Fatalf("only %d of %d figures are known", len(values(all)), len(all))
	}
	for _, c := range counters {
		raw := whole()
		*c.field(&raw.Deltas) = nil
		wantGone := []string{c.name}
		for _, r := range ratios {
			name := PerRow.in(r.name)
			// The percentage takes Mcpu with it.
			mcpu := strings.HasPrefix(c.name, "host_") && name == "mcpu_per_row"
			if r.over == c.name || r.under == c.name || mcpu {
				wantGone = append(wantGone, name)
			}
		}
		check(c.name, raw, wantGone...)
	}
	raw := whole()
	raw.Seconds = 0
	check("a window", raw, "window_seconds", "rows_per_second", "mcpu_per_row", "reads_per_second", "writes_per_second",
		"read_kb_per_second", "written_kb_per_second", "context_switches_per_second")
	perRow := []string{"mcpu_per_row", "reads_per_row", "writes_per_row", "read_kb_per_row", "written_kb_per_row",
		"context_switches_per_row", "host_cpu_us_per_row", "server_cpu_us_per_row", "client_cpu_us_per_row"}
	raw = whole()
	raw.Ops = 0 // known, so the rate is 0, but nothing can be divided by it
	check("rows", raw, perRow...)
	raw.Ops = -1
	check("a count of rows", raw, append(perRow, "rows", "rows_per_second")...)
	check("anything", Raw{Ops: -1}, slices.Collect(maps.Keys(all))...)
}

func TestTotal(t *testing.T) {
	load := measured("load", KindLoad, Raw{Seconds: 10, Ops: 100, Deltas: disk(1, 2, 3, 4)}, directory(10, 20, 30, 40))
	index := measured("index", KindIndex, Raw{Seconds: 5, Ops: 100, Deltas: disk(10, 20, 30, 40)}, directory(11, 21, 25, 41))
	index.Complete, index.Reason = false, "killed"
	total := Total(PerRow, load, index)
	got := values(total.Metrics)
	for name, want := range map[string]float64{
		"window_seconds": 15, "rows": 100, "reads": 11, "writes": 22, "read_kb": 33, "written_kb": 44, "reads_per_row": 0.11,
		"size_bytes": 11, "rss_bytes": 21, "rss_peak_bytes": 30, "dirty_bytes_left": 41,
	} {
		if got[name] != want {
			t.Errorf("%s is %g, want %g", name, got[name], want)
		}
	}
	if total.Complete || total.Reason != "killed" || total.Kind != KindTotal {
		t.Errorf("complete %v, reason %q, kind %q", total.Complete, total.Reason, total.Kind)
	}
	if *load.Metrics["reads"].Value != 1 {
		t.Error("the sum changed the load's own figure")
	}
	missing := measured("index", KindIndex, Raw{Ops: 0, Deltas: disk(1, 1, 1, 1)}, Levels{})
	missing.Metrics["reads"] = Metric{}
	got = values(Total(PerRow, load, missing).Metrics)
	for _, name := range []string{"window_seconds", "reads", "reads_per_row", "rows_per_second", "size_bytes", "rss_peak_bytes"} {
		if v, found := got[name]; found {
			t.Errorf("%s is %g though one step lacks it", name, v)
		}
	}
	if got["writes_per_row"] != 0.03 {
		t.Errorf("writes_per_row is %g, want 0.03", got["writes_per_row"])
	}
	if none := Total(PerRow); len(none.Metrics) != 0 {
		t.Errorf("the total of nothing: %v", none.Metrics)
	}
}
