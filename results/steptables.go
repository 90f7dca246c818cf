package results

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Section is one of the tables that a run is shown as.
type Section struct {
	// Title stands above it where there are several.
	Title string
	Table
}

// Sections are the tables of a run: those of which it has steps. The row per
// step is for whoever asks for it.
func Sections(run *Run) []Section {
	var out []Section
	for _, k := range TableKinds() {
		s, found := k.Shown(run)
		if found && k.Name != "row" && !k.ByName() && (k.Name != "link-rates" || len(s.Rows) > 1) {
			out = append(out, s)
		}
	}
	return out
}

// WriteSections writes tables one below the other, each with its title where
// there are several.
func WriteSections(w io.Writer, sections []Section, wide bool) error {
	for i, s := range sections {
		if len(sections) > 1 {
			gap := "\n"
			if i == 0 {
				gap = ""
			}
			if _, err := fmt.Fprintf(w, "%s%s\n", gap, s.Title); err != nil {
				return err
			}
		}
		s.Wide = wide
		if err := s.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

func kindRows(run *Run, kinds ...string) []Row {
	var rows []Row
	for i := range run.Steps {
		for _, kind := range kinds {
			if run.Steps[i].Kind == kind {
				rows = append(rows, Row{Run: run, Step: &run.Steps[i]})
			}
		}
	}
	return rows
}

// ScanRows has a line for each scan of the first scan step, with the same scan
// of the last scan step beside it where there are several.
func ScanRows(runs ...*Run) []Row {
	var rows []Row
	for _, run := range runs {
		at := map[string]int{}
		for _, r := range kindRows(run, KindScan) {
			what := scanName(r.Step)
			i, seen := at[what]
			if !seen {
				at[what] = len(rows)
				rows = append(rows, r)
				continue
			}
			rows[i].Post = r.Step
		}
	}
	return rows
}

// withoutPost hides the columns of a second scan where there is none.
func withoutPost(t Table) []Column {
	for _, r := range t.Rows {
		if r.Post != nil {
			return t.Columns
		}
	}
	columns := slices.Clone(t.Columns)
	for i := range columns {
		columns[i].Wide = columns[i].Wide || strings.HasSuffix(columns[i].Name, postSuffix)
	}
	return columns
}

// postSuffix is behind the names of the columns of the later scan.
const postSuffix = ".post"

// scanName is a scan's place and index, "2.marketsegment", without the name of
// the step that it belongs to.
func scanName(s *Step) string {
	_, rest, found := strings.Cut(s.Name, ".")
	if !found {
		return s.Name
	}
	return rest
}

// ScanColumns are the scan table: before and after the write tests.
func ScanColumns() []Column {
	columns := []Column{
		{Name: "scan", Meaning: "what is read: the primary key, each secondary index, the primary key again; all tables at once", Text: func(r Row) string { return scanName(r.Step) }},
	}
	pair := func(name, metric string, divisor float64, unit string, decimals int, meaning string) {
		pre := scaled(name, metric, divisor, unit, decimals, meaning)
		post := pre
		post.Name, post.Meaning = name+postSuffix, meaning+"; in the last scan step of the run, after the others"
		post.Number = func(r Row) *float64 {
			if r.Post == nil {
				return nil
			}
			return pre.Number(Row{Run: r.Run, Step: r.Post})
		}
		columns = append(columns, pre, post)
	}
	pair("secs", "window_seconds", 1, "s", 1, "time of the scan")
	pair("Mrps", "rows_per_second", 1e6, "1e6 entries/s", 3, "entries read per second, all tables")
	pair("Mcpu/o", "mcpu_per_row", 1, "1e6 × % × s/entry", 3, "busy share of the whole host per entry")
	pair("rmb/o", "read_kb_per_row", mbKB, "1000 KiB/entry", 3, "read from storage per entry")
	pair("rmb/s", "read_kb_per_second", mbKB, "1000 KiB/s", 1, "read from storage per second")
	engine := engineColumn()
	engine.Note = func(r Row) string {
		if !r.Step.Complete || r.Post != nil && !r.Post.Complete {
			return "partial"
		}
		return ""
	}
	return append(columns, engine)
}

// WriteColumns are the table of write steps: the columns of 2017, costs per
// insert and per query of the same window, and whether the rate was met.
func WriteColumns() []Column {
	columns := []Column{
		{Name: "step", Meaning: "the step's name", Text: func(r Row) string { return r.Step.Name }},
		scaled("ips", "rows_per_second", 1, "rows/s", 0, "rows acknowledged per second, all writers"),
		scaled("target", TargetRate, 1, "rows/s", 0, "rows per second asked for, all writers"),
		{Name: "met", Meaning: "whether 95 % of the target was reached: met or missed", Text: targetWord},
		scaled("qps", "queries_per_second", 1, "queries/s", 0, "queries answered per second, all readers"),
		scaled("ips.99", meanRate(99, PerRow), 1, "rows/s", 0, "rate that 99 % of a writer's full one-second intervals reach or beat, mean over writers"),
		scaled("r/i", "reads_per_row", 1, "reads/row", 3, "storage reads per row"),
		scaled("rkb/i", "read_kb_per_row", 1, "KiB/row", 2, "KiB read from storage per row"),
		scaled("wkb/i", "written_kb_per_row", 1, "KiB/row", 2, "KiB written to storage per row"),
		scaled("Mcpu/i", "mcpu_per_row", 1, "1e6 × % × s/row", 0, "busy share of the whole host per row; not divided by cores"),
		scaled("r/q", "reads_per_query", 1, "reads/query", 3, "storage reads per query; reads for inserts are in it"),
		scaled("rkb/q", "read_kb_per_query", 1, "KiB/query", 2, "KiB read from storage per query"),
		scaled("Mcpu/q", "mcpu_per_query", 1, "1e6 × % × s/query", 0, "busy share of the whole host per query"),
	}
	columns = append(columns, costColumns("rmb/s", "wmb/s")[4:]...) // the first four are per row and above
	slowest := func(name, operation string) Column {
		return Column{
			Name: name, Meaning: "slowest " + operation + " statement, from its intended start where a rate was set", Formula: "max_us of " + operation + " ÷ 1000000", Unit: "s", Decimals: 3,
			Number: func(r Row) *float64 { return maxSeconds(r.Step.Operations, operation) },
		}
	}
	engine := engineColumn()
	engine.Note = func(r Row) string {
		if !r.Step.Complete {
			return "partial"
		}
		return ""
	}
	columns = append(columns, slowest("max-i", "insert"), slowest("max-d", "delete"), slowest("max-q", "query"), engine)
	wide := []Column{
		scaled("dps", "deleted_rows_per_second", 1, "rows/s", 0, "rows deleted per second"),
		scaled("rows/q", "fetched_rows_per_query", 1, "rows/query", 2, "rows returned per query"),
		scaled("late", "late_operations", 1, "operations", 0, "sent when the next one was due already"),
		scaled("dropped", "dropped_operations", 1, "operations", 0, "due and never sent"),
		scaled("target%", TargetPercent, 1, "%", 1, "share of the target that was reached"),
		scaled("secs", "window_seconds", 1, "s", 1, "window, first send to last acknowledgement"),
		scaled("cpu_us/i", "host_cpu_us_per_row", 1, "us/row", 1, "host CPU per row, one core's microseconds"),
		scaled("cpu_us/q", "host_cpu_us_per_query", 1, "us/query", 1, "host CPU per query, one core's microseconds"),
		scaled("srv_us/q", "server_cpu_us_per_query", 1, "us/query", 1, "CPU of the server's process tree per query"),
		scaled("cli_us/q", "client_cpu_us_per_query", 1, "us/query", 1, "CPU of this client per query"),
	}
	for _, c := range wide {
		c.Wide = true
		columns = append(columns, c)
	}
	return append(columns, amplificationColumns()...)
}

// targetWord says whether a step reached its target, "" where it had none.
func targetWord(r Row) string {
	switch {
	case r.Step.Metrics[TargetPercent].Value == nil:
		return ""
	case Missed(r.Step):
		return "missed"
	default:
		return "met"
	}
}

// SettleColumns are the table of the steps that bring a database to rest.
func SettleColumns() []Column {
	events := func(kind string) func(Row) string {
		return func(r Row) string {
			var texts []string
			for _, e := range r.Step.Events {
				if e.Kind == kind {
					texts = append(texts, e.Text)
				}
			}
			return strings.Join(texts, "; ")
		}
	}
	return []Column{
		{Name: "step", Meaning: "the step's name", Text: func(r Row) string { return r.Step.Name }},
		scaled("secs", "window_seconds", 1, "s", 1, "time that it took"),
		scaled("wmb", "written_kb", mbKB, "1000 KiB", 1, "written to storage meanwhile"),
		{Name: "done", Meaning: "what was done", Text: events("settle")},
		{Name: "seen", Meaning: "what was read back to see that it is at rest", Text: events("verified")},
		{Name: "not verified", Meaning: "what could not be seen, or was not reached in time", Text: events("unverified")},
	}
}
