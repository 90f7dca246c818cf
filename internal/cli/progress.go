package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// plainEvery is how often progress is printed where it isn't drawn.
const plainEvery = 10 * time.Second

// Progress shows how far a step has come: a line that is drawn again and again
// on a terminal, elsewhere a plain line every ten seconds.
type Progress struct {
	out   io.Writer
	name  string
	unit  string
	total int64
	done  int64
	maxUS int64
	bar   *progressbar.ProgressBar
	// next is when the next plain line is due; printed and printedAt are what
	// the last one said.
	next      time.Duration
	printed   int64
	printedAt time.Duration
}

// NewProgress begins the progress of a step of so many units, as rows.
func (p *Process) NewProgress(name, unit string, total int64) *Progress {
	g := &Progress{out: p.Stderr, name: name, unit: unit, total: total, next: plainEvery}
	if p.Terminal {
		g.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.Stderr), progressbar.OptionSetDescription(name),
			progressbar.OptionSetPredictTime(true), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(unit), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
	return g
}

// Add shows that units more were done by an offset from the step's start, and
// the slowest statement among them, in microseconds. A nil Progress, that of a
// quiet run, shows nothing.
func (g *Progress) Add(units int64, at time.Duration, maxUS int64) {
	if g == nil {
		return
	}
	g.done += units
	g.maxUS = max(g.maxUS, maxUS)
	if g.bar != nil {
		g.bar.Describe(fmt.Sprintf("%s, slowest %s", g.name, seconds(g.maxUS)))
		_ = g.bar.Add64(units) // a terminal that can't be drawn on is no reason to stop
		return
	}
	if at < g.next {
		return
	}
	for g.next <= at {
		g.next += plainEvery
	}
	rate := float64(g.done) / at.Seconds()
	left := "-"
	if rate > 0 {
		left = (time.Duration(float64(g.total-g.done) / rate * float64(time.Second))).Round(time.Second).String()
	}
	fmt.Fprintf(g.out, "%s: %d of %d %s (%.1f%%), %.0f %s/s (lately %.0f), slowest %s, %s left\n",
		g.name, g.done, g.total, g.unit, 100*float64(g.done)/float64(g.total), rate, g.unit,
		float64(g.done-g.printed)/(at-g.printedAt).Seconds(), seconds(g.maxUS), left)
	g.printed, g.printedAt = g.done, at
}

// Done clears a line that was drawn.
func (g *Progress) Done() {
	if g != nil && g.bar != nil {
		_ = g.bar.Clear()
	}
}

func seconds(us int64) string { return fmt.Sprintf("%.3f s", float64(us)/1e6) }
