// Package legacy writes results in the words of the original LinkBench (the fork's, github.com/mdcallag/linkbench),
// for scripts that read them by position: lines and rows of known figures, and a Log whose Threads observe a run and
// print them while it is under way.
package legacy

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Ops lists the operations in the order final lines come in.
func Ops() []string {
	return []string{"ADD_NODE", "UPDATE_NODE", "DELETE_NODE", "GET_NODE", "ADD_LINK", "DELETE_LINK", "UPDATE_LINK",
		"COUNT_LINK", "MULTIGET_LINK", "GET_LINKS_LIST", "LOAD_NODE_BULK", "LOAD_LINK", "LOAD_LINKS_BULK",
		"LOAD_COUNTS_BULK"}
}

// Prefix begins a line of the log.
func Prefix(level string, at time.Time, thread string) string {
	stamp := at.Format("2006-01-02 15:04:05.999")
	if !strings.Contains(stamp, ".") {
		stamp += ".0"
	}
	return fmt.Sprintf("%s %s [%s]: ", level, stamp, thread)
}

// trimmed is x with at most so many decimals and none that are zero.
func trimmed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// javaDouble is Java's Double.toString: a decimal point always, an exponent outside 10^-3 to 10^7.
func javaDouble(x float64) string {
	if x != 0 && (x < 1e-3 || x >= 1e7) {
		s := strconv.FormatFloat(x, 'E', -1, 64)
		mantissa, exponent, _ := strings.Cut(s, "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent) // always a number: FormatFloat wrote it
		return mantissa + "E" + strconv.Itoa(n)
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// perSecond is 0 for no time at all, where the original divides by zero.
func perSecond(n float64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return n / d.Seconds()
}

// Load is what a load made.
type Load struct {
	IDs, IDsDone         int64 // id1s altogether and loaded
	Nodes, ExpectedNodes int64
	Links, Counts        int64
	Took                 time.Duration
}

// Final is the last line of a load.
func (l Load) Final() string {
	nodes := float64(max(l.ExpectedNodes, 1))
	return fmt.Sprintf("LOAD PHASE COMPLETED. Loaded %d nodes (Expected %d), %d links (%.2f /node), %d counts (%.2f /node). "+
		"%.1f seconds, %.0f Links/s, %.0f (link+count)/s, %.0f (link+count+node)/s",
		l.Nodes, l.ExpectedNodes, l.Links, float64(l.Links)/nodes, l.Counts, float64(l.Counts)/nodes, l.Took.Seconds(),
		perSecond(float64(l.Links), l.Took), perSecond(float64(l.Links+l.Counts), l.Took),
		perSecond(float64(l.Links+l.Counts+l.Nodes), l.Took))
}

// Progress is a line printed while loading. It ends in a space, as the original's does.
func (l Load) Progress() string {
	rate := func(n int64) float64 { return perSecond(float64(n), l.Took) }
	return fmt.Sprintf("%d/%d id1s (%.1f%%) at %.1f /sec. %d links at %.1f /sec. %d counts at %.1f /sec. "+
		"link+count at %.1f /sec. ", l.IDsDone, l.IDs, share(l.IDsDone, l.IDs), rate(l.IDsDone), l.Links, rate(l.Links),
		l.Counts, rate(l.Counts), rate(l.Links+l.Counts))
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) * 100 / float64(whole)
}

// Requests is the state of the request phase.
type Requests struct {
	Done, Planned int64
	Took          time.Duration
	MaxTimeS      int64
}

// Final is the last line of the request phase; seconds and rate are truncated.
func (r Requests) Final() string {
	return fmt.Sprintf("REQUEST PHASE COMPLETED. %d requests done in %d seconds. Requests/second = %d",
		r.Done, int64(r.Took.Seconds()), truncatedRate(r.Done, r.Took))
}

// Progress is a line printed while requests run.
func (r Requests) Progress() string {
	limit := 0.0
	if r.MaxTimeS > 0 {
		limit = r.Took.Seconds() * 100 / float64(r.MaxTimeS)
	}
	return fmt.Sprintf("%d/%d requests finished: %.1f%% complete at %.1f ops/sec %.1f/%d secs elapsed: %.1f%% of time "+
		"limit used", r.Done, r.Planned, share(r.Done, r.Planned), perSecond(float64(r.Done), r.Took), r.Took.Seconds(),
		r.MaxTimeS, limit)
}

func truncatedRate(n int64, took time.Duration) int64 {
	if ms := took.Milliseconds(); ms > 0 {
		return n * 1000 / ms
	}
	return 0
}

// Requester is what one requester did.
type Requester struct {
	Thread          int
	Requests        int64
	Took            time.Duration
	Found, NotFound int64
	HistoryQueries  int64
	ListQueries     int64
}

// Line is printed when a requester ends.
func (r Requester) Line() string {
	return fmt.Sprintf("ThreadID = %d total requests = %d requests/second = %d found = %d not found = %d history queries = %d/%d",
		r.Thread, r.Requests, truncatedRate(r.Requests, r.Took), r.Found, r.NotFound, r.HistoryQueries, r.ListQueries)
}
