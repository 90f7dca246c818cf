package ibench

import (
	"errors"
	"fmt"
	"time"

	"insertbench/internal/load"
)

// Action is what a step does.
type Action string

// The actions. A load makes new tables and fills them; a write inserts into
// tables that are there, with deletes and queries beside or without.
const (
	ActionLoad   Action = "load"
	ActionIndex  Action = "index"
	ActionScan   Action = "scan"
	ActionWrite  Action = "write"
	ActionSettle Action = "settle"
)

// Pacing is the shape of a schedule.
type Pacing string

// The shapes: a steady rate; independent arrivals with a mean rate; a rate
// that rises or falls in a straight line to the rate asked for.
const (
	ConstantPacing Pacing = "constant"
	PoissonPacing  Pacing = "poisson"
	RampPacing     Pacing = "ramp"
)

// Step is one step of a plan, resolved.
type Step struct {
	Name string `json:"name"`
	Do   Action `json:"do"`
	// Rows ends the step once all writers together inserted so many, Seconds
	// after so much time; where both are set, whichever comes first. 0 is no
	// limit, and a write has one of the two.
	Rows    int64   `json:"rows"`
	Seconds float64 `json:"seconds"`
	// RowsPerCommit is rows per insert and per delete.
	RowsPerCommit int `json:"rows_per_commit"`
	// Writers is 1, or 0 for a step of queries alone; per client.
	Writers int `json:"writers"`
	// Rate is rows per second and writer, 0 for as fast as they can.
	Rate   int64  `json:"rate_rows_per_second"`
	Pacing Pacing `json:"pacing"`
	// Deletes removes a row from the low end of the key for each one inserted.
	Deletes bool `json:"deletes"`
	// Readers is per client; Query what they ask for, RowsPerQuery how much;
	// QueryRate queries per second and reader, 0 for as fast as they can.
	Readers      int       `json:"readers"`
	Query        QueryKind `json:"query"`
	RowsPerQuery int       `json:"rows_per_query"`
	QueryRate    int64     `json:"rate_queries_per_second"`
	QueryPacing  Pacing    `json:"query_pacing"`
	// RampFrom is the percentage of the rate that ramps begin with, RampSeconds
	// how long they take; the whole step where it is 0.
	RampFrom    int     `json:"ramp_from_percent"`
	RampSeconds float64 `json:"ramp_seconds"`
	// DropAfter drops what is overdue by more seconds; 0 drops nothing.
	DropAfter float64 `json:"drop_after_seconds"`
	Long
	// Indexes is how many secondary indexes a load makes its tables with.
	Indexes int `json:"indexes"`
	// LimitSeconds bounds what a settle waits for.
	LimitSeconds float64 `json:"limit_seconds"`
}

// defaultRowsPerQuery is iibench.py's.
const defaultRowsPerQuery = 10

// DefaultWrite is a write step as its flags have it when none is given: one
// writer and one reader of ranges per client.
func DefaultWrite() Step {
	return Step{
		Name: "oltp", Do: ActionWrite, RowsPerCommit: 100, Writers: 1, Pacing: ConstantPacing,
		Readers: 1, Query: RangeQueries, RowsPerQuery: defaultRowsPerQuery, QueryPacing: ConstantPacing,
	}
}

// maxRowsPerQuery bounds a query's answer, and a point query's parameters.
const maxRowsPerQuery = 10_000

// Validate says what is wrong, all of it at once, in the words of the flags.
func (s Step) Validate(c Config) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch s.Do {
	case ActionWrite, ActionLoad:
		s.validateWriters(c, refuse)
		s.validateReaders(refuse)
		s.Long.validate(refuse)
		s.validateBulk(c, refuse)
		if s.Indexes < 0 || s.Indexes > len(Indexes) {
			refuse("secondary-indexes=%d: it must be from 0 to %d", s.Indexes, len(Indexes))
		}
	case ActionSettle:
		if s.LimitSeconds <= 0 {
			refuse("limit=%g: it must be more than no seconds", s.LimitSeconds)
		}
	case ActionIndex, ActionScan:
	default:
		refuse("do=%s: it must be load, index, scan, write or settle", s.Do)
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("step %s: %w", s.Name, errors.Join(errs...))
}

func (s Step) validateWriters(c Config, refuse func(string, ...any)) {
	if s.Rows < 0 || s.Seconds < 0 || s.Rate < 0 || s.QueryRate < 0 || s.RampSeconds < 0 || s.DropAfter < 0 || s.RampFrom < 0 {
		refuse("rows, seconds, rates, ramp and drop-after can't be negative")
	}
	if s.Rows == 0 && s.Seconds == 0 {
		refuse("it has no end: give rows, seconds, or both for whichever comes first")
	}
	if s.Writers == 0 && s.Readers == 0 {
		refuse("it has neither writers nor readers")
	}
	if s.Writers == 0 && (s.Rows > 0 || s.Rate > 0 || s.Deletes) {
		refuse("without writers there are no rows to insert, no rate and no deletes")
	}
	if s.Writers < 0 || s.Writers > 1 {
		refuse("writers=%d: each client has one or none", s.Writers)
	}
	if s.Rows > 0 && s.Rows < int64(c.Clients) {
		refuse("rows=%d is fewer than %d clients: each needs a row", s.Rows, c.Clients)
	}
	if s.RowsPerCommit < 1 || s.RowsPerCommit > MaxRowsPerCommit {
		refuse("rows-per-commit=%d: it must be from 1 to %d", s.RowsPerCommit, MaxRowsPerCommit)
	}
	if s.Deletes && c.Clients > c.Tables {
		refuse("deletes need a table per client: there are %d clients and %d tables, so that clients share one, and each would remove the others' rows", c.Clients, c.Tables)
	}
	for _, p := range []Pacing{s.Pacing, s.QueryPacing} {
		if p != ConstantPacing && p != PoissonPacing && p != RampPacing {
			refuse("pacing=%s: it must be constant, poisson or ramp", p)
		}
	}
	if s.Pacing == RampPacing && s.Rate == 0 || s.QueryPacing == RampPacing && s.QueryRate == 0 {
		refuse("a ramp needs a rate to end at")
	}
	if (s.Pacing == RampPacing || s.QueryPacing == RampPacing) && s.RampSeconds == 0 && s.Seconds == 0 {
		refuse("a ramp needs ramp-seconds where the step has no seconds")
	}
}

// bulk is whether the step's rows go in by a bulk load.
func (s Step) bulk(c Config) bool { return c.BulkLoad && s.Do == ActionLoad }

// validateBulk refuses what can't be beside rows that show only at the end.
func (s Step) validateBulk(c Config, refuse func(string, ...any)) {
	if !s.bulk(c) {
		return
	}
	if s.Indexes > 0 {
		refuse("--bulk-load: MyRocks loads in the order of the primary key alone, and the step makes %d secondary indexes: build them in a step of their own, as --plan=current does", s.Indexes)
	}
	if s.Seconds > 0 || s.Readers > 0 || s.Deletes || s.wanted() {
		refuse("--bulk-load: the rows can be seen only after the last, so the step ends by rows, and has no queries, deletes or long transactions beside it")
	}
}

func (s Step) validateReaders(refuse func(string, ...any)) {
	if s.Readers < 0 || s.Readers > 1000 {
		refuse("readers=%d: it must be from 0 to 1000 per client", s.Readers)
	}
	if s.Readers == 0 {
		return
	}
	if s.Query != RangeQueries && s.Query != PointQueries {
		refuse("query=%s: it must be range or point", s.Query)
	}
	if s.RowsPerQuery < 1 || s.RowsPerQuery > maxRowsPerQuery {
		refuse("rows-per-query=%d: it must be from 1 to %d", s.RowsPerQuery, maxRowsPerQuery)
	}
}

// workers is how many connections so many clients work with in this step.
func (s Step) workers(clients int) int {
	each := s.Writers + s.Readers
	if s.Deletes {
		each += s.Writers
	}
	return clients * each
}

// clientRows is how many of the step's rows client i inserts: the first Rows
// mod Clients clients insert one more than the others.
func (s Step) clientRows(c Config, i int) int64 {
	c.Rows = s.Rows
	return c.ClientRows(i)
}

// rampLength is how long a ramp takes.
func (s Step) rampLength() time.Duration {
	seconds := s.RampSeconds
	if seconds == 0 {
		seconds = s.Seconds
	}
	return time.Duration(seconds * float64(time.Second))
}

// pacer is a worker's schedule of batches of units at a rate; nil without a
// rate. slot of slots spreads the workers of a role over the first gap, so
// that they don't all send at the same moment.
func (s Step) pacer(kind Pacing, rate int64, batch int, seed uint64, slot, slots int) load.Pacer {
	if rate <= 0 {
		return nil
	}
	gap := time.Duration(float64(batch) / float64(rate) * float64(time.Second))
	by := gap * time.Duration(slot) / time.Duration(slots)
	switch kind {
	case PoissonPacing:
		return &load.Poisson{PerSecond: rate, Batch: int64(batch), Seed: seed}
	case RampPacing:
		return load.Ramp{From: rate * int64(s.RampFrom) / 100, To: rate, Over: s.rampLength(), Batch: int64(batch)}
	default:
		return shifted{load.Constant{PerSecond: rate, Batch: int64(batch)}, by}
	}
}

// minGap keeps a backlog from being sent in a burst: at most twice the rate.
func minGap(rate int64, batch int) time.Duration {
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(batch) / float64(rate) / 2 * float64(time.Second))
}

// shifted is a schedule that begins later.
type shifted struct {
	load.Pacer
	by time.Duration
}

// Start is the intended start of operation n.
func (p shifted) Start(n int64) time.Duration {
	at := p.Pacer.Start(n)
	if at+p.by < at {
		return at
	}
	return at + p.by
}

// targetRate is the rows per second that a writer was asked for over so many
// seconds; 0 without a rate.
func (s Step) targetRate(seconds float64) float64 {
	rate := float64(s.Rate)
	length := s.rampLength().Seconds()
	if s.Pacing != RampPacing || length == 0 || seconds == 0 {
		return rate
	}
	from := rate * float64(s.RampFrom) / 100
	if seconds >= length {
		return ((from+rate)/2*length + rate*(seconds-length)) / seconds
	}
	return from + (rate-from)*seconds/length/2
}
