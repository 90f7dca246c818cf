package results

import (
	"strconv"
	"strings"
)

// Op is what a step's costs are divided by.
type Op struct{ One, Many string }

// The operations of the tables: a row or link inserted, a query answered, a
// LinkBench request answered.
var (
	PerRow     = Op{"row", "rows"}
	PerQuery   = Op{"query", "queries"}
	PerRequest = Op{"request", "requests"}
)

// Sources say where the deltas of a Raw were read, for the record.
type Sources struct{ Ops, Disk, Host, Server, Client string }

// Raw is what was counted between the two ends of a step's window: all that
// its rates and costs are derived from.
type Raw struct {
	// Seconds is the window's length; 0 where nothing was acknowledged, and
	// then nothing is divided by it.
	Seconds float64
	// Ops is how many operations were acknowledged; negative where unknown.
	Ops int64
	Deltas
	Sources Sources
}

// counter is one raw delta: the metric it is recorded as, where it stands in
// Deltas and which of Sources it comes from.
type counter struct {
	name, unit string
	field      func(*Deltas) **float64
	source     func(*Sources) *string
}

func fromDisk(s *Sources) *string   { return &s.Disk }
func fromHost(s *Sources) *string   { return &s.Host }
func fromServer(s *Sources) *string { return &s.Server }
func fromClient(s *Sources) *string { return &s.Client }

var counters = []counter{
	{"reads", "reads", func(d *Deltas) **float64 { return &d.Reads }, fromDisk},
	{"writes", "writes", func(d *Deltas) **float64 { return &d.Writes }, fromDisk},
	{"read_kb", "KiB", func(d *Deltas) **float64 { return &d.ReadKB }, fromDisk},
	{"written_kb", "KiB", func(d *Deltas) **float64 { return &d.WrittenKB }, fromDisk},
	{"flushes", "flushes", func(d *Deltas) **float64 { return &d.Flushes }, fromDisk},
	{"discards", "discards", func(d *Deltas) **float64 { return &d.Discards }, fromDisk},
	{"discarded_kb", "KiB", func(d *Deltas) **float64 { return &d.DiscardedKB }, fromDisk},
	{"host_cpu_us", "us", func(d *Deltas) **float64 { return &d.HostBusyUS }, fromHost},
	{"host_total_us", "us", func(d *Deltas) **float64 { return &d.HostTotalUS }, fromHost},
	{"server_cpu_us", "us", func(d *Deltas) **float64 { return &d.ServerCPUUS }, fromServer},
	{"client_cpu_us", "us", func(d *Deltas) **float64 { return &d.ClientCPUUS }, fromClient},
	{"context_switches", "switches", func(d *Deltas) **float64 { return &d.ContextSwitches }, fromHost},
}

// ratio is one derived metric: factor × over ÷ under. {op} and {ops} stand
// for the operation. A ratio may use the ones above it.
type ratio struct {
	name, unit  string
	factor      float64
	over, under string
}

var ratios = []ratio{
	{"{ops}_per_second", "{ops}/s", 1, "{ops}", "window_seconds"},
	{"host_cpu_percent", "%", 100, "host_cpu_us", "host_total_us"},
	{"mcpu_per_{op}", "1e6 × % × s/{op}", 1e6, "host_cpu_percent", "{ops}_per_second"},

	{"reads_per_second", "reads/s", 1, "reads", "window_seconds"},
	{"writes_per_second", "writes/s", 1, "writes", "window_seconds"},
	{"read_kb_per_second", "KiB/s", 1, "read_kb", "window_seconds"},
	{"written_kb_per_second", "KiB/s", 1, "written_kb", "window_seconds"},
	{"context_switches_per_second", "switches/s", 1, "context_switches", "window_seconds"},

	{"reads_per_{op}", "reads/{op}", 1, "reads", "{ops}"},
	{"writes_per_{op}", "writes/{op}", 1, "writes", "{ops}"},
	{"read_kb_per_{op}", "KiB/{op}", 1, "read_kb", "{ops}"},
	{"written_kb_per_{op}", "KiB/{op}", 1, "written_kb", "{ops}"},
	{"context_switches_per_{op}", "switches/{op}", 1, "context_switches", "{ops}"},
	{"host_cpu_us_per_{op}", "us/{op}", 1, "host_cpu_us", "{ops}"},
	{"server_cpu_us_per_{op}", "us/{op}", 1, "server_cpu_us", "{ops}"},
	{"client_cpu_us_per_{op}", "us/{op}", 1, "client_cpu_us", "{ops}"},
}

// in puts the operation's words into a name, a unit or a formula.
func (o Op) in(s string) string {
	return strings.NewReplacer("{ops}", o.Many, "{op}", o.One).Replace(s)
}

// formula is how a ratio is computed, in names of metrics.
func (r ratio) formula() string {
	text := r.over + " ÷ " + r.under
	if r.factor != 1 {
		text = strconv.FormatFloat(r.factor, 'f', -1, 64) + " × " + text
	}
	return text
}

// Metrics derives every figure that follows from the deltas. One that needs
// an unknown figure, or a division by zero, has no value.
func (r Raw) Metrics(op Op) map[string]Metric {
	window := Metric{Unit: "s", Source: "monotonic clock, first send to last acknowledgement"}
	if r.Seconds > 0 {
		window.Value = Known(r.Seconds)
	}
	ops := Metric{Unit: op.Many, Source: r.Sources.Ops}
	if r.Ops >= 0 {
		ops.Value = Known(float64(r.Ops))
	}
	m := map[string]Metric{"window_seconds": window, op.Many: ops}
	for _, c := range counters {
		metric := Metric{Unit: c.unit, Source: *c.source(&r.Sources)}
		if v := *c.field(&r.Deltas); v != nil {
			metric.Value = Known(*v)
		}
		m[c.name] = metric
	}
	for _, d := range ratios {
		m[op.in(d.name)] = Metric{
			Value:  divide(d.factor, m[op.in(d.over)].Value, m[op.in(d.under)].Value),
			Unit:   op.in(d.unit),
			Source: op.in(d.formula()),
		}
	}
	return m
}

// divide gives factor × over ÷ under, or nil where it can't be known.
func divide(factor float64, over, under *float64) *float64 {
	if over == nil || under == nil || *under == 0 {
		return nil
	}
	return Known(factor * *over / *under)
}

// RawOf takes the deltas back out of a step's metrics.
func RawOf(metrics map[string]Metric, op Op) Raw {
	raw := Raw{Ops: -1, Sources: Sources{Ops: metrics[op.Many].Source}}
	if v := metrics["window_seconds"].Value; v != nil {
		raw.Seconds = *v
	}
	if v := metrics[op.Many].Value; v != nil {
		raw.Ops = int64(*v)
	}
	for _, c := range counters {
		*c.field(&raw.Deltas) = metrics[c.name].Value
		*c.source(&raw.Sources) = metrics[c.name].Source
	}
	return raw
}

// Total is the sum of a load and the index builds after it, as a step of
// KindTotal: the rows of the loads over the sum of all windows, each cost from
// the sum of the raw deltas. A delta that one step lacks is missing in the
// total. Sizes and levels are those of the last step, the peak of RSS is the
// highest; rates per interval and per client have no total.
func Total(op Op, steps ...Step) Step {
	total := Step{Name: KindTotal, Kind: KindTotal, Complete: true}
	if len(steps) == 0 {
		return total
	}
	var sum Raw
	var peak *Metric
	for i, s := range steps {
		raw := RawOf(s.Metrics, op)
		if s.Kind != KindLoad {
			raw.Ops = 0 // rows indexed, not rows inserted
		} else {
			total.Operations = append(total.Operations, s.Operations...)
		}
		if i == 0 {
			sum, total.StartedUTC = raw, s.StartedUTC
		} else {
			sum = sum.plus(raw)
		}
		if !s.Complete {
			total.Complete, total.Reason = false, s.Reason
		}
		if m := s.Metrics[rssPeakBytes]; peak == nil || m.Value == nil || peak.Value != nil && *m.Value > *peak.Value {
			peak = &m
		}
		total.EndedUTC = s.EndedUTC
	}
	total.Metrics = sum.Metrics(op)
	last := steps[len(steps)-1].Metrics
	for _, name := range []string{sizeBytes, databaseBytes, rssBytes, dirtyBytesLeft} {
		if m, found := last[name]; found {
			total.Metrics[name] = m
		}
	}
	total.Metrics[rssPeakBytes] = *peak
	addAmplification(total.Metrics, steps)
	return total
}

// plus adds what another window counted.
func (r Raw) plus(o Raw) Raw {
	if r.Seconds <= 0 || o.Seconds <= 0 {
		r.Seconds = 0
	} else {
		r.Seconds += o.Seconds
	}
	if r.Ops < 0 || o.Ops < 0 {
		r.Ops = -1
	} else {
		r.Ops += o.Ops
	}
	for _, c := range counters {
		a, b := c.field(&r.Deltas), c.field(&o.Deltas)
		if *a == nil || *b == nil {
			*a = nil
			continue
		}
		*a = Known(**a + **b) // a new number: the old one belongs to a step
	}
	return r
}
