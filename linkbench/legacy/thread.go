package legacy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"insertbench/linkbench"
)

// source says what a thread's statistics of a name are taken from.
type source struct {
	name, op string
	rows     bool // how many rows, not how long
}

// sources lists the statistics of a thread in the order of the original, which has none of DELETE_LINK.
func sources() []source {
	return []source{
		{"LOAD_NODE_BULK", "load_node", false}, {"LOAD_LINKS_BULK", "load_link", false},
		{"LOAD_COUNTS_BULK", "load_count", false}, {"LOAD_LINKS_BULK_NLINKS", "load_link", true},
		{"LOAD_COUNTS_BULK_NLINKS", "load_count", true},
		{"MULTIGET_LINK", "MULTIGET_LINK", false}, {"GET_LINKS_LIST", "GET_LINKS_LIST", false},
		{"COUNT_LINK", "COUNT_LINK", false}, {"UPDATE_LINK", "UPDATE_LINK", false}, {"ADD_LINK", "ADD_LINK", false},
		{"RANGE_SIZE", "GET_LINKS_LIST", true}, {"ADD_NODE", "ADD_NODE", false}, {"UPDATE_NODE", "UPDATE_NODE", false},
		{"DELETE_NODE", "DELETE_NODE", false}, {"GET_NODE", "GET_NODE", false},
	}
}

// series is what a thread keeps of one name.
type series struct {
	source
	at            int   // position of the operation
	total, errors int64 // since the phase began; those that failed are in errors alone
	shown         int64 // errors already printed
	sample        reservoir
}

// Thread keeps the statistics of one worker of a phase and prints them every so often. It belongs to the worker's
// goroutine, which calls Observe and Idle and prints in its own time between two operations; Phase.End takes it over.
// The lock is for that handover, and for workers that were given up and come back after it: nobody else ever waits for it.
// A thread's memory is bounded by 8 bytes × MaxSamples × 10 names of requests or 5 of a load.
type Thread struct {
	phase  *Phase
	number int
	// ops are the positions of operations whose rows are added up, -1 where
	// the phase has none.
	ops struct{ links, counts, multiget, list int }

	mu     sync.Mutex
	ended  bool
	rng    *rand.Rand
	series []series
	// began and at are when the first operation was sent and the last one ended, reset when samples were last printed.
	began, at, reset time.Time
	unreported       int64
	links, counts    int64 // loaded, not reported
	total            Requester
	retried          retried
}

func newThread(p *Phase, number int, ops []string) *Thread {
	t := &Thread{phase: p, number: number, rng: rand.New(rand.NewPCG(1, uint64(number))), total: Requester{Thread: number}, retried: newRetried(len(ops))}
	at := func(op string) int { return slices.Index(ops, op) }
	t.ops.links, t.ops.counts, t.ops.multiget, t.ops.list = at("load_link"), at("load_count"), at("MULTIGET_LINK"), at("GET_LINKS_LIST")
	for _, s := range sources() {
		if i := at(s.op); i >= 0 {
			t.series = append(t.series, series{source: s, at: i, sample: reservoir{limit: p.set.MaxSamples}})
		}
	}
	return t
}

func (t *Thread) name() string { return fmt.Sprintf("Thread-%d", t.number) }

// Observe counts an operation.
func (t *Thread) Observe(o linkbench.Observed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if t.at = o.At; t.began.IsZero() {
		t.began = o.At.Add(-o.Took)
		t.reset = t.began
		t.phase.begin.Do(func() { t.phase.start = t.began })
	}
	for i := range t.series {
		s := &t.series[i]
		switch {
		case s.at != o.Op:
		case o.Failed && s.rows: // how many rows there would have been nobody knows
		case o.Failed:
			s.errors++
		case s.rows:
			s.total++
			s.sample.add(o.Rows, t.rng)
		default:
			s.total++
			s.sample.add(o.Took.Microseconds(), t.rng)
		}
	}
	t.count(o)
}

// count adds to what is told of the thread and of all together.
func (t *Thread) count(o linkbench.Observed) {
	t.unreported++
	t.total.Requests++
	t.retried.count(o)
	if o.Failed {
		return
	}
	switch o.Op {
	case t.ops.links:
		t.links += o.Rows
	case t.ops.counts:
		t.counts += o.Rows
	case t.ops.multiget:
		t.total.Found += o.Rows
		if o.Rows == 0 {
			t.total.NotFound++
		}
	case t.ops.list:
		t.total.ListQueries++
		if o.History {
			t.total.HistoryQueries++
		}
	}
}

// Idle prints what is due.
func (t *Thread) Idle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if t.phase.isLoad || t.unreported >= reportEvery {
		t.report()
	}
	if t.phase.set.Display > 0 && t.at.Sub(t.reset) >= t.phase.set.Display {
		t.display()
	}
}

// report adds to what all threads have done.
func (t *Thread) report() {
	switch {
	case t.unreported == 0:
	case t.phase.isLoad:
		t.phase.loaded(t, t.links, t.counts)
	default:
		t.phase.requested(t, t.unreported)
	}
	t.unreported, t.links, t.counts = 0, 0, 0
}

// display prints the statistics since the last ones and empties the samples.
func (t *Thread) display() {
	var all []Sample
	for i := range t.series {
		s := &t.series[i]
		if s.sample.seen == 0 && s.errors == s.shown {
			continue
		}
		all = append(all, Sample{Thread: t.number, Op: s.name, TotalOps: s.total, TotalErrors: s.errors, Ops: s.sample.seen,
			DurationMS: t.at.Sub(t.reset).Milliseconds(), Values: s.sample.values})
		s.shown = s.errors
	}
	t.phase.log.samples(t.name(), all)
	for i := range t.series {
		t.series[i].sample.reset()
	}
	t.reset = t.at
}

// end prints the rest and hands over the retries.
func (t *Thread) end() retried {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report()
	t.display()
	if t.ended = true; !t.phase.isLoad {
		t.total.Took = t.at.Sub(t.began)
		t.phase.log.Line(t.name(), t.total.Line())
	}
	return t.retried
}
