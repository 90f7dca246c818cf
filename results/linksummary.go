package results

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// writeLinkSummary writes what stands below LinkBench's tables: a line for
// each operation, stalls, errors, what the verification found. The ten
// operations have no buckets.
func writeLinkSummary(out *strings.Builder, run *Run) {
	tw := table.NewWriter()
	tw.SetStyle(plainStyle())
	tw.SuppressTrailingSpaces()
	header := table.Row{
		"step", "operation", "latency", "count", "errors", "retries", "found", "rows",
		"mean us", "p50 us", "p75 us", "p95 us", "p99 us", "p99.9 us", "max us",
	}
	tw.AppendHeader(header)
	tw.SetColumnConfigs(aligned(header, 3))
	for i := range run.Steps {
		for _, r := range linkOperations(&run.Steps[i]) {
			tw.AppendRow(r)
		}
	}
	if tw.Length() > 0 { // none before the first answer
		out.WriteString("\n" + tw.Render() + "\n")
	}
	var incidents strings.Builder
	for i := range run.Steps {
		writeIncidents(&incidents, &run.Steps[i])
	}
	if line := VerifyLine(run.Verify); line != "" {
		fmt.Fprintln(&incidents, line)
	}
	if incidents.Len() > 0 {
		out.WriteString("\n" + incidents.String())
	}
}

// linkOperations are the lines of a step's operations: latencies from the
// intended start where there was a schedule, else from sending; the record has
// both. Warm-ups have none, their rates stand in the table.
func linkOperations(s *Step) []table.Row {
	if s.Kind == KindWarmup {
		return nil
	}
	paced := map[string]Operation{}
	for _, op := range s.Operations {
		if op.Kind == KindResponse {
			paced[op.Name] = op
		}
	}
	var rows []table.Row
	for _, op := range s.Operations {
		o := op.Outcome
		if op.Kind != KindService || op.Count == 0 && (o == nil || o.Errors == 0) {
			continue
		}
		t := op
		if p, ok := paced[op.Name]; ok {
			t = p
		}
		row := table.Row{s.Name, op.Name, t.Kind, op.Count, missingText, missingText, missingText, missingText}
		if o != nil {
			row = table.Row{s.Name, op.Name, t.Kind, op.Count, o.Errors, o.Retries, o.Found, o.Rows}
		}
		rows = append(rows, append(row, FormatNumber(t.MeanUS, 0), whole(t.P50US), whole(t.P75US), whole(t.P95US), whole(t.P99US),
			whole(t.P999US), whole(t.MaxUS)))
	}
	return rows
}
