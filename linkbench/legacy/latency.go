package legacy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// numBuckets is the original's histogram: ten of 0.1 ms, ninety-nine of 1 ms, nine of 100 ms, nine of 1 s, and
// one for everything above.
const numBuckets = 128

// bucketBounds is the range of a bucket in microseconds, the upper end excluded; the last is shown as ending at
// 100 s.
func bucketBounds(i int) (low, high int64) {
	switch {
	case i < 10:
		return int64(i) * 100, int64(i+1) * 100
	case i < 109:
		return int64(i-9) * 1000, int64(i-8) * 1000
	case i < 118:
		return int64(i-108) * 100_000, int64(i-107) * 100_000
	case i < 127:
		return int64(i-117) * 1_000_000, int64(i-116) * 1_000_000
	}
	return 10_000_000, 100_000_000
}

func bucketOf(us int64) int {
	switch {
	case us < 1000:
		return int(max(us, 0) / 100)
	case us < 100_000:
		return int(us/1000) + 9
	case us < 1_000_000:
		return int(us/100_000) + 108
	case us < 10_000_000:
		return int(us/1_000_000) + 117
	}
	return numBuckets - 1
}

func percentiles() [5]int64 { return [5]int64{25, 50, 75, 95, 99} }

// Latencies are those of one operation over all threads. The zero value is empty.
type Latencies struct {
	counts [numBuckets]int64
	n      int64
	sumUS  float64
	maxUS  int64
}

// Add counts n operations that took us microseconds.
func (l *Latencies) Add(us, n int64) {
	l.counts[bucketOf(us)] += n
	l.n += n
	l.sumUS += float64(us) * float64(n)
	l.maxUS = max(l.maxUS, us)
}

// AddHistogram counts what a histogram of microseconds holds, whose exact mean and maximum are given. Another value is
// known to within the histogram's cell, so one near a bucket's edge may be counted in the next.
func (l *Latencies) AddHistogram(h *hdrhistogram.Histogram, maxUS int64, meanUS float64) {
	sumUS := l.sumUS
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			l.Add(min(bar.To, maxUS), bar.Count)
			sumUS += meanUS * float64(bar.Count)
		}
	}
	l.sumUS = sumUS
}

// percentile returns the bucket of the rank floor(p·n/100). Rank 0 is always the first bucket, which is wrong
// for few operations and what the original does.
func (l *Latencies) percentile(p int64) (lowUS, highUS int64) {
	rank, below := p*l.n/100, int64(0)
	for i, c := range l.counts {
		if below += c; below >= rank {
			return bucketBounds(i)
		}
	}
	return bucketBounds(numBuckets - 1)
}

func (l *Latencies) meanUS() float64 {
	if l.n == 0 {
		return 0
	}
	return l.sumUS / float64(l.n)
}

// Line is an operation's final line, without the log's prefix. Operations that never happened have none.
func (l *Latencies) Line(op string, threads int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s count = %d", op, l.n)
	for _, p := range percentiles() {
		low, high := l.percentile(p)
		fmt.Fprintf(&b, "  p%d = [%s,%s]ms", p, trimmed(float64(low)/1000, 3), trimmed(float64(high)/1000, 3))
	}
	fmt.Fprintf(&b, "  max = %sms  mean = %sms threads = %d", trimmed(float64(l.maxUS)/1000, 3),
		trimmed(l.meanUS()/1000, 3), threads)
	return b.String()
}

// CSVHeader heads the rows of CSV.
const CSVHeader = "op,count,p25_low,p25_high,p50_low,p50_high,p75_low,p75_high,p95_low,p95_high,p99_low,p99_high," +
	"max,mean,threads"

// CSV is an operation's row of -csvstats, milliseconds.
func (l *Latencies) CSV(op string, threads int) string {
	f := []string{op, strconv.FormatInt(l.n, 10)}
	for _, p := range percentiles() {
		low, high := l.percentile(p)
		f = append(f, trimmed(float64(low)/1000, 2), trimmed(float64(high)/1000, 2))
	}
	f = append(f, trimmed(float64(l.maxUS)/1000, 2), trimmed(l.meanUS()/1000, 2), strconv.Itoa(threads))
	return strings.Join(f, ",")
}

// HDRCSVHeader heads the rows of HDRCSV.
const HDRCSVHeader = "op,count,p25 (us),p50 (us),p75 (us),p95 (us),p99 (us),max (us),mean (us),threads"

// HDR is what a row of -csvstats with use_hdr_histogram shows; percentiles are p25, p50, p75, p95 and p99.
type HDR struct {
	Count       int64
	Percentiles [5]int64 // microseconds
	MaxUS       int64
	MeanUS      float64
}

// CSV is an operation's row.
func (h HDR) CSV(op string, threads int) string {
	f := []string{op, strconv.FormatInt(h.Count, 10)}
	for _, p := range h.Percentiles {
		f = append(f, strconv.FormatInt(p, 10))
	}
	f = append(f, strconv.FormatInt(h.MaxUS, 10), trimmed(h.MeanUS, 2), strconv.Itoa(threads))
	return strings.Join(f, ",")
}
