package ibench

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Plan is the steps of a run, in order, under a name.
type Plan struct {
	Name  string
	Steps []Step
}

// Names of the built-in plans.
const (
	// PlanClassic is the four steps of 2017: load, scan, q1000, q100.
	PlanClassic = "classic"
	// PlanCurrent is those of today: l.i0, l.x, l.i1, l.i2, settle, then range
	// and point queries at rising rates (iq.sh, mdcallag/mytools).
	PlanCurrent = "current"
)

// PlanOptions fill in what a built-in plan leaves to the user.
type PlanOptions struct {
	// Rows is what the load inserts, Rows2 what l.i1 and l.i2 insert together,
	// over all clients.
	Rows, Rows2 int64
	// Indexes is how many secondary indexes the tables get.
	Indexes int
	// QuerySeconds is how long each step of queries takes.
	QuerySeconds float64
	// Rates are the steps of queries; empty for the plan's own.
	Rates []QueryRate
	// NoDeletes leaves the deletes out of the current plan.
	NoDeletes bool
	// PostScan scans once more at the end.
	PostScan bool
}

// QueryRate is a step of queries: rows per second and writer beside them.
type QueryRate struct {
	Rate  int64
	Query QueryKind
}

// ParseRates reads --rates, as in "100:range,100:point,1000": a rate and the
// kind of queries, ranges unless it says so.
func ParseRates(text string) ([]QueryRate, error) {
	var rates []QueryRate
	for part := range strings.SplitSeq(text, ",") {
		number, kind, given := strings.Cut(strings.TrimSpace(part), ":")
		rate, err := strconv.ParseInt(number, 10, 64)
		if err != nil || rate < 1 {
			return nil, fmt.Errorf("%q: a rate is rows per second and writer, with the kind of queries behind it, as 100:range or 100:point", part)
		}
		q := QueryRate{Rate: rate, Query: QueryKind(kind)}
		if !given {
			q.Query = RangeQueries
		}
		if q.Query != RangeQueries && q.Query != PointQueries {
			return nil, fmt.Errorf("%q: the kind of queries is range or point", part)
		}
		rates = append(rates, q)
	}
	return rates, nil
}

// Batches of the scripts (np.sh's rpc, mdcallag/mytools).
const (
	loadBatch  = 100
	writeBatch = 50
	smallBatch = 5
)

// BuiltIn is a plan by its name.
func BuiltIn(name string, o PlanOptions) (Plan, error) {
	p := Plan{Name: name}
	switch name {
	case PlanClassic:
		p.classic(o)
	case PlanCurrent:
		p.current(o)
	default:
		return p, fmt.Errorf("--plan=%s: there are classic and current, and files that end in .toml", name)
	}
	if o.PostScan {
		p.Steps = append(p.Steps, Step{Name: "scan2", Do: ActionScan})
	}
	p.unique()
	return p, nil
}

// filled is a load or a write of a built-in plan, without readers.
func filled(name string, do Action, rows int64, batch int) Step {
	s := DefaultWrite()
	s.Name, s.Do, s.Rows, s.RowsPerCommit, s.Readers = name, do, rows, batch, 0
	return s
}

func (p *Plan) classic(o PlanOptions) {
	load := filled("load", ActionLoad, o.Rows, loadBatch)
	load.Indexes = o.Indexes
	p.Steps = []Step{load, {Name: "scan", Do: ActionScan}}
	rates := o.Rates
	if len(rates) == 0 {
		rates = []QueryRate{{1000, RangeQueries}, {100, RangeQueries}}
	}
	for _, r := range rates {
		s := DefaultWrite()
		s.Name, s.Rate, s.Query, s.Seconds, s.RowsPerCommit = fmt.Sprintf("q%d", r.Rate), r.Rate, r.Query, o.QuerySeconds, loadBatch
		if r.Query == PointQueries {
			s.Name = fmt.Sprintf("qp%d", r.Rate)
		}
		p.Steps = append(p.Steps, s)
	}
}

func (p *Plan) current(o PlanOptions) {
	small := o.Rows2 / 5
	i1 := filled("l.i1", ActionWrite, o.Rows2-small, writeBatch)
	i2 := filled("l.i2", ActionWrite, small, smallBatch)
	i1.Deletes, i2.Deletes = !o.NoDeletes, !o.NoDeletes
	p.Steps = []Step{
		filled("l.i0", ActionLoad, o.Rows, loadBatch), {Name: "l.x", Do: ActionIndex}, i1, i2,
		// The scripts wait min(1200, rows ÷ 1e6 + 60) seconds.
		{Name: "settle", Do: ActionSettle, LimitSeconds: min(1200, math.Round(float64(o.Rows)/1e6+60))},
	}
	rates := o.Rates
	if len(rates) == 0 {
		for _, rate := range []int64{100, 500, 1000} {
			rates = append(rates, QueryRate{rate, RangeQueries}, QueryRate{rate, PointQueries})
		}
	}
	for _, r := range rates {
		s := DefaultWrite()
		s.Name = fmt.Sprintf("qr%d", r.Rate)
		if r.Query == PointQueries {
			s.Name = fmt.Sprintf("qp%d", r.Rate)
		}
		s.Rate, s.Query, s.Seconds, s.RowsPerCommit, s.Deletes = r.Rate, r.Query, o.QuerySeconds, writeBatch, !o.NoDeletes
		p.Steps = append(p.Steps, s)
	}
}

// unique numbers steps that have the name of an earlier one: q100, q100.2.
func (p *Plan) unique() {
	seen := map[string]int{}
	for i := range p.Steps {
		name := p.Steps[i].Name
		if seen[name]++; seen[name] > 1 {
			p.Steps[i].Name = fmt.Sprintf("%s.%d", name, seen[name])
		}
	}
}

// planFile is a plan as a TOML file has it. Keys are named as the flags are.
type planFile struct {
	Step []planStep `toml:"step"`
}

type planStep struct {
	Name          string   `toml:"name"`
	Do            Action   `toml:"do"`
	Rows          *int64   `toml:"rows"`
	Seconds       float64  `toml:"seconds"`
	RowsPerCommit *int     `toml:"rows-per-commit"`
	Writers       *int     `toml:"writers"`
	Rate          int64    `toml:"rate"`
	Pacing        *Pacing  `toml:"pacing"`
	Deletes       bool     `toml:"deletes"`
	Readers       int      `toml:"readers"`
	Query         *string  `toml:"query"`
	RowsPerQuery  *int     `toml:"rows-per-query"`
	QueryRate     int64    `toml:"query-rate"`
	QueryPacing   *Pacing  `toml:"query-pacing"`
	RampFrom      int      `toml:"ramp-from"`
	RampSeconds   float64  `toml:"ramp-seconds"`
	DropAfter     float64  `toml:"drop-after"`
	HTAPSeconds   float64  `toml:"htap-seconds"`
	LongReader    float64  `toml:"long-reader-seconds"`
	Indexes       *int     `toml:"secondary-indexes"`
	Limit         *float64 `toml:"limit"`
}

// misplaced is an error where a key is given that steps of this kind don't take.
func (f planStep) misplaced() error {
	own, takes := planStep{Name: f.Name, Do: f.Do}, "nothing but name and do"
	switch f.Do {
	case ActionScan, ActionIndex:
	case ActionSettle:
		own.Limit, takes = f.Limit, "nothing but name, do and limit"
	case ActionWrite:
		own, takes = f, "the flags of ibench oltp, not secondary-indexes or limit"
		own.Indexes, own.Limit = nil, nil
	case ActionLoad:
		own, takes = f, "the flags of ibench oltp and secondary-indexes, not limit"
		own.Limit = nil
	default:
		return nil // Validate refuses what isn't known
	}
	if f != own {
		return fmt.Errorf("step %s: do=%s takes %s", f.Name, f.Do, takes)
	}
	return nil
}

// ParsePlan reads a plan from a TOML file: a list of [[step]] tables, whose
// keys are the flags of ibench oltp and, for do, the action. A load without
// rows or secondary-indexes has those of the options. A key that isn't known
// is an error, and so is one that steps of this kind don't take.
func ParsePlan(name string, text []byte, o PlanOptions) (Plan, error) {
	var file planFile
	meta, err := toml.NewDecoder(bytes.NewReader(text)).Decode(&file)
	if err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return Plan{}, fmt.Errorf("plan %s, line %d: %s", name, at.Position.Line, at.Message)
		}
		return Plan{}, fmt.Errorf("plan %s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Plan{}, fmt.Errorf("plan %s: key %s is not known; a step has name, do, and the flags of ibench oltp, secondary-indexes or limit", name, unknown[0])
	}
	if len(file.Step) == 0 {
		return Plan{}, fmt.Errorf("plan %s has no [[step]]", name)
	}
	p := Plan{Name: name}
	for i, f := range file.Step {
		if f.Name == "" || f.Do == "" {
			return Plan{}, fmt.Errorf("plan %s: step %d needs a name and what to do: load, index, scan, write or settle", name, i+1)
		}
		if err := f.misplaced(); err != nil {
			return Plan{}, fmt.Errorf("plan %s: %w", name, err)
		}
		s := DefaultWrite()
		s.Name, s.Do, s.Seconds, s.Rate, s.Deletes, s.Readers = f.Name, f.Do, f.Seconds, f.Rate, f.Deletes, f.Readers
		s.Long = Long{HTAPSeconds: f.HTAPSeconds, LongReaderSeconds: f.LongReader}
		s.QueryRate, s.RampFrom, s.RampSeconds, s.DropAfter = f.QueryRate, f.RampFrom, f.RampSeconds, f.DropAfter
		if f.Do == ActionLoad {
			s.Rows, s.Indexes = o.Rows, o.Indexes
		}
		set(&s.Rows, f.Rows)
		set(&s.RowsPerCommit, f.RowsPerCommit)
		set(&s.Writers, f.Writers)
		set(&s.Pacing, f.Pacing)
		set((*string)(&s.Query), f.Query)
		set(&s.RowsPerQuery, f.RowsPerQuery)
		set(&s.QueryPacing, f.QueryPacing)
		set(&s.Indexes, f.Indexes)
		set(&s.LimitSeconds, f.Limit)
		p.Steps = append(p.Steps, s)
	}
	for i, s := range p.Steps {
		for _, other := range p.Steps[:i] {
			if s.Name == other.Name {
				return Plan{}, fmt.Errorf("plan %s has two steps named %s", name, s.Name)
			}
		}
	}
	return p, nil
}

// set replaces a value where one was given.
func set[T any](dst *T, given *T) {
	if given != nil {
		*dst = *given
	}
}

// Choose leaves the steps from one on, only some, or all but some. Names that
// no step has are errors.
func (p Plan) Choose(from string, only, skip []string) (Plan, error) {
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Name)
	}
	at := func(flag, name string) (int, error) {
		for i, have := range names {
			if have == name {
				return i, nil
			}
		}
		return 0, fmt.Errorf("--%s=%s: plan %s has no such step; it has %s", flag, name, p.Name, strings.Join(names, ", "))
	}
	keep := make([]bool, len(names))
	first := 0
	var err error
	if from != "" {
		if first, err = at("from", from); err != nil {
			return p, err
		}
	}
	for i := range keep {
		keep[i] = i >= first && len(only) == 0
	}
	for _, name := range only {
		i, err := at("only", name)
		if err != nil {
			return p, err
		}
		keep[i] = i >= first
	}
	for _, name := range skip {
		i, err := at("skip", name)
		if err != nil {
			return p, err
		}
		keep[i] = false
	}
	chosen := Plan{Name: p.Name}
	for i, s := range p.Steps {
		if keep[i] {
			chosen.Steps = append(chosen.Steps, s)
		}
	}
	if len(chosen.Steps) == 0 {
		return p, fmt.Errorf("--from, --only and --skip leave no step of plan %s", p.Name)
	}
	return chosen, nil
}

// Validate says what is wrong with the steps, all of it at once: each for
// itself, and whether what one needs is there from those before.
func (p Plan) Validate(c Config) error {
	var errs []error
	indexes := -1 // not known: the tables were there before
	for _, s := range p.Steps {
		errs = append(errs, s.Validate(c))
		switch s.Do {
		case ActionLoad:
			indexes = s.Indexes
		case ActionIndex:
			if indexes >= c.SecondaryIndexes {
				errs = append(errs, fmt.Errorf("step %s: the tables have %d secondary indexes by then, and --secondary-indexes=%d", s.Name, indexes, c.SecondaryIndexes))
			}
			indexes = c.SecondaryIndexes
		case ActionWrite:
			if s.Readers > 0 && s.Query == RangeQueries && indexes == 0 {
				errs = append(errs, fmt.Errorf("step %s: range queries need a secondary index, and the tables have none by then", s.Name))
			}
		}
	}
	return errors.Join(errs...)
}
