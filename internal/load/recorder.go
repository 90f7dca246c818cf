package load

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// minUS and maxUS bound what a histogram holds, in microseconds: 1 µs to
	// 1 hour. Values outside are clamped, those above are counted.
	minUS = 1
	maxUS = int64(time.Hour / time.Microsecond)
	// digits keeps every value within 1 %, in 27 KB a histogram.
	digits = 2
)

// NewHistogram is an empty histogram of the geometry that all others here
// have: only equal geometries merge without loss.
func NewHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(minUS, maxUS, digits) }

// BucketBoundsUS are the inclusive upper bounds of iibench.py's ten response
// time buckets, in microseconds; the last bucket has none.
var BucketBoundsUS = [9]int64{256, 1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000}

// Recorder is what one worker counts. The worker writes, the clock takes; the
// lock is held for nanoseconds, once per operation and once per tick.
type Recorder struct {
	// waitingFrom is the intended start of the operation under way plus one
	// nanosecond, 0 when there is none.
	waitingFrom atomic.Int64

	mu        sync.Mutex
	ops       []opCounts
	units     int64
	firstSent time.Duration
	lastAck   time.Duration
	began     bool
	errors    map[ErrorKey]int64
	unknown   int64
	refused   int64
	err       error
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
	service *hdrhistogram.Histogram
	// response is nil without a pacer, where it equals service.
	response *hdrhistogram.Histogram
	opSums
}

// opSums are the plain counts of one operation.
type opSums struct {
	count, units, maxUS, maxResponseUS, sumNS, overflow int64
	buckets                                             [10]int64
}

func (s *opSums) add(o opSums) {
	s.count += o.count
	s.units += o.units
	s.sumNS += o.sumNS
	s.overflow += o.overflow
	s.maxUS = max(s.maxUS, o.maxUS)
	s.maxResponseUS = max(s.maxResponseUS, o.maxResponseUS)
	for i, n := range o.buckets {
		s.buckets[i] += n
	}
}

func newRecorder(ops int, paced bool) *Recorder {
	r := &Recorder{ops: make([]opCounts, ops), errors: map[ErrorKey]int64{}}
	for i := range r.ops {
		r.ops[i].service = NewHistogram()
		if paced {
			r.ops[i].response = NewHistogram()
		}
	}
	return r
}

// record notes an acknowledged operation. Offsets are from the run's start.
func (r *Recorder) record(d Done, intended, sent, answered time.Duration) {
	serviceUS := microseconds(answered - sent)
	responseUS := microseconds(answered - intended)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.began {
		r.began, r.firstSent = true, sent
	}
	r.lastAck = answered
	r.units += d.Units
	op := &r.ops[d.Op]
	op.count++
	op.units += d.Units
	op.sumNS += int64(answered - sent)
	op.maxUS = max(op.maxUS, serviceUS)
	op.maxResponseUS = max(op.maxResponseUS, responseUS)
	op.buckets[bucketOf(serviceUS)]++
	if recordClamped(op.service, serviceUS) {
		op.overflow++
	}
	if op.response != nil {
		recordClamped(op.response, responseUS)
	}
}

// Error counts one failed attempt by its code and class: a retry, or the
// failure that ends the worker.
func (r *Recorder) Error(code, class string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors[ErrorKey{Code: code, Class: class}]++
}

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

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
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

// recordClamped records a value, clamped to what the histogram holds; true
// means that it was above.
func recordClamped(h *hdrhistogram.Histogram, us int64) (over bool) {
	over = us > maxUS
	// The value is within the geometry, the only error that RecordValue has.
	_ = h.RecordValue(min(us, maxUS))
	return over
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
