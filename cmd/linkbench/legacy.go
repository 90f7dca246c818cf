package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"insertbench/internal/load"
	"insertbench/linkbench/legacy"
)

// legacyLines keeps what the original prints at the end of its phases.
type legacyLines struct {
	cfg        *linkConfig
	lines, csv []string
}

// legacyNames are the original's names of a load's operations.
var legacyNames = map[string]string{
	"load_node": "LOAD_NODE_BULK", "load_link": "LOAD_LINKS_BULK", "load_count": "LOAD_COUNTS_BULK",
}

// add takes a step as it ends. A warm-up, whose figures the original throws
// away, and an index build, which it doesn't do, have no lines.
func (l *legacyLines) add(step string, res *load.Result) {
	isLoad, isRequest := step == "load", strings.HasPrefix(step, "request")
	if !l.cfg.LegacyOutput || !isLoad && !isRequest {
		return
	}
	byName := map[string]load.OpResult{}
	for _, op := range res.Ops {
		name := op.Name
		if legacyNames[name] != "" {
			name = legacyNames[name]
		}
		byName[name] = op
	}
	for _, name := range legacy.Ops() {
		if op := byName[name]; op.Count > 0 {
			l.operation(name, op, len(res.Workers))
		}
	}
	took := res.Window()
	if isRequest {
		l.line(legacy.Requests{Done: res.Units(), Took: took}.Final())
		return
	}
	w := l.cfg.Workload
	end := legacy.Load{
		IDs: w.Nodes(), IDsDone: w.Nodes(), Took: took,
		Nodes: byName["LOAD_NODE_BULK"].Units, Links: byName["LOAD_LINKS_BULK"].Units, Counts: byName["LOAD_COUNTS_BULK"].Units,
	}
	if w.GenerateNodes {
		end.ExpectedNodes = w.Nodes()
	}
	l.line(end.Final())
}

func (l *legacyLines) line(text string) {
	l.lines = append(l.lines, legacy.Prefix("INFO", time.Now(), "main")+text)
}

// operation adds an operation's line and row.
func (l *legacyLines) operation(name string, op load.OpResult, threads int) {
	var all legacy.Latencies
	all.AddHistogram(op.Service, op.MaxUS, op.MeanUS)
	l.line(all.Line(name, threads))
	if !l.cfg.Workload.Run.HDR {
		l.csv = append(l.csv, all.CSV(name, threads))
		return
	}
	row := legacy.HDR{Count: op.Count, MaxUS: op.MaxUS, MeanUS: op.MeanUS}
	for i, percent := range []float64{25, 50, 75, 95, 99} {
		row.Percentiles[i] = min(op.Service.ValueAtPercentile(percent), op.MaxUS)
	}
	l.csv = append(l.csv, row.CSV(name, threads))
}

func (l *legacyLines) print(w io.Writer) error {
	if len(l.lines) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", strings.Join(l.lines, "\n")); err != nil {
		return fmt.Errorf("print the original's lines: %w", err)
	}
	return nil
}

// writeCSV writes what the original's -csvstats does.
func (l *legacyLines) writeCSV(dir string) error {
	header := legacy.CSVHeader
	if l.cfg.Workload.Run.HDR {
		header = legacy.HDRCSVHeader
	}
	text := strings.Join(append([]string{header}, l.csv...), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "csvstats.csv"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the original's statistics: %w", err)
	}
	return nil
}
