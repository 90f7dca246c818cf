package results

import (
	"fmt"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Buckets counts statements by response time as the original does: the upper
// bounds are 256 µs, 1, 4, 16, 64 and 256 ms, 1, 4 and 16 s, inclusive, and the
// tenth takes what is slower (iibench.py, mdcallag/mytools).
type Buckets [10]int64

// bucketBoundsUS are the upper bounds of the first nine, in microseconds.
var bucketBoundsUS = [9]int64{256, 1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000}

// bucketNames are the original's column heads.
var bucketNames = [10]string{"256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt"}

// Add counts n statements that took us microseconds.
func (b *Buckets) Add(us, n int64) {
	i := 0
	for i < len(bucketBoundsUS) && us > bucketBoundsUS[i] {
		i++
	}
	b[i] += n
}

// BucketsOf counts a histogram of microseconds into the ten buckets. A
// histogram of three digits can't tell values apart that differ by less than
// a thousandth; such a cell is counted by its lowest value.
func BucketsOf(h *hdrhistogram.Histogram) Buckets {
	var b Buckets
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			b.Add(bar.From, bar.Count)
		}
	}
	return b
}

// Summarise makes an operation of a histogram of microseconds. overflow is
// how many samples were clamped to its highest value. The figures have the
// histogram's resolution; the caller may put an exact MaxUS in their place.
func Summarise(name, kind string, h *hdrhistogram.Histogram, overflow int64) Operation {
	op := Operation{Name: name, Kind: kind, Count: h.TotalCount(), Overflow: overflow, Buckets: BucketsOf(h)}
	if op.Count == 0 {
		return op
	}
	at := func(percent float64) *int64 {
		v := h.ValueAtPercentile(percent)
		return &v
	}
	low, high := h.Min(), h.Max()
	op.MinUS, op.MaxUS, op.MeanUS = &low, &high, Known(h.Mean())
	op.P50US, op.P75US, op.P90US, op.P95US = at(50), at(75), at(90), at(95)
	op.P99US, op.P999US = at(99), at(99.9)
	return op
}

// HistogramBlock is the original's two lines, tab separated: the names of the
// buckets, then the counts and the slowest statement in seconds. prefix is
// the original's "Insert rt:", "Delete rt:" or " Query rt:".
func HistogramBlock(prefix string, op Operation) string {
	var names, counts strings.Builder
	for i, name := range bucketNames {
		fmt.Fprintf(&names, "\t%s", name)
		fmt.Fprintf(&counts, "\t%d", op.Buckets[i])
	}
	slowest := "-"
	if op.MaxUS != nil {
		slowest = fmt.Sprintf("%.6f", float64(*op.MaxUS)/1e6)
	}
	return prefix + names.String() + "\tmax\n" + prefix + counts.String() + "\t" + slowest + "\n"
}
