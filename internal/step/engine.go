package step

import (
	"context"
	"fmt"
	"strings"
	"time"

	"insertbench/drivers"
	"insertbench/results"
)

// countTimeout bounds reading the engine's counters at one end: the server may
// be gone.
const countTimeout = 10 * time.Second

// count reads the storage engine's counters, right before the window or right
// after it, so that reading them costs nothing in it.
func (s *measure) count(ctx context.Context, edge string) []drivers.Counter {
	engine, ok := s.spec.Server.(drivers.Counting)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
	defer cancel()
	counters, err := engine.Counters(ctx)
	if err != nil {
		s.notef("the engine's counters at the %s: %v", edge, err)
	}
	return counters
}

// engineMetrics are how far the counters moved, and levels at the end. What
// went backwards was reset, so how far it moved isn't known.
func (s *measure) engineMetrics() map[string]results.Metric {
	before := map[string]*float64{}
	for _, c := range s.engine[0] {
		before[c.Name] = c.Value
	}
	m := map[string]results.Metric{}
	for _, c := range s.engine[1] {
		metric := results.Metric{Unit: c.Unit, Meaning: c.Meaning, Level: c.Level, Source: "the server's " + strings.Join(c.Sources, " or ")}
		switch old := before[c.Name]; {
		case c.Level && c.Value != nil:
			metric.Value = results.Known(*c.Value)
			metric.Source += ", at the end"
		case c.Value == nil || old == nil:
		case *c.Value < *old:
			s.notef("%s went backwards from %.0f to %.0f: it was reset meanwhile", c.Sources[0], *old, *c.Value)
		default:
			metric.Value = results.Known(*c.Value - *old)
		}
		m[c.Name] = metric
	}
	return m
}

// notef adds a sentence on the measurement to the step.
func (s *measure) notef(format string, args ...any) {
	s.step.Notes = append(s.step.Notes, fmt.Sprintf(format, args...))
}
