package results

import (
	"fmt"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// bucketNames are the column heads of the original's response time histogram:
// inclusive upper bounds, the last for what is slower than 16 s (iibench.py,
// mdcallag/mytools).
var bucketNames = [10]string{"256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt"}

// Summarise makes an operation of a histogram of microseconds, with the
// histogram's resolution. MaxUS, MeanUS, Overflow and Buckets are better set
// by a caller that counted them exactly.
func Summarise(name, kind string, h *hdrhistogram.Histogram) Operation {
	op := Operation{Name: name, Kind: kind, Count: h.TotalCount()}
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

// HistogramBlock is the original's two lines: the names of the buckets, then
// the counts and the slowest statement in seconds. prefix is the original's
// "Insert rt:", "Delete rt:" or " Query rt:".
func HistogramBlock(prefix string, op Operation) string {
	names, counts := prefix, prefix
	for i, name := range bucketNames {
		count := "-"
		if op.Buckets != nil {
			count = fmt.Sprint(op.Buckets[i])
		}
		names += fmt.Sprintf("%10s", name)
		counts += fmt.Sprintf("%10s", count)
	}
	slowest := "-"
	if op.MaxUS != nil {
		slowest = fmt.Sprintf("%.6f", float64(*op.MaxUS)/1e6)
	}
	return fmt.Sprintf("%s%12s\n%s%12s\n", names, "max", counts, slowest)
}

// maxSeconds is the slowest statement of an operation in seconds: from the
// intended start where there was a schedule, else from the send.
func maxSeconds(ops []Operation, name string) *float64 {
	var slowest *int64
	found := ""
	for _, op := range ops {
		if !strings.EqualFold(op.Name, name) || op.MaxUS == nil || found == KindResponse && op.Kind != KindResponse {
			continue
		}
		if slowest == nil || op.Kind != found || *op.MaxUS > *slowest {
			slowest, found = op.MaxUS, op.Kind
		}
	}
	if slowest == nil {
		return nil
	}
	return Known(float64(*slowest) / 1e6)
}
