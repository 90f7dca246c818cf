package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"insertbench/internal/cli"
	"insertbench/internal/load"
	"insertbench/linkbench"
	"insertbench/linkbench/legacy"
)

// legacyLines prints what the original does while its phases run and as they
// end, and writes its two files. Without --legacy-output it does nothing.
type legacyLines struct {
	cfg    *linkConfig
	p      *cli.Process
	lines  io.Writer // nil for none
	stream *os.File  // of the statistics of threads
	log    *legacy.Log
	phase  *legacy.Phase // under way
	dir    string        // of the record
	csv    []string
	// pipe gives back what keeps a closed output from ending the run.
	pipe func()
}

// newLegacy makes the file that --csvstream names, before anything is touched.
func newLegacy(p *cli.Process, cfg *linkConfig) (l *legacyLines, err error) {
	l = &legacyLines{cfg: cfg, p: p, pipe: func() {}}
	if !cfg.Measuring.JSON && !cfg.Measuring.Quiet {
		l.lines = p.Stdout
	}
	if path := cfg.Workload.Run.CSVStream; cfg.LegacyOutput && path != "" {
		l.stream, err = createStream(path, cfg.Overwrite)
	}
	return l, usage(err)
}

func createStream(path string, overwrite bool) (*os.File, error) {
	mode := os.O_EXCL
	if overwrite {
		mode = os.O_TRUNC
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	if err != nil {
		return nil, fmt.Errorf("make the file of the threads' statistics: %w", err)
	}
	return f, nil
}

// start begins the lines of a run whose record is in a folder, where the
// statistics of threads go too unless another file was named.
func (l *legacyLines) start(dir string) (err error) {
	if l.dir = dir; !l.cfg.LegacyOutput {
		return nil
	}
	if l.stream == nil {
		if l.stream, err = createStream(filepath.Join(dir, "csvstream.csv"), false); err != nil {
			return err
		}
	}
	if l.lines != nil {
		l.pipe = l.p.KeepPipe()
	}
	l.log = legacy.NewLog(l.lines, l.stream, time.Now)
	return nil
}

// observer is what a session calls as a phase begins; nil where nothing is to
// be observed.
func (l *legacyLines) observer() func(linkbench.Phase) func(int) linkbench.Observer {
	if l.log == nil {
		return nil
	}
	w := l.cfg.Workload
	set := legacy.Settings{
		Display: time.Duration(w.Run.DisplayS) * time.Second, MaxSamples: w.Run.MaxSamples,
		LoadProgress: w.Run.LoadProgressLinks, RequestProgress: w.Run.RequestProgressOps,
	}
	goal := l.goal()
	return func(p linkbench.Phase) func(int) linkbench.Observer {
		l.phase = l.log.Phase(set, p, goal)
		return func(worker int) linkbench.Observer { return l.phase.Thread(worker) }
	}
}

// goal is what a load is to insert: of one that is resumed, what is left. An id
// counts by its counts, as in the lines of progress.
func (l *legacyLines) goal() legacy.Load {
	w, before := l.cfg.Workload, l.cfg.Plan.Resume.Before()
	all := l.cfg.workload.Degrees().Totals().Counts
	goal := legacy.Load{IDs: w.Nodes(), Counts: all - before.Counts}
	if before.Counts > 0 {
		goal.IDs = int64(float64(w.Nodes()) * float64(goal.Counts) / float64(all))
	}
	if w.GenerateNodes {
		goal.ExpectedNodes = w.Nodes() - before.Nodes
	}
	return goal
}

// legacyNames are the original's names of a load's operations.
var legacyNames = map[string]string{
	"load_node": "LOAD_NODE_BULK", "load_link": "LOAD_LINKS_BULK", "load_count": "LOAD_COUNTS_BULK",
}

// add takes a step as it ends. A warm-up, whose figures the original throws
// away, and an index build, which it doesn't do, have no lines.
func (l *legacyLines) add(step string, res *load.Result) {
	isLoad, isRequest := step == "load", strings.HasPrefix(step, "request")
	if l.log == nil || !isLoad && !isRequest {
		return
	}
	var requests int64
	if l.phase != nil {
		l.phase.End()
		requests, l.phase = l.phase.Requests(), nil
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
		l.line(legacy.Requests{Done: requests, Took: took}.Final())
		return
	}
	end := l.goal()
	end.Took = took
	end.Nodes, end.Links, end.Counts = byName["LOAD_NODE_BULK"].Units, byName["LOAD_LINKS_BULK"].Units, byName["LOAD_COUNTS_BULK"].Units
	l.line(end.Final())
}

func (l *legacyLines) line(text string) {
	l.log.Line("main", text)
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

// close ends the lines and the two files. Its error is the files'.
func (l *legacyLines) close() error {
	var errs []error
	if l.log != nil {
		errs = append(errs, l.log.StreamErr(), l.writeCSV(l.dir))
		if l.lines != nil {
			fmt.Fprintln(l.lines) // before the tables, whose printing says what is wrong with the output
		}
	}
	l.pipe()
	if l.stream != nil {
		if err := l.stream.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close the file of the threads' statistics: %w", err))
		}
	}
	return errors.Join(errs...)
}

// printed is the error of printing: no concern of the record, which is whole.
func (l *legacyLines) printed() error {
	if l.log == nil {
		return nil
	}
	return l.log.LinesErr()
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
