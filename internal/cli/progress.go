package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"insertbench/internal/load"
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
	// limit is when the step ends where time ends it and not a number of units.
	limit time.Duration
	done  int64
	maxUS int64
	// beside is done of another unit, as queries beside inserts.
	beside     int64
	besideUnit string
	// waiting is what a step waits for that has nothing to count but seconds.
	waiting string
	bar     *progressbar.ProgressBar
	// next is when the next plain line is due; printed and printedAt are what
	// the last one said.
	next      time.Duration
	printed   int64
	printedAt time.Duration
}

// NewProgress begins the progress of a step of so many units, as rows.
func (p *Process) NewProgress(name, unit string, total int64) *Progress {
	g := &Progress{out: p.Stderr, name: name, unit: unit, total: total, next: plainEvery}
	switch {
	case !p.Terminal:
	case unit == "s": // a second takes a second
		g.bar = p.newBar(name, unit, total, progressbar.OptionShowCount())
	default:
		g.bar = p.newBar(name, unit, total, progressbar.OptionShowCount(), progressbar.OptionShowIts())
	}
	return g
}

// NewTimedProgress begins the progress of a step that time ends.
func (p *Process) NewTimedProgress(name, unit string, limit time.Duration) *Progress {
	g := &Progress{out: p.Stderr, name: name, unit: unit, limit: limit, next: plainEvery}
	if p.Terminal {
		g.bar = p.newBar(name, "s", int64(limit.Seconds()), progressbar.OptionShowCount())
	}
	return g
}

// NewWaitingProgress begins the progress of a step that counts nothing before
// its end, when that is isn't known: it shows the seconds, by Wait.
func (p *Process) NewWaitingProgress(name string) *Progress {
	g := &Progress{out: p.Stderr, name: name, unit: "s", total: -1, next: plainEvery}
	if p.Terminal {
		g.bar = p.newBar(name, "s", -1, progressbar.OptionSetSpinnerChangeInterval(0)) // or a goroutine draws it
	}
	return g
}

func (p *Process) newBar(name, unit string, total int64, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetWriter(p.Stderr), progressbar.OptionSetDescription(name),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetItsString(unit), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100 * time.Millisecond),
	}, more...)...)
}

// Show is Add of an interval.
func (g *Progress) Show(iv *load.Interval) {
	var slowest int64
	for _, op := range iv.Ops {
		slowest = max(slowest, op.MaxUS)
	}
	g.Add(iv.Units(), iv.End, slowest)
}

// Beside counts units of another kind, which the next Add shows too.
func (g *Progress) Beside(units int64, unit string) {
	if g != nil {
		g.beside += units
		g.besideUnit = unit
	}
}

// WaitingFor says what the next Add shows in place of rates.
func (g *Progress) WaitingFor(what string) {
	if g != nil {
		g.waiting = what
	}
}

// Wait shows how long a step waits, and what for.
func (g *Progress) Wait(what string, at time.Duration) {
	if g != nil {
		g.waiting = what
		g.Add(int64(at.Seconds())-g.done, at, 0)
	}
}

// besideRate says what is done beside, after a comma.
func (g *Progress) besideRate(at time.Duration) string {
	if g.besideUnit == "" {
		return ""
	}
	return fmt.Sprintf(", %.0f %s/s", float64(g.beside)/at.Seconds(), g.besideUnit)
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
	rate := float64(g.done) / at.Seconds()
	if g.bar != nil {
		// A terminal that can't be drawn on is no reason to stop.
		if g.waiting != "" {
			g.bar.Describe(g.name + ": " + g.waiting)
			_ = g.bar.Add64(units)
		} else if g.limit > 0 {
			g.bar.Describe(fmt.Sprintf("%s, %.0f %s/s%s, slowest %s", g.name, rate, g.unit, g.besideRate(at), seconds(g.maxUS)))
			_ = g.bar.Set64(int64(min(at, g.limit).Seconds()))
		} else {
			g.bar.Describe(fmt.Sprintf("%s%s, slowest %s", g.name, g.besideRate(at), seconds(g.maxUS)))
			_ = g.bar.Add64(units)
		}
		return
	}
	if at < g.next {
		return
	}
	for g.next <= at {
		g.next += plainEvery
	}
	reached, left := g.reached(at, rate)
	if g.waiting != "" || g.total < 0 {
		fmt.Fprintf(g.out, "%s: %s, %s\n", g.name, reached, cmp.Or(g.waiting, "waiting"))
		return
	}
	fmt.Fprintf(g.out, "%s: %s, %.0f %s/s (lately %.0f)%s, slowest %s, %s left\n", g.name, reached, rate, g.unit,
		float64(g.done-g.printed)/(at-g.printedAt).Seconds(), g.besideRate(at), seconds(g.maxUS), left)
	g.printed, g.printedAt = g.done, at
}

// reached says how far the step came, and how long the rest takes.
func (g *Progress) reached(at time.Duration, rate float64) (reached, left string) {
	if g.limit > 0 {
		return fmt.Sprintf("%.0f of %.0f s (%.1f%%), %d %s", at.Seconds(), g.limit.Seconds(), 100*at.Seconds()/g.limit.Seconds(), g.done, g.unit),
			max(g.limit-at, 0).Round(time.Second).String()
	}
	if g.total < 0 {
		return fmt.Sprintf("%d %s", g.done, g.unit), ""
	}
	left = "-"
	if rate > 0 {
		left = (time.Duration(float64(g.total-g.done) / rate * float64(time.Second))).Round(time.Second).String()
	}
	return fmt.Sprintf("%d of %d %s (%.1f%%)", g.done, g.total, g.unit, 100*float64(g.done)/float64(g.total)), left
}

// Done clears a line that was drawn.
func (g *Progress) Done() {
	if g != nil && g.bar != nil {
		_ = g.bar.Clear()
	}
}

func seconds(us int64) string { return fmt.Sprintf("%.3f s", float64(us)/1e6) }
