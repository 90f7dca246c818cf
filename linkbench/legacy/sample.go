package legacy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// StreamHeader heads the rows of -csvstream. Its sampleDuration_us holds milliseconds, as in the original.
const StreamHeader = "threadID,timestamp,op,totalops,totalerrors,ops,sampleDuration_us,sampleOps,mean_us,min_us," +
	"p25_us,p50_us,p75_us,p90_us,p95_us,p99_us,max_us"

// Sample is a thread's statistics of one operation since the last ones: Values are a sample of its latencies in
// microseconds, or of row counts for RANGE_SIZE and names that end in NLINKS.
type Sample struct {
	Thread                int
	Op                    string
	TotalOps, TotalErrors int64
	Ops                   int64
	DurationMS            int64
	Values                []int64
}

// quantiles returns mean, and min, p25, p50, p75, p90, p95, p99 and max by the original's indexes.
func (s Sample) quantiles() (mean float64, q [8]int64) {
	n := len(s.Values)
	if n == 0 {
		return 0, q
	}
	v := slices.Sorted(slices.Values(s.Values))
	sum := int64(0)
	for _, x := range v {
		sum += x
	}
	for i, at := range [8]int{0, n / 4, n / 2, n - 1 - n/4, n - 1 - n/10, n - 1 - n/20, n - 1 - n/100, n - 1} {
		q[i] = v[at]
	}
	return float64(sum) / float64(n), q
}

// Line is the log's line of the sample, without prefix.
func (s Sample) Line() string {
	mean, q := s.quantiles()
	var b strings.Builder
	fmt.Fprintf(&b, "ThreadID = %d %s totalOps = %d totalErrors = %d ops = %d sampleDuration = %dms samples = %d mean = %s",
		s.Thread, s.Op, s.TotalOps, s.TotalErrors, s.Ops, s.DurationMS, len(s.Values), trimmed(mean, 2))
	for i, name := range [8]string{"min", "25%", "50%", "75%", "90%", "95%", "99%", "max"} {
		fmt.Fprintf(&b, " %s = %d", name, q[i])
	}
	return b.String()
}

// CSV is the row of -csvstream at a unix time in seconds.
func (s Sample) CSV(unixS int64) string {
	mean, q := s.quantiles()
	f := []string{strconv.Itoa(s.Thread), strconv.FormatInt(unixS, 10), s.Op}
	for _, n := range []int64{s.TotalOps, s.TotalErrors, s.Ops, s.DurationMS, int64(len(s.Values))} {
		f = append(f, strconv.FormatInt(n, 10))
	}
	f = append(f, javaDouble(mean))
	for _, x := range q {
		f = append(f, strconv.FormatInt(x, 10))
	}
	return strings.Join(f, ",")
}
