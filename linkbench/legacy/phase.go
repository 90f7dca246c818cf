package legacy

import (
	"sync"
	"sync/atomic"
	"time"

	"insertbench/linkbench"
	"insertbench/results"
)

// reportEvery is how many requests a thread makes before it adds them to those of all, as in the original.
const reportEvery = 250

// Settings say how much is printed of a phase under way, and how often.
type Settings struct {
	Display         time.Duration // between statistics of a thread; 0 for at its end alone
	MaxSamples      int           // values kept of each operation and thread
	LoadProgress    int64         // links between lines of progress; 0 for none
	RequestProgress int64         // requests between lines of progress; 0 for none
}

// Phase is a load or a run of requests. What its threads share are counters, added to after each batch of a load and
// after 250 requests; the rest of each thread's state is the thread's own.
type Phase struct {
	log     *Log
	set     Settings
	ops     []string
	threads []*Thread

	begin sync.Once
	start time.Time // when the first operation was sent

	load          Load // the goal
	counts        int64
	maxTimeS      int64
	planned       int64
	isLoad        bool
	done          atomic.Int64 // requests
	links, stored atomic.Int64 // links and counts loaded
}

// Phase begins a phase. A load's goal gives its ids, links and counts to come; it is unused with requests.
func (l *Log) Phase(set Settings, p linkbench.Phase, goal Load) *Phase {
	phase := &Phase{log: l, set: set, ops: p.Ops, isLoad: p.Kind == results.KindLoad, load: Load{IDs: goal.IDs}, counts: goal.Counts,
		planned: p.Units, maxTimeS: int64(p.Limit / time.Second)}
	for i := range p.Workers {
		phase.threads = append(phase.threads, newThread(phase, p.First+i, p.Ops))
	}
	return phase
}

// Thread is what observes a worker, by its place from 0.
func (p *Phase) Thread(worker int) *Thread { return p.threads[worker] }

// End prints what threads have left to say, and the retries of all. What a thread does afterwards, one that was given
// up, isn't seen.
func (p *Phase) End() {
	all := newRetried(len(p.ops))
	for _, t := range p.threads {
		all.add(t.end())
	}
	for _, line := range all.lines(p.ops) {
		p.log.Line("main", line)
	}
}

// Requests is how many were made once the phase has ended, those that failed among them: the original counts them as
// done.
func (p *Phase) Requests() int64 { return p.done.Load() }

// requested adds requests of a thread to those of all.
func (p *Phase) requested(t *Thread, n int64) {
	done := p.done.Add(n)
	if crossed(done, n, p.set.RequestProgress) {
		p.log.Line(t.name(), Requests{Done: done, Planned: p.planned, Took: t.at.Sub(p.start), MaxTimeS: p.maxTimeS}.Progress())
	}
}

// loaded adds a thread's batch of links or counts to those of all. An id counts once its counts are stored: the load
// knows how many there will be, and all ids have about as many.
func (p *Phase) loaded(t *Thread, links, counts int64) {
	stored, all := p.stored.Add(counts), p.links.Add(links)
	if !crossed(all, links, p.set.LoadProgress) {
		return
	}
	now := Load{IDs: p.load.IDs, Links: all, Counts: stored, Took: t.at.Sub(p.start)}
	if p.counts > 0 {
		now.IDsDone = int64(float64(now.IDs) * float64(stored) / float64(p.counts))
	}
	p.log.Line(t.name(), now.Progress())
}

// crossed says whether the last n of so many went past a multiple of the interval.
func crossed(done, n, interval int64) bool {
	return interval > 0 && done/interval > (done-n)/interval
}
