package load

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// minUS and maxUS bound what a histogram holds, in microseconds: 1 µs to
	// 1 hour. Values outside are clamped, those above are counted.
	minUS = 1
	maxUS = int64(time.Hour / time.Microsecond)
)

// BucketBoundsUS are the inclusive upper bounds of iibench.py's ten response
// time buckets, in microseconds; the last bucket has none.
var BucketBoundsUS = [9]int64{256, 1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000}

// Recorder is what one worker counts. The worker writes, the clock takes; the
// lock is held for nanoseconds, once per operation and once per tick.
type Recorder struct {
	// waitingFrom is the intended start of the operation under way plus one
	// nanosecond, 0 when there is none.
	waitingFrom atomic.Int64
	// sending is the units of the operation under way, see Sending.
	sending atomic.Int64

	mu      sync.Mutex
	ops     []opCounts
	pace    paceCounts
	window  window
	errors  map[ErrorKey]int64
	unknown int64
	refused int64
	ended   bool
	err     error
}

// window is the time from the first send to the last acknowledgement.
type window struct {
	began, acked       bool
	firstSent, lastAck time.Duration
}

func (w *window) extend(o window) {
	if o.began && (!w.began || o.firstSent < w.firstSent) {
		w.began, w.firstSent = true, o.firstSent
	}
	w.acked = w.acked || o.acked
	w.lastAck = max(w.lastAck, o.lastAck)
}

// paceCounts is how one worker kept its pace since the last tick.
type paceCounts struct {
	late, dropped int64
	maxDelay      time.Duration
}

// timing is when an operation was intended, sent and answered, as offsets from
// the run's start, and whether it was sent late.
type timing struct {
	intended, sent, answered time.Duration
	late                     bool
}

// ErrorKey is what errors are counted by.
type ErrorKey struct {
	// Code is the server's number or name, or a word for a lost connection.
	Code string
	// Class is what the error meant for the statement.
	Class string
}

// opCounts is what one worker counted of one operation since the last tick.
type opCounts struct {
	service *bins
	// response is nil without a pacer, where it equals service.
	response *bins
	opSums
}

// opSums are the plain counts of one operation.
type opSums struct {
	count, units, maxUS, maxResponseUS, sumNS int64
	overflow, responseOverflow                int64
	buckets                                   [10]int64
}

func (s *opSums) add(o opSums) {
	s.count += o.count
	s.units += o.units
	s.sumNS += o.sumNS
	s.overflow += o.overflow
	s.responseOverflow += o.responseOverflow
	s.maxUS = max(s.maxUS, o.maxUS)
	s.maxResponseUS = max(s.maxResponseUS, o.maxResponseUS)
	for i, n := range o.buckets {
		s.buckets[i] += n
	}
}

func newRecorder(ops int, paced bool) *Recorder {
	return &Recorder{ops: newOpCounts(ops, paced), errors: map[ErrorKey]int64{}}
}

func newOpCounts(ops int, paced bool) []opCounts {
	counts := make([]opCounts, ops)
	for i := range counts {
		counts[i].service = newBins()
		if paced {
			counts[i].response = newBins()
		}
	}
	return counts
}

// begin notes the worker's first send.
func (r *Recorder) begin(sent time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.window.began, r.window.firstSent = true, sent
}

// record notes an acknowledged operation.
func (r *Recorder) record(d Done, t timing) {
	serviceUS := microseconds(t.answered - t.sent)
	responseUS := microseconds(t.answered - t.intended)
	r.mu.Lock()
	defer r.mu.Unlock()
	op := &r.ops[d.Op]
	r.window.acked, r.window.lastAck = true, t.answered
	r.pace.maxDelay = max(r.pace.maxDelay, t.sent-t.intended)
	if t.late {
		r.pace.late++
	}
	op.count++
	op.units += d.Units
	op.sumNS += int64(t.answered - t.sent)
	op.maxUS = max(op.maxUS, serviceUS)
	op.maxResponseUS = max(op.maxResponseUS, responseUS)
	op.buckets[bucketOf(serviceUS)]++
	if serviceUS > maxUS {
		op.overflow++
	}
	if responseUS > maxUS {
		op.responseOverflow++
	}
	op.service.record(min(serviceUS, maxUS))
	if op.response != nil {
		op.response.record(min(responseUS, maxUS))
	}
}

// drop counts operations that were too late to be sent.
func (r *Recorder) drop(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pace.dropped += n
}

// Error counts one failed attempt by its code and class: a retry, or the
// failure that ends the worker.
func (r *Recorder) Error(code, class string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors[ErrorKey{Code: code, Class: class}]++
}

// Sending says how many units the operation under way sends, so that they can
// be counted as unknown where the worker has to be given up.
func (r *Recorder) Sending(units int64) { r.sending.Store(units) }

// Unknown counts units that were sent and whose answer never came.
func (r *Recorder) Unknown(units int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unknown += units
}

// Refused counts units that were sent and that the server said it didn't keep,
// and that were not sent again.
func (r *Recorder) Refused(units int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused += units
}

// end notes that the worker sends nothing more, with the reason if it failed.
func (r *Recorder) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.err = true, err
}

func (r *Recorder) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

func (r *Recorder) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// microseconds rounds up: a value at or below a bucket's bound was at or below it,
// and no operation takes no time. The mean is kept in nanoseconds beside it.
func microseconds(d time.Duration) int64 {
	return max(minUS, int64((d+time.Microsecond-1)/time.Microsecond))
}

func bucketOf(us int64) int {
	for i, bound := range BucketBoundsUS {
		if us <= bound {
			return i
		}
	}
	return len(BucketBoundsUS)
}

// mean is the mean in microseconds, NaN without operations.
func (s opSums) mean() float64 {
	if s.count == 0 {
		return math.NaN()
	}
	return float64(s.sumNS) / float64(time.Microsecond) / float64(s.count)
}
