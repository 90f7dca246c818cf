package ibench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/results"
)

// Bench runs steps on tables whose contents it knows.
type Bench struct {
	Config Config
	DB     Database
	Meter  *step.Meter
	Writer *results.Writer
	// State is what the tables hold.
	State State
	// Punctual has those that keep a rate wait for the kernel's timers, see
	// load.Run; leave it out where Go's clock is faked.
	Punctual bool
	// Progress, if set, is called as a step begins, and gives what each
	// second's share is shown to.
	Progress func(Goal) func(Progressed)

	// unknown has, per client, the rows whose statements were never answered.
	unknown []unknownRows
	// number counts steps, so that each draws queries of its own.
	number int
}

// Goal is what a step is to reach: Total of Unit, or what it can until Limit.
// Beside is the unit of what it does beside, empty for nothing. Waiting, if
// set, is what it waits for at the moment, empty where that isn't known.
type Goal struct {
	Step, Unit, Beside string
	Total              int64
	Limit              time.Duration
	Waiting            func() string
}

// Progressed is a second's share: what was done of the goal's units, the
// offset from the step's start, and the slowest statement.
type Progressed struct {
	Done, Beside int64
	At           time.Duration
	MaxUS        int64
}

// unknownRows are rows that may have been inserted, or deleted, or not.
type unknownRows struct{ inserted, deleted int64 }

// Do runs one step; a scan is measured as several. The steps it returns are
// valid as far as they came, whatever the error.
func (b *Bench) Do(ctx context.Context, s Step) ([]results.Step, error) {
	b.number++
	if b.unknown == nil {
		b.unknown = make([]unknownRows, b.Config.Clients)
	}
	var steps []results.Step
	var err error
	switch s.Do {
	case ActionLoad:
		steps, err = one(b.load(ctx, s))
	case ActionIndex:
		steps, err = one(b.index(ctx, s))
	case ActionScan:
		steps, err = b.scan(ctx, s)
	case ActionSettle:
		steps, err = one(b.settle(ctx, s))
	default:
		steps, err = one(b.write(ctx, s))
	}
	for i := range steps {
		steps[i].State = State{Clients: slices.Clone(b.State.Clients), Indexes: b.State.Indexes}
	}
	if err != nil {
		if n := len(steps); n > 0 && steps[n-1].Complete {
			steps[n-1].Complete, steps[n-1].Reason = false, err.Error()
		}
		return steps, fmt.Errorf("step %s: %w", s.Name, err)
	}
	return steps, nil
}

// one is the list of a step that was begun.
func one(s results.Step, err error) ([]results.Step, error) {
	if s.Name == "" {
		return nil, err
	}
	return []results.Step{s}, err
}

// load makes the tables and fills them.
func (b *Bench) load(ctx context.Context, s Step) (results.Step, error) {
	c := b.Config
	c.IndexesAt, c.SecondaryIndexes = IndexesAtStart, s.Indexes
	if s.Rows > 0 {
		c.Rows = s.Rows // which partitions are to split
	}
	if err := createTables(ctx, c, b.DB); err != nil {
		return results.Step{}, err
	}
	b.State = State{Clients: make([]Position, c.Clients), Indexes: s.Indexes}
	b.unknown = make([]unknownRows, c.Clients)
	return b.write(ctx, s)
}

// index builds the secondary indexes that the tables don't have yet.
func (b *Bench) index(ctx context.Context, s Step) (results.Step, error) {
	missing, err := b.missing()
	if err != nil {
		return results.Step{}, err
	}
	built, err := b.Meter.Run(ctx, b.Writer, indexStep(s.Name, b.DB, b.Config, b.State.tableRows(b.Config), missing, b.shown(s, b.State.Rows())))
	if err == nil {
		b.State.Indexes = b.Config.SecondaryIndexes
	}
	return built, err
}

// missing are the secondary indexes to build; none is an error of kind
// drivers.ErrConfig.
func (b *Bench) missing() ([]Index, error) {
	all := b.Config.SecondaryIndexList()
	if b.State.Indexes >= len(all) {
		return nil, drivers.Configf("the tables have %d secondary indexes already; there is nothing to build", b.State.Indexes)
	}
	return all[b.State.Indexes:], nil
}

// CheckFirst refuses a first step that can't be done on the tables that Attach
// found, as an error of kind drivers.ErrConfig.
func (b *Bench) CheckFirst(s Step) error {
	var err error
	switch s.Do {
	case ActionIndex:
		_, err = b.missing()
	case ActionWrite:
		err = b.canWrite(s)
	}
	if err != nil {
		return fmt.Errorf("step %s: %w", s.Name, err)
	}
	return nil
}

// shown is what a step's intervals are shown to; nil where nobody looks. rows
// are those to reach; where there are none time ends the step, and where it
// has no operation that counts, as settling, the seconds are shown.
func (b *Bench) shown(s Step, rows int64) func(*load.Interval) {
	return b.shownAs(s, Goal{Step: s.Name, Unit: "rows", Total: rows})
}

// shownAs is shown for a goal whose unit follows from the step.
func (b *Bench) shownAs(s Step, goal Goal) func(*load.Interval) {
	if b.Progress == nil {
		return nil
	}
	counts := s.Writers > 0 || s.Readers > 0
	switch {
	case goal.Total > 0:
	case !counts:
		goal.Unit, goal.Total = "s", max(1, int64(s.Seconds))
	default:
		goal.Limit = time.Duration(s.Seconds * float64(time.Second))
	}
	if counts && s.Writers == 0 {
		goal.Unit = "queries"
	}
	if s.Writers > 0 && s.Readers > 0 {
		goal.Beside = "queries"
	}
	show := b.Progress(goal)
	var seconds int64
	return func(iv *load.Interval) {
		last := len(iv.Ops) - 1
		p := Progressed{Done: iv.Ops[0].Units, At: iv.End}
		switch {
		case goal.Unit == "s":
			p.Done = int64(iv.End.Seconds()) - seconds
			seconds += p.Done
		case goal.Unit == "queries":
			p.Done = iv.Ops[last].Units
		case goal.Beside != "":
			p.Beside = iv.Ops[last].Units
		}
		for _, op := range iv.Ops {
			p.MaxUS = max(p.MaxUS, op.MaxUS)
		}
		show(p)
	}
}

// reader, deleting and settler are the database's optional abilities.
func (b *Bench) reader() (Reader, error) {
	if r, ok := b.DB.(Reader); ok {
		return r, nil
	}
	return nil, drivers.Configf("this version doesn't read from %s: scans and queries are not possible", b.DB.Identity().Product)
}

func (b *Bench) deleting() (DeletingDatabase, error) {
	if d, ok := b.DB.(DeletingDatabase); ok {
		return d, nil
	}
	return nil, drivers.Configf("this version doesn't delete from %s", b.DB.Identity().Product)
}

func (b *Bench) settler() (Settler, error) {
	if s, ok := b.DB.(Settler); ok {
		return s, nil
	}
	return nil, drivers.Configf("this version doesn't know how to bring %s to rest", b.DB.Identity().Product)
}

// Check refuses what can be known to fail before anything is touched: batches
// above the server's limits, and steps that the database can't do. Errors are
// of kind drivers.ErrConfig.
func (b *Bench) Check(ctx context.Context, steps []Step) error {
	var errs []error
	checked := map[int]bool{}
	for _, s := range steps {
		var err error
		switch s.Do {
		case ActionScan:
			_, err = b.reader()
		case ActionIndex:
			err = b.Config.checkShape(b.DB)
		case ActionSettle:
			_, err = b.settler()
		case ActionLoad, ActionWrite:
			if s.bulk(b.Config) {
				err = checkBulkLoad(ctx, b.DB)
			}
			if s.Writers > 0 && err == nil && !checked[s.RowsPerCommit] {
				checked[s.RowsPerCommit] = true
				err = b.DB.CheckBatch(ctx, s.RowsPerCommit, b.Config.DataLengthMax)
			}
			if s.Readers > 0 && err == nil {
				_, err = b.reader()
			}
			if s.Deletes && err == nil {
				_, err = b.deleting()
			}
			if s.wanted() && err == nil {
				_, err = b.longDatabase()
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("step %s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}
