package results

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// WriteSummary writes what stands below a run's table: the latencies of each
// step with the original's ten buckets, stalls, errors, what the verification
// found, and whether the client may have been the bottleneck.
func WriteSummary(w io.Writer, run *Run) error {
	var out strings.Builder
	if run.LinkBench != nil {
		writeLinkSummary(&out, run)
		_, err := io.WriteString(w, out.String())
		return err
	}
	writeLatencies(&out, run.Steps)
	for i := range run.Steps {
		step := &run.Steps[i]
		if !manyStatements(step.Kind) {
			writeIncidents(&out, step)
			continue
		}
		if len(run.Steps) > 1 && len(step.Operations) > 0 {
			fmt.Fprintf(&out, "\nstep %s\n", step.Name)
		} else {
			out.WriteString("\n")
		}
		for _, op := range step.Operations {
			if op.Kind == KindService {
				out.WriteString(HistogramBlock(title(op.Name)+" rt:", op))
			}
		}
		writeIncidents(&out, step)
	}
	if line := VerifyLine(run.Verify); line != "" {
		fmt.Fprintf(&out, "\n%s\n", line)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// manyStatements is whether a step of a kind has more than one long statement
// per table, so that buckets say something.
func manyStatements(kind string) bool {
	return kind != KindIndex && kind != KindScan && kind != KindSettle
}

// title capitalises an operation's name, as the original's blocks have it.
func title(name string) string {
	if name == "" {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// aligned has so many columns of words on the left, then numbers.
func aligned(header table.Row, words int) []table.ColumnConfig {
	var configs []table.ColumnConfig
	for i := range header {
		align := text.AlignRight
		if i < words {
			align = text.AlignLeft
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	return configs
}

// writeLatencies writes one line per operation of each step.
func writeLatencies(out *strings.Builder, steps []Step) {
	tw := table.NewWriter()
	tw.SetStyle(plainStyle())
	tw.SuppressTrailingSpaces()
	header := table.Row{"step", "operation", "latency", "count", "mean us", "p50 us", "p75 us", "p90 us", "p95 us", "p99 us", "p99.9 us", "max us"}
	tw.AppendHeader(header)
	tw.SetColumnConfigs(aligned(header, 3))
	for i := range steps {
		for _, op := range steps[i].Operations {
			tw.AppendRow(table.Row{
				steps[i].Name, op.Name, op.Kind, op.Count, FormatNumber(op.MeanUS, 0), whole(op.P50US), whole(op.P75US), whole(op.P90US),
				whole(op.P95US), whole(op.P99US), whole(op.P999US), whole(op.MaxUS),
			})
		}
	}
	if tw.Length() > 0 { // none before the first answer
		out.WriteString("\n" + tw.Render() + "\n")
	}
}

func whole(v *int64) string {
	if v == nil {
		return missingText
	}
	return strconv.FormatInt(*v, 10)
}

// writeIncidents names stalls, errors and rows without an answer.
func writeIncidents(out *strings.Builder, step *Step) {
	n := step.EventsDropped
	for _, e := range step.Events {
		if e.Kind == "stall" {
			n++
		} else if e.Kind != "settle" && e.Kind != "verified" {
			fmt.Fprintf(out, "%s in %s: %s\n", e.Kind, step.Name, printable(e.Text))
		}
	}
	if n > 0 {
		fmt.Fprintf(out, "stalls in %s: %d client seconds without an acknowledgement; the record has when\n", step.Name, n)
	}
	for _, e := range step.Errors {
		fmt.Fprintf(out, "errors in %s: code %s, %s: %d\n", step.Name, printable(e.Code), e.Class, e.Count)
	}
	var unknown, refused int64
	for _, c := range step.Clients {
		unknown += c.RowsUnknown
		refused += c.RowsRefused
	}
	what := "rows"
	if step.Kind == KindRequest || step.Kind == KindWarmup {
		what = PerRequest.Many
	}
	if unknown > 0 {
		fmt.Fprintf(out, "%s in %s whose outcome is unknown: %d\n", what, step.Name, unknown)
	}
	if refused > 0 {
		fmt.Fprintf(out, "%s in %s that the server refused: %d\n", what, step.Name, refused)
	}
}

// VerifyLine says what the verification found, "" where there was none.
func VerifyLine(v *Verify) string {
	switch {
	case v == nil:
		return ""
	case len(v.Differences) > 0:
		return printable("verification FAILED: " + strings.Join(v.Differences, "; "))
	case v.Passed == nil && v.Note != "":
		return printable(v.Note)
	case v.Passed == nil:
		return "not verified: --verify=" + v.Mode
	case v.Note != "":
		return printable("verified: " + v.Note)
	default:
		what := "sums equal"
		if v.Mode != "full" {
			what = "count only"
		}
		return fmt.Sprintf("verified: %d rows as acknowledged, %s", v.Expected["rows"], what)
	}
}
