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
	// Full is false for the last, cut short, interval, whose length may be 0.
	Full bool
	// Workers has one entry per worker, Ops one per operation.
	Workers []WorkerInterval
	Ops     []OpInterval
	// Stalled lists the workers that got no answer in a full interval, and
	// that had, where they keep a pace, an operation under way that was due
	// before the interval began.
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
	Pace
}

// Pace is how well a schedule was kept; all 0 without a pacer. What was due and
// not yet sent when the run stopped is in no count.
type Pace struct {
	// Late counts acknowledged operations that were sent late, by
	// Worker.LateAfter; Dropped those that were due and not sent, by
	// Worker.DropAfter.
	Late, Dropped int64
	// MaxDelayUS is the longest time that an acknowledged operation was sent
	// after its intended start, in microseconds rounded down.
	MaxDelayUS int64
}

func (p *Pace) add(o Pace) {
	p.Late += o.Late
	p.Dropped += o.Dropped
	p.MaxDelayUS = max(p.MaxDelayUS, o.MaxDelayUS)
}

// OpInterval is one operation's part of an interval, over all workers.
type OpInterval struct {
	Name         string
	Count, Units int64
	// MaxUS and MaxResponseUS are exact; 0 without an answer.
	MaxUS, MaxResponseUS int64
	// Service counts from sending, Response from the intended start; the
	// same histogram where no worker of the run has a pacer.
	Service, Response *hdrhistogram.Histogram
}

// Result is a whole run.
type Result struct {
	// FirstSent and LastAck bound the window that rates divide by, as offsets
	// from the run's start: the first send of all workers, answered or not, and
	// the last acknowledgement. Both are 0 where nothing was acknowledged.
	FirstSent, LastAck time.Duration
	Workers            []WorkerResult
	Ops                []OpResult
	Errors             []ErrorCount
	// StalledSeconds counts the (worker, full interval) pairs in Interval.Stalled.
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

// Pace adds up how well all workers kept their schedules.
func (r *Result) Pace() Pace {
	var p Pace
	for _, w := range r.Workers {
		p.add(w.Pace)
	}
	return p
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
	// Err is why the worker ended early.
	Err error
	// Hung says that the worker was given up with an operation under way,
	// whose outcome is unknown.
	Hung bool
	Pace
}

// OpResult is one operation's whole run, over all workers.
type OpResult struct {
	Name         string
	Count, Units int64
	// MaxUS and MaxResponseUS are exact; MeanUS is NaN without operations.
	MaxUS, MaxResponseUS int64
	MeanUS               float64
	// Overflow counts service times above an hour, ResponseOverflow response
	// times; the histograms hold them as an hour.
	Overflow, ResponseOverflow int64
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
	paced   []bool
	anyPace bool
	// spare is swapped with each worker's counts in turn, latest has the
	// interval's, and totals the run's.
	spare, latest []opCounts
	totals        []OpResult
	sums          []opSums
	workers       []WorkerResult
	interval      Interval
	window        window
	stalls        int64
}

func newMerger(r Run) *merger {
	m := &merger{workers: make([]WorkerResult, len(r.Workers))}
	for _, w := range r.Workers {
		m.paced = append(m.paced, w.Pacer != nil)
		m.anyPace = m.anyPace || w.Pacer != nil
	}
	m.spare = newOpCounts(len(r.Ops), m.anyPace)
	m.latest = newOpCounts(len(r.Ops), m.anyPace)
	m.totals = make([]OpResult, len(r.Ops))
	m.sums = make([]opSums, len(r.Ops))
	m.interval.Workers = make([]WorkerInterval, len(r.Workers))
	m.interval.Ops = make([]OpInterval, len(r.Ops))
	for i, name := range r.Ops {
		iv, total := &m.interval.Ops[i], &m.totals[i]
		iv.Name, iv.Service = name, NewHistogram()
		total.Name, total.Service = name, NewHistogram()
		iv.Response, total.Response = iv.Service, total.Service
		if m.anyPace {
			iv.Response, total.Response = NewHistogram(), NewHistogram()
		}
	}
	return m
}

// take moves the workers' counts into the next interval and the totals.
func (m *merger) take(recs []*Recorder, now time.Duration, full bool) *Interval {
	m.nextInterval(now, full)
	iv := &m.interval
	for i, rec := range recs {
		// Read before the counts: an answer between the two is counted, and
		// without one the worker waited until now.
		waited := !m.paced[i] || waitedSince(rec, iv.Start)
		w, ended := m.takeWorker(rec, m.paced[i])
		iv.Workers[i] = w
		total := &m.workers[i]
		total.Ops += w.Ops
		total.Units += w.Units
		total.MaxUS = max(total.MaxUS, w.MaxUS)
		total.Pace.add(w.Pace)
		total.Hung = !ended
		if !full || ended {
			continue
		}
		total.Rates = append(total.Rates, float32(float64(w.Units)/iv.Seconds()))
		if w.Ops == 0 && waited {
			iv.Stalled = append(iv.Stalled, i)
			m.stalls++
		}
	}
	m.addUp()
	return iv
}

// nextInterval makes the interval an empty one that follows the last.
func (m *merger) nextInterval(now time.Duration, full bool) {
	iv := &m.interval
	if iv.End > 0 {
		iv.Index++
	}
	iv.Start, iv.End, iv.Full = iv.End, now, full
	iv.Stalled = iv.Stalled[:0]
}

// waitedSince says whether the operation under way was due before start.
func waitedSince(rec *Recorder, start time.Duration) bool {
	from := rec.waitingFrom.Load()
	return from != 0 && time.Duration(from-1) <= start
}

// takeWorker swaps a worker's counts for the spare ones and merges them into
// the interval's, outside the worker's lock.
func (m *merger) takeWorker(rec *Recorder, paced bool) (w WorkerInterval, ended bool) {
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
	pace := rec.pace
	rec.pace = paceCounts{}
	m.window.extend(rec.window)
	ended = rec.ended
	rec.mu.Unlock()

	w.Pace = Pace{Late: pace.late, Dropped: pace.dropped, MaxDelayUS: pace.maxDelay.Microseconds()}
	for i := range m.spare {
		if s := &m.spare[i]; s.count > 0 {
			w.Ops += s.count
			w.Units += s.units
			w.MaxUS = max(w.MaxUS, s.maxUS)
			m.mergeSpare(i, paced)
		}
	}
	return w, ended
}

// mergeSpare adds the spare counts of operation i to the interval's and empties them.
func (m *merger) mergeSpare(i int, paced bool) {
	s, sum := &m.spare[i], &m.latest[i]
	sum.opSums.add(s.opSums)
	sum.service.add(s.service)
	switch {
	case paced:
		sum.response.add(s.response)
		s.response.clear()
	case m.anyPace:
		sum.response.add(s.service)
	}
	s.service.clear()
	s.opSums = opSums{}
}

// addUp makes the interval's operations of what was merged, and adds them to
// the run's.
func (m *merger) addUp() {
	for i := range m.latest {
		sum, op, total := &m.latest[i], &m.interval.Ops[i], &m.totals[i]
		if op.Count > 0 {
			op.Service.Reset()
			op.Response.Reset()
		}
		op.Count, op.Units, op.MaxUS, op.MaxResponseUS = sum.count, sum.units, sum.maxUS, sum.maxResponseUS
		if sum.count == 0 {
			continue
		}
		sum.service.addTo(op.Service, total.Service)
		sum.service.clear()
		if m.anyPace {
			sum.response.addTo(op.Response, total.Response)
			sum.response.clear()
		}
		m.sums[i].add(sum.opSums)
		sum.opSums = opSums{}
	}
}

// result reads the totals once the workers have ended.
func (m *merger) result(recs []*Recorder) *Result {
	res := &Result{Workers: m.workers, Ops: m.totals, StalledSeconds: m.stalls}
	if m.window.acked {
		res.FirstSent, res.LastAck = m.window.firstSent, m.window.lastAck
	}
	errors := map[ErrorKey]int64{}
	for i, rec := range recs {
		rec.mu.Lock()
		w := &m.workers[i]
		w.Unknown, w.Refused, w.Err = rec.unknown, rec.refused, rec.err
		if w.Hung && rec.waitingFrom.Load() != 0 {
			w.Unknown += rec.sending.Load()
		}
		for key, n := range rec.errors {
			errors[key] += n
		}
		rec.mu.Unlock()
	}
	for i := range m.totals {
		op, sum := &m.totals[i], &m.sums[i]
		op.Count, op.Units, op.MaxUS, op.MaxResponseUS = sum.count, sum.units, sum.maxUS, sum.maxResponseUS
		op.MeanUS, op.Buckets = sum.mean(), sum.buckets
		op.Overflow, op.ResponseOverflow = sum.overflow, sum.responseOverflow
	}
	for key, n := range errors {
		res.Errors = append(res.Errors, ErrorCount{key, n})
	}
	slices.SortFunc(res.Errors, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Class, b.Class))
	})
	return res
}
