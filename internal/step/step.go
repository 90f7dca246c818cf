package step

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/iostat"
	"insertbench/results"
)

// Spec is a step to measure.
type Spec struct {
	// Name is the step's as people know it; Kind decides which table shows it.
	Name, Kind string
	Server     drivers.Server
	Run        load.Run
	// Workers says who the workers of Run are; empty where each is a client
	// that inserts. With it the operations are named as OpInsert and the
	// others are, and costs are given per row and per query.
	Workers []Worker
	// More, if set, gives metrics that only the workload knows, after the run.
	More func(*load.Result) map[string]results.Metric
	// Per is what costs are divided by; rows unless set.
	Per results.Op
	// Rates is true where clients are expected to get an acknowledgement
	// every second: then there are rate percentiles, and a second without one
	// is an event. An index build is one long statement.
	Rates bool
	// Progress, if set, is shown each interval.
	Progress func(*load.Interval)
}

const (
	// dumpTimeout bounds reading the server's raw status at one end.
	dumpTimeout = 30 * time.Second
	// maxEvents bounds the events kept in the record; more are counted.
	maxEvents = 1000
	// maxNotes bounds the sampler's notes kept in the record.
	maxNotes = 20
)

// measure is a step under way.
type measure struct {
	meter  *Meter
	writer *results.Writer
	spec   Spec
	first  iostat.Sample
	last   iostat.Sample
	prev   iostat.Sample
	step   results.Step
	// units were acknowledged so far.
	units int64
	// peakRSS is the most memory seen at any second, nil where unknown.
	peakRSS *int64
	// engine are the storage engine's own counters before the window and after it.
	engine [2][]drivers.Counter
	// samplerUS is the CPU that the samples took, nil where unknown.
	samplerUS *float64
}

// Run measures a step. The step it returns is valid as far as it came,
// whatever the error; an error means that it is marked incomplete.
func (m *Meter) Run(ctx context.Context, w *results.Writer, spec Spec) (results.Step, error) {
	s := &measure{meter: m, writer: w, spec: spec, step: results.Step{Name: spec.Name, Kind: spec.Kind}}
	s.dump(ctx, "start")
	if err := s.startHook(ctx); err != nil {
		s.step.StartedUTC, s.step.Reason = *utc(time.Now()), err.Error()
		s.step.EndedUTC = &s.step.StartedUTC
		return s.step, err
	}
	s.engine[0] = s.count(ctx, "start")
	run := spec.Run
	run.OnStart = s.begin
	run.OnEnd = func() { s.last = s.seen(m.sampler.SampleEnds(m.pss)) }
	run.OnTick = s.tick
	res, err := run.Do(ctx)
	ended := time.Now()
	s.engine[1] = s.count(ctx, "end")
	s.step.EndedUTC = utc(ended)
	s.step.Complete = err == nil
	if err != nil {
		s.step.Reason = err.Error()
	}
	s.describe(ctx, res)
	s.endHook(ctx)
	s.dump(ctx, "end")
	return s.step, errors.Join(err, s.appendHistograms(res, ended))
}

func (s *measure) begin() {
	s.step.StartedUTC = *utc(time.Now())
	s.first = s.seen(s.meter.sampler.SampleEnds(s.meter.pss))
	s.prev = s.first
}

// seen keeps the highest memory of the samples that pass through it and what
// they couldn't read, and adds up what they took.
func (s *measure) seen(at iostat.Sample) iostat.Sample {
	if rss := s.meter.rss(at); rss.OK && (s.peakRSS == nil || rss.V > *s.peakRSS) {
		s.peakRSS = &rss.V
	}
	for _, note := range at.Notes {
		if len(s.step.Notes) < maxNotes && !slices.Contains(s.step.Notes, note) {
			s.step.Notes = append(s.step.Notes, note)
		}
	}
	if at.CostUS.OK {
		total := float64(at.CostUS.V)
		if s.samplerUS != nil {
			total += *s.samplerUS
		}
		s.samplerUS = &total
	}
	return at
}

// tick writes one interval.
func (s *measure) tick(iv *load.Interval) error {
	sample := s.last
	if iv.Full {
		sample = s.seen(s.meter.sampler.Sample())
	}
	line := s.interval(iv, iostat.Between(s.prev, sample), sample)
	s.prev = sample
	if s.spec.Progress != nil {
		s.spec.Progress(iv)
	}
	if s.spec.Rates {
		s.stalls(iv)
	} else {
		line.Stalled = nil
	}
	for _, n := range line.Rows {
		s.units += n
	}
	if err := s.writer.AppendInterval(line); err != nil {
		return fmt.Errorf("step %s, stopped after %d rows were acknowledged: %w", s.spec.Name, s.units, err)
	}
	return nil
}

// stalls notes the clients that got no acknowledgement in an interval.
func (s *measure) stalls(iv *load.Interval) {
	for _, client := range s.stalled(iv) {
		if len(s.step.Events) >= maxEvents {
			s.step.EventsDropped++
			continue
		}
		s.step.Events = append(s.step.Events, results.Event{
			Second: iv.Start.Seconds(), Kind: "stall", Client: &client,
			Text: fmt.Sprintf("no acknowledgement for %.1f s", iv.Seconds()),
		})
	}
}

// interval makes the line of intervals.ndjson.
func (s *measure) interval(iv *load.Interval, d iostat.Delta, at iostat.Sample) results.Interval {
	line := results.Interval{
		Step: s.spec.Name, Second: iv.Index, StartSeconds: iv.Start.Seconds(), EndSeconds: iv.End.Seconds(),
		Deltas: s.meter.deltas(d), DirtyBytes: at.Memory.DirtyBytes.Ptr(), ServerRSSBytes: s.meter.rss(at).Ptr(),
		Stalled: s.stalled(iv),
	}
	line.Rows, line.Queries = s.counts(iv)
	for _, op := range iv.Ops {
		line.Operations = append(line.Operations, intervalOperation(op))
	}
	return line
}

// dump saves the raw status and variables of the server and the host; one that
// fails is noted.
func (s *measure) dump(ctx context.Context, edge string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dumpTimeout)
	defer cancel()
	for _, d := range append(s.spec.Server.Dumps(ctx), s.meter.dumps(ctx)...) {
		err := d.Err
		if len(d.Text) > 0 || err == nil {
			file, saveErr := s.writer.Dump(s.spec.Name, edge, d.Name, d.Text)
			if saveErr == nil {
				s.step.Dumps = append(s.step.Dumps, file)
			}
			err = errors.Join(err, saveErr)
		}
		if err != nil {
			s.step.DumpErrors = append(s.step.DumpErrors, fmt.Sprintf("%s at the %s: %v", d.Name, edge, err))
		}
	}
}

// appendHistograms writes the step's latencies to hist.hlog.
func (s *measure) appendHistograms(res *load.Result, ended time.Time) error {
	var errs []error
	for _, op := range res.Ops {
		errs = append(errs, s.writer.AppendHistogram(s.spec.Name, op.Name, results.KindService, s.step.StartedUTC, ended, op.Service))
		if op.Response != op.Service {
			errs = append(errs, s.writer.AppendHistogram(s.spec.Name, op.Name, results.KindResponse, s.step.StartedUTC, ended, op.Response))
		}
	}
	return errors.Join(errs...)
}

func utc(t time.Time) *time.Time {
	u := t.UTC()
	return &u
}
