package results

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	gib = 1 << 30
	// mbKB is how many kB make the MB of the load tables: the published rows
	// only agree with 1,000 (the 21-column row has 1,024).
	mbKB = 1000
)

// LoadColumns are the Insert Benchmark's load table.
func LoadColumns() []Column {
	columns := []Column{
		scaled("ips.av", "rows_per_second", 1, "rows/s", 0, "rows acknowledged per second, all clients"),
	}
	for i, rate := range clientRates {
		meaning := fmt.Sprintf("rate that %d %% of a client's full one-second intervals reach or beat, mean over clients", rate.percent)
		if i == 0 {
			meaning += "; the tables of 2017 used intervals of 100,000 rows and can't be compared"
		}
		columns = append(columns, scaled(fmt.Sprintf("ips.%d", rate.percent), meanRate(rate.percent, PerRow), 1, "rows/s", 0, meaning))
	}
	columns = append(columns, costColumns("rmb/s", "wmb/s")...)
	columns = append(columns, Column{
		Name: "max-i", Meaning: "slowest insert statement, from its intended start where a rate was set", Formula: "max_us of insert ÷ 1000000", Unit: "s", Decimals: 3,
		Number: func(r Row) *float64 { return maxSeconds(r.Step.Operations, "insert") },
	}, engineColumn())
	return append(columns, wideColumns()...)
}

// costColumns are what both load tables have between rates and engine.
func costColumns(readMB, writtenMB string) []Column {
	size := scaled("size", sizeBytes, gib, "GiB", 0, "data directory on disk at the end")
	size.Marked = func(r Row) bool { return r.Step.Metrics[sizeBytes].Source == SizeFromServer }
	size.Footnote = SizeFromServer + "; its data directory can't be seen from here"
	return []Column{
		scaled("r/i", "reads_per_row", 1, "reads/row", 3, "storage reads per row"),
		scaled("rkb/i", "read_kb_per_row", 1, "KiB/row", 2, "KiB read from storage per row"),
		scaled("wkb/i", "written_kb_per_row", 1, "KiB/row", 2, "KiB written to storage per row"),
		scaled("Mcpu/i", "mcpu_per_row", 1, "1e6 × % × s/row", 0, "busy share of the whole host per row; not divided by cores, so only equal hosts compare"),
		size,
		scaled("rss", rssBytes, gib, "GiB", 1, "memory of the server's process tree at the end"),
		scaled("r/s", "reads_per_second", 1, "reads/s", 0, "storage reads per second"),
		scaled(readMB, "read_kb_per_second", mbKB, "1000 KiB/s", 1, "read from storage per second"),
		scaled(writtenMB, "written_kb_per_second", mbKB, "1000 KiB/s", 1, "written to storage per second"),
		scaled("cpu", "host_cpu_percent", 1, "%", 1, "user + nice + system + irq + softirq of the whole host"),
	}
}

// engineColumn names the line: what ran, which step where it isn't the load,
// and whether it is whole.
func engineColumn() Column {
	return Column{
		Name: "engine", Meaning: "the run's label, or its engine and tag; in brackets the step, where it isn't the load, and \"partial\"",
		Text: Row.label,
		Note: func(r Row) string {
			var notes []string
			if r.Step.Kind != KindLoad {
				notes = append(notes, r.Step.Kind)
			}
			if !r.Step.Complete {
				notes = append(notes, "partial")
			}
			return strings.Join(notes, ", ")
		},
	}
}

// wideColumns follow the published ones in CSV and where asked for.
func wideColumns() []Column {
	columns := []Column{
		{Name: "step", Meaning: "the step's name", Text: func(r Row) string { return r.Step.Name }},
		{Name: "complete", Meaning: "whether the step did all it was asked for", Text: func(r Row) string { return strconv.FormatBool(r.Step.Complete) }},
		scaled("rows", "rows", 1, "rows", 0, "rows acknowledged"),
		scaled("secs", "window_seconds", 1, "s", 1, "window, first send to last acknowledgement"),
		scaled("w/i", "writes_per_row", 1, "writes/row", 3, "storage writes per row"),
		scaled("cs/i", "context_switches_per_row", 1, "switches/row", 3, "context switches of the host per row"),
		scaled("cpu_us/i", "host_cpu_us_per_row", 1, "us/row", 1, "host CPU per row, one core's microseconds"),
		scaled("srv_us/i", "server_cpu_us_per_row", 1, "us/row", 1, "CPU of the server's process tree per row"),
		scaled("cli_us/i", "client_cpu_us_per_row", 1, "us/row", 1, "CPU of this client per row"),
		scaled("rss.max", rssPeakBytes, gib, "GiB", 1, "most memory of the server's process tree at any second"),
		scaled("dirty", dirtyBytesLeft, gib, "GiB", 1, "still to be written back by the kernel at the end"),
		{Name: "size.src", Meaning: "where size comes from", Text: func(r Row) string { return r.Step.Metrics[sizeBytes].Source }},
	}
	for _, rate := range clientRates {
		columns = append(columns, scaled(fmt.Sprintf("ips.%dw", rate.percent), worstRate(rate.percent, PerRow), 1, "rows/s", 0,
			fmt.Sprintf("as ips.%d, the worst client", rate.percent)))
	}
	for i := range columns {
		columns[i].Wide = true
	}
	return append(columns, amplificationColumns()...)
}

// LoadRows are the lines of a load table: for each run its loads and index
// builds in their order and, where there is an index build, their total.
func LoadRows(runs ...*Run) []Row {
	var rows []Row
	for _, run := range runs {
		var steps []Step
		indexed := false
		for i := range run.Steps {
			step := &run.Steps[i]
			if step.Kind != KindLoad && step.Kind != KindIndex {
				continue
			}
			indexed = indexed || step.Kind == KindIndex
			steps = append(steps, *step)
			rows = append(rows, Row{Run: run, Step: step})
		}
		if indexed {
			total := Total(PerRow, steps...)
			rows = append(rows, Row{Run: run, Step: &total})
		}
	}
	return rows
}
