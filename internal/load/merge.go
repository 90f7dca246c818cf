package load

import (
	"cmp"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Interval is what all workers did between two ticks. It is valid only during
// the call that hands it over.
type Interval struct {
	// Index counts intervals from 0.
	Index int
	// Start and End are offsets from the run's start; a late tick makes a
	// longer interval, and rates divide by its real length.
	Start, End time.Duration
	// Full is false for the last, cut short, interval.
	Full bool
	// Workers has one entry per worker, Ops one per operation.
	Workers []WorkerInterval
	Ops     []OpInterval
	// Stalled lists the workers that got no answer in a full interval though
	// they waited for one all through it.
	Stalled []int
}

// Seconds is the interval's real length.
func (iv *Interval) Seconds() float64 { return (iv.End - iv.Start).Seconds() }

// Units is what all workers had acknowledged in the interval.
func (iv *Interval) Units() int64 {
	var n int64
	for _, w := range iv.Workers {
		n += w.Units
	}
	return n
}

// WorkerInterval is one worker's part of an interval.
type WorkerInterval struct {
	Ops, Units int64
	// MaxUS is the slowest answer in the interval, in microseconds; 0 without one.
	MaxUS int64
}

// OpInterval is one operation's part of an interval, over all workers.
type OpInterval struct {
	Name         string
	Count, Units int64
	MaxUS        int64
	// Service counts from sending, Response from the intended start; the
	// same histogram where no worker of the run has a pacer.
	Service, Response *hdrhistogram.Histogram
}

// Result is a whole run.
type Result struct {
	// FirstSent and LastAck bound the window that rates divide by, as offsets
	// from the run's start. Both are 0 where nothing was acknowledged.
	FirstSent, LastAck time.Duration
	Workers            []WorkerResult
	Ops                []OpResult
	Errors             []ErrorCount
	// StalledSeconds counts the (worker, full interval) pairs without an answer.
	StalledSeconds int64
}

// Window is the time from the first send to the last acknowledgement.
func (r *Result) Window() time.Duration { return r.LastAck - r.FirstSent }

// Units is what all workers had acknowledged.
func (r *Result) Units() int64 {
	var n int64
	for _, w := range r.Workers {
		n += w.Units
	}
	return n
}

// WorkerResult is one worker's whole run.
type WorkerResult struct {
	// Units were acknowledged, Unknown sent without an answer, Refused
	// answered with an error and not sent again.
	Units, Unknown, Refused int64
	Ops                     int64
	MaxUS                   int64
	// Rates has units per second for each full interval in which the worker
	// ran to the end: four bytes a second, the only thing here that grows,
	// and it grows with time, not with rows.
	Rates []float32
	Err   error
}

// OpResult is one operation's whole run, over all workers.
type OpResult struct {
	Name         string
	Count, Units int64
	// MaxUS and MaxResponseUS are exact; MeanUS is NaN without operations.
	MaxUS, MaxResponseUS int64
	MeanUS               float64
	// Overflow counts values above an hour, clamped in the histograms.
	Overflow int64
	// Buckets counts service times by BucketBoundsUS.
	Buckets           [10]int64
	Service, Response *hdrhistogram.Histogram
}

// ErrorCount is how often an error came.
type ErrorCount struct {
	ErrorKey
	Count int64
}

// merger holds what was taken from the workers so far.
type merger struct {
	names   []string
	paced   []bool
	anyPace bool
	// spare is swapped with each worker's histograms in turn.
	spare    []opCounts
	totals   []opCounts
	workers  []WorkerResult
	interval Interval
	stalls   int64
}

func newMerger(r Run) *merger {
	m := &merger{names: r.Ops, workers: make([]WorkerResult, len(r.Workers))}
	for _, w := range r.Workers {
		m.paced = append(m.paced, w.Pacer != nil)
		m.anyPace = m.anyPace || w.Pacer != nil
	}
	m.spare = newRecorder(len(r.Ops), m.anyPace).ops
	m.totals = newRecorder(len(r.Ops), m.anyPace).ops
	m.interval.Workers = make([]WorkerInterval, len(r.Workers))
	m.interval.Ops = make([]OpInterval, len(r.Ops))
	for i, name := range r.Ops {
		op := &m.interval.Ops[i]
		op.Name, op.Service = name, NewHistogram()
		op.Response = op.Service
		if m.anyPace {
			op.Response = NewHistogram()
		}
	}
	return m
}

// take moves the workers' counts into the next interval and the totals.
func (m *merger) take(recs []*Recorder, finished []bool, now time.Duration, full bool) *Interval {
	iv := &m.interval
	if iv.End > 0 {
		iv.Index++
	}
	iv.Start, iv.End, iv.Full = iv.End, now, full
	iv.Stalled = iv.Stalled[:0]
	for i := range iv.Ops {
		op := &iv.Ops[i]
		op.Count, op.Units, op.MaxUS = 0, 0, 0
		op.Service.Reset()
		op.Response.Reset()
	}
	for i, rec := range recs {
		w := m.takeWorker(rec, m.paced[i])
		iv.Workers[i] = w
		total := &m.workers[i]
		total.Ops += w.Ops
		total.MaxUS = max(total.MaxUS, w.MaxUS)
		if !full || finished[i] {
			continue
		}
		total.Rates = append(total.Rates, float32(float64(w.Units)/iv.Seconds()))
		if w.Ops == 0 && (!m.paced[i] || waitedAll(rec, iv.Start)) {
			iv.Stalled = append(iv.Stalled, i)
			m.stalls++
		}
	}
	m.addToTotals()
	return iv
}

// waitedAll says whether the operation under way was due before start.
func waitedAll(rec *Recorder, start time.Duration) bool {
	from := rec.waitingFrom.Load()
	return from != 0 && time.Duration(from-1) <= start
}

// takeWorker swaps a worker's histograms for the spare ones and merges them
// into the interval, outside the worker's lock.
func (m *merger) takeWorker(rec *Recorder, paced bool) (w WorkerInterval) {
	rec.mu.Lock()
	for i := range rec.ops {
		if rec.ops[i].count == 0 {
			continue
		}
		mine, theirs := &m.spare[i], &rec.ops[i]
		mine.service, theirs.service = theirs.service, mine.service
		if paced {
			mine.response, theirs.response = theirs.response, mine.response
		}
		mine.opSums, theirs.opSums = theirs.opSums, opSums{}
	}
	rec.mu.Unlock()
	for i := range m.spare {
		s := &m.spare[i]
		if s.count == 0 {
			continue
		}
		op := &m.interval.Ops[i]
		op.Count += s.count
		op.Units += s.units
		op.MaxUS = max(op.MaxUS, s.maxUS)
		op.Service.Merge(s.service)
		switch {
		case paced:
			op.Response.Merge(s.response)
			s.response.Reset()
		case m.anyPace:
			op.Response.Merge(s.service)
		}
		s.service.Reset()
		w.Ops += s.count
		w.Units += s.units
		w.MaxUS = max(w.MaxUS, s.maxUS)
		m.totals[i].opSums.add(s.opSums)
		s.opSums = opSums{}
	}
	return w
}

// addToTotals adds the interval's histograms to the run's.
func (m *merger) addToTotals() {
	for i := range m.interval.Ops {
		op := &m.interval.Ops[i]
		if op.Count == 0 {
			continue
		}
		m.totals[i].service.Merge(op.Service)
		if m.anyPace {
			m.totals[i].response.Merge(op.Response)
		}
	}
}

// result reads the totals once the workers have ended.
func (m *merger) result(recs []*Recorder) *Result {
	res := &Result{Workers: m.workers, StalledSeconds: m.stalls}
	errors := map[ErrorKey]int64{}
	began := false
	for i, rec := range recs {
		rec.mu.Lock()
		w := &m.workers[i]
		w.Units, w.Unknown, w.Refused, w.Err = rec.units, rec.unknown, rec.refused, rec.err
		for key, n := range rec.errors {
			errors[key] += n
		}
		if rec.began {
			if !began || rec.firstSent < res.FirstSent {
				res.FirstSent = rec.firstSent
			}
			res.LastAck = max(res.LastAck, rec.lastAck)
			began = true
		}
		rec.mu.Unlock()
	}
	for i, name := range m.names {
		t := &m.totals[i]
		op := OpResult{
			Name: name, Count: t.count, Units: t.units, MaxUS: t.maxUS, MaxResponseUS: t.maxResponseUS,
			MeanUS: t.mean(), Overflow: t.overflow, Buckets: t.buckets, Service: t.service, Response: t.response,
		}
		if op.Response == nil {
			op.Response = op.Service
		}
		res.Ops = append(res.Ops, op)
	}
	for key, n := range errors {
		res.Errors = append(res.Errors, ErrorCount{key, n})
	}
	slices.SortFunc(res.Errors, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Class, b.Class))
	})
	return res
}
