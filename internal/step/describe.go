package step

import (
	"context"
	"maps"

	"github.com/HdrHistogram/hdrhistogram-go"

	"insertbench/internal/load"
	"insertbench/iostat"
	"insertbench/results"
)

// describe fills the step with what the run and the counters say.
func (s *measure) describe(ctx context.Context, res *load.Result) {
	rows, queries := s.rowsAndQueries(res)
	raw := results.Raw{
		Seconds: res.Window().Seconds(), Ops: rows,
		Deltas: s.meter.deltas(iostat.Between(s.first, s.last)), Sources: s.meter.sources(),
	}
	per := s.spec.Per
	if per == (results.Op{}) {
		per = results.PerRow
	}
	s.step.Metrics = raw.Metrics(per)
	if queries >= 0 {
		raw.Ops = queries
		maps.Copy(s.step.Metrics, raw.Metrics(results.PerQuery))
	}
	maps.Copy(s.step.Metrics, paceMetrics(s.spec.Run, res))
	if s.spec.More != nil {
		maps.Copy(s.step.Metrics, s.spec.More(res))
	}
	maps.Copy(s.step.Metrics, s.levels(ctx).Metrics())
	maps.Copy(s.step.Metrics, s.extras())
	maps.Copy(s.step.Metrics, s.engineMetrics())
	maps.Copy(s.step.Metrics, results.Amplification(s.step.Metrics))
	s.describeClients(res)
	maps.Copy(s.step.Metrics, results.ClientRateMetrics(writers(s.step.Clients), per))
	for _, o := range res.Ops {
		s.step.Operations = append(s.step.Operations, operation(o, results.KindService, o.Service, o.MaxUS))
		if o.Response != o.Service {
			s.step.Operations = append(s.step.Operations, operation(o, results.KindResponse, o.Response, o.MaxResponseUS))
		}
	}
	for _, e := range res.Errors {
		s.step.Errors = append(s.step.Errors, results.ErrorCount{Code: e.Code, Class: e.Class, Count: e.Count})
	}
}

func (s *measure) describeClients(res *load.Result) {
	for i, w := range res.Workers {
		s.step.Clients = append(s.step.Clients, s.client(i, w))
	}
}

// operation summarises one operation, with the figures that were counted
// exactly in place of the histogram's.
func operation(o load.OpResult, kind string, h *hdrhistogram.Histogram, maxUS int64) results.Operation {
	op := results.Summarise(o.Name, kind, h)
	op.Overflow = o.Overflow
	if o.Count == 0 {
		return op
	}
	op.MaxUS = &maxUS
	for _, p := range []*int64{op.P50US, op.P75US, op.P90US, op.P95US, op.P99US, op.P999US} {
		*p = min(*p, maxUS) // a histogram's cell ends above the value in it
	}
	if kind == results.KindService {
		buckets := o.Buckets
		op.Buckets = &buckets
		op.MeanUS = results.Known(o.MeanUS)
	}
	return op
}

// intervalOperation is one operation's latency in one interval.
func intervalOperation(o load.OpInterval) results.IntervalOperation {
	op := results.IntervalOperation{Name: o.Name, Kind: results.KindService, Count: o.Count}
	if o.Count == 0 {
		return op
	}
	at := func(percent float64) *int64 {
		v := o.Service.ValueAtPercentile(percent)
		return &v
	}
	maxUS := o.MaxUS
	op.P50US, op.P95US, op.P99US, op.MaxUS = at(50), at(95), at(99), &maxUS
	return op
}

// deltas turns counters into the record's form. Without a proof that the
// server runs here, only this client's own cost is known.
func (m *Meter) deltas(d iostat.Delta) results.Deltas {
	out := results.Deltas{ClientCPUUS: number(d.Client.CPUUS)}
	if !m.local {
		return out
	}
	out.Reads, out.Writes = number(d.Reads), number(d.Writes)
	out.ReadKB, out.WrittenKB = number(d.ReadKB), number(d.WrittenKB)
	out.Flushes, out.Discards = number(d.Flushes), number(d.Discards)
	if d.Total.OK && d.Total.V.DiscardSectors.OK {
		out.DiscardedKB = results.Known(float64(d.Total.V.DiscardSectors.V) / 2)
	}
	out.HostBusyUS, out.HostTotalUS = number(d.BusyUS), number(d.TotalUS)
	out.ContextSwitches = number(d.ContextSwitches)
	if len(m.pids) > 0 {
		out.ServerCPUUS = number(d.Server.CPUUS)
	}
	return out
}

// number is a counter as the record holds it, nil where it isn't known.
func number[T int64 | float64](v iostat.Opt[T]) *float64 {
	if !v.OK {
		return nil
	}
	return results.Known(float64(v.V))
}

// sources says where the deltas come from, for the record.
func (m *Meter) sources() results.Sources {
	src := results.Sources{
		Ops: "acknowledged by the server", Disk: "not known", Host: "/proc/stat", Server: "not known",
		Client: "/proc/PID/stat of this client",
	}
	if m.devices != nil {
		src.Disk = "/sys/block stat of " + m.DiskNames()
	}
	if !m.local {
		src.Host = "not known"
	}
	switch {
	case len(m.pids) > 0:
		src.Server = "/proc/PID/stat of the server's process tree"
	case m.embedded:
		src.Server = "embedded: its cost is in the client's"
	}
	return src
}

// rss is the memory of the server's process tree; an embedded database's is
// this process's.
func (m *Meter) rss(at iostat.Sample) iostat.Opt[int64] {
	switch {
	case len(m.pids) > 0:
		return at.Server.RSSBytes
	case m.embedded:
		return at.Client.RSSBytes
	default:
		return iostat.Opt[int64]{}
	}
}

// levels reads what is there at the step's end.
func (s *measure) levels(ctx context.Context) results.Levels {
	l := results.Levels{RSSBytes: s.meter.rss(s.last).Ptr(), RSSPeakBytes: s.peakRSS}
	mem := s.last.Memory
	if s.meter.local && mem.DirtyBytes.OK && mem.WritebackBytes.OK {
		left := mem.DirtyBytes.V + mem.WritebackBytes.V
		l.DirtyBytesLeft = &left
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dumpTimeout)
	defer cancel()
	if size, err := s.spec.Server.SizeBytes(ctx); err == nil {
		l.DatabaseBytes = &size
		l.SizeBytes, l.SizeSource = &size, results.SizeFromServer
		if s.meter.embedded {
			l.SizeSource = "the database's files"
		}
	}
	if s.meter.local && !s.meter.embedded && s.meter.dataDir != "" {
		if size, err := DirBytes(s.meter.dataDir); err == nil {
			l.SizeBytes, l.SizeSource = &size, "blocks allocated to the files of the data directory"
		}
	}
	return l
}
