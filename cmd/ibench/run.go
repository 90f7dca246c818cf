package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
	"insertbench/iostat"
)

// runOptions are the flags that make the steps of a run.
type runOptions struct {
	plan   string
	fill   ibench.PlanOptions
	rates  string
	from   string
	only   string
	skip   string
	resume string
	// long goes to all steps that write to tables that exist.
	long ibench.Long
}

// newRun is a run as it is when no flag is given.
func newRun() (*stepsConfig, *runOptions) {
	cfg := &stepsConfig{Data: ibench.DefaultConfig()}
	// So many rows and twice 40 s of queries are about two minutes on SQLite.
	return cfg, &runOptions{plan: ibench.PlanClassic, fill: ibench.PlanOptions{Rows: 250_000, Rows2: 50_000, QuerySeconds: 40}}
}

func runCommand(p *cli.Process) *urfave.Command {
	cfg, o := newRun()
	return &urfave.Command{
		Name:  "run",
		Usage: "run a whole plan: load, scan, and queries beside inserts at a rate, and print all tables",
		Flags: slices.Concat(planFlags(o, cfg), tableFlags(&cfg.Data.Shape), longFlags(&o.long), rowFlags(&cfg.Data), cli.ConnectionFlags(), cli.MeasuringFlags(&cfg.Measuring)),
		Action: func(c *urfave.Context) error {
			if o.resume != "" {
				return resumeRun(c, p, cfg, o)
			}
			if err := cfg.resolvePlan(c, p, o); err != nil {
				return err
			}
			return runPlan(c.Context, p, *cfg, nil)
		},
	}
}

// planFlags say which steps to run on how much data.
func planFlags(o *runOptions, cfg *stepsConfig) []urfave.Flag {
	const plan, data = "Plan", "Data"
	return []urfave.Flag{
		cli.TextFlag("plan", "classic (load, scan, q1000, q100), current (l.i0, l.x, l.i1, l.i2, settle, qr100 … qp1000), or a TOML file `NAME`", &o.plan, plan),
		&urfave.StringFlag{Name: "rates", Usage: "`LIST` of the steps of queries: rows per second and writer, with :range or :point, as 100:range,100:point (default: the plan's)", Destination: &o.rates, Category: plan},
		&urfave.Float64Flag{Name: "query-seconds", Usage: "each step of queries takes `S` seconds", Value: o.fill.QuerySeconds, Destination: &o.fill.QuerySeconds, Category: plan},
		&urfave.BoolFlag{Name: "no-deletes", Usage: "leave the deletes out of the current plan", Destination: &o.fill.NoDeletes, Category: plan},
		&urfave.BoolFlag{Name: "post-scan", Usage: "scan once more at the end", Destination: &o.fill.PostScan, Category: plan},
		&urfave.StringFlag{Name: "from", Usage: "begin with step `NAME`, on the tables as they are", Destination: &o.from, Category: plan},
		&urfave.StringFlag{Name: "only", Usage: "run only the steps of comma list `NAMES`", Destination: &o.only, Category: plan},
		&urfave.StringFlag{Name: "skip", Usage: "leave out the steps of comma list `NAMES`", Destination: &o.skip, Category: plan},
		&urfave.StringFlag{Name: "resume", Usage: "go on with the run whose record is in folder `RUN`, from its first step that isn't complete", Destination: &o.resume, Category: plan},
		strictFlag(&cfg.Strict),
		&urfave.BoolFlag{Name: "restart-server", Usage: "restart the server that --server started before each step but the first, so that it begins with empty caches", Destination: &cfg.RestartServer, Category: plan},
		cli.CountFlag("rows", "the load inserts `N` rows in total, as 1000000, 250k or 10m", &o.fill.Rows, data),
		cli.CountFlag("rows2", "l.i1 and l.i2 of the current plan insert `N` rows in total, four fifths and one fifth", &o.fill.Rows2, data),
		&urfave.IntFlag{Name: "clients", Usage: "`N` clients, each with a writer and a reader", Value: cfg.Data.Clients, Destination: &cfg.Data.Clients, Category: data},
		&urfave.IntFlag{Name: "tables", Usage: "`N` tables: 1, or a divisor of the clients (default: one per client)", Destination: &cfg.Data.Tables, Category: data},
		&urfave.IntFlag{Name: "secondary-indexes", Usage: "`N` secondary indexes, 0 to 3", Value: cfg.Data.SecondaryIndexes, Destination: &cfg.Data.SecondaryIndexes, Category: data},
		bulkFlag(&cfg.Data, data),
		uniqueFlag(&cfg.Data, data),
		&urfave.BoolFlag{Name: "drop", Usage: "drop and replace the benchmark's tables that exist", Destination: &cfg.Data.Drop, Category: data},
		cli.TextFlag("verify", "`MODE` of comparing the tables with the rows of the seed at the end: full (counts and sums), count or off", (*string)(&cfg.Data.Verify), data),
	}
}

// resolvePlan makes the steps of the flags, reads the other flags, and refuses
// what can't work.
func (cfg *stepsConfig) resolvePlan(c *urfave.Context, p *cli.Process, o *runOptions) error {
	if !c.IsSet("tables") {
		cfg.Data.Tables = cfg.Data.Clients
	}
	plan, err := o.steps(cfg.Data.SecondaryIndexes)
	if err == nil {
		plan, err = plan.Choose(o.from, list(o.only), list(o.skip))
	}
	if err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	if err := o.holdLong(plan.Steps); err != nil {
		return err
	}
	cfg.Steps, cfg.plan = plan.Steps, plan.Name
	if cfg.Data.BulkLoad && !slices.ContainsFunc(cfg.Steps, func(s ibench.Step) bool { return s.Do == ibench.ActionLoad }) {
		return cli.Usagef("--bulk-load is of steps that load new tables, and none of the steps does")
	}
	cfg.Data.Rows = o.fill.Rows
	if err := cfg.validate(cfg.Data); err != nil {
		return err
	}
	if err := plan.Validate(cfg.Data); err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	if err := cfg.Measuring.Resolve(c); err != nil {
		return err
	}
	cfg.Database, err = cli.ResolveConnection(c, p)
	cfg.Database.MustExist = !cfg.loads()
	if err != nil {
		return err
	}
	if err := setSessions(&cfg.Database, cfg.Data); err != nil {
		return err
	}
	return cfg.checkRestart()
}

// checkRestart refuses to restart a server that isn't the run's own.
func (cfg *stepsConfig) checkRestart() error {
	if cfg.RestartServer && cfg.Database.Private.Program == "" {
		return cli.Usagef("--restart-server restarts a server that --server started; a server that runs already is never restarted")
	}
	return nil
}

// holdLong gives the steps that write to tables that exist the transactions
// that the flags ask for.
func (o *runOptions) holdLong(steps []ibench.Step) error {
	if o.long == (ibench.Long{}) {
		return nil
	}
	given := false
	for i := range steps {
		if steps[i].Do == ibench.ActionWrite {
			steps[i].Long, given = o.long, true
		}
	}
	if !given {
		return cli.Usagef("--htap-seconds and --long-reader-seconds are of steps that write to tables that exist, and none of the steps does; a plan of your own can have them in a load")
	}
	return nil
}

// loads is whether the steps make their tables themselves.
func (cfg *stepsConfig) loads() bool { return cfg.left()[0].Do == ibench.ActionLoad }

// steps are those of the plan that the flags name.
func (o *runOptions) steps(indexes int) (ibench.Plan, error) {
	o.fill.Indexes = indexes
	if o.rates != "" {
		var err error
		if o.fill.Rates, err = ibench.ParseRates(o.rates); err != nil {
			return ibench.Plan{}, fmt.Errorf("--rates=%s: %w", o.rates, err)
		}
	}
	if !strings.HasSuffix(o.plan, ".toml") {
		return ibench.BuiltIn(o.plan, o.fill)
	}
	if o.rates != "" || o.fill.NoDeletes || o.fill.PostScan {
		return ibench.Plan{}, fmt.Errorf("--rates, --no-deletes and --post-scan change the built-in plans; write into %s what its steps do", o.plan)
	}
	text, err := os.ReadFile(o.plan)
	if err != nil {
		return ibench.Plan{}, fmt.Errorf("read the plan: %w", err)
	}
	return ibench.ParsePlan(strings.TrimSuffix(filepath.Base(o.plan), ".toml"), text, o.fill)
}

// list splits a comma list; empty is none.
func list(text string) []string {
	if text == "" {
		return nil
	}
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// runPlan connects, says to whom, runs the steps and prints all tables. after
// is the run that it goes on with, nil where it begins anew.
func runPlan(ctx context.Context, p *cli.Process, cfg stepsConfig, after *earlier) (err error) {
	ctx, stop := p.NotifyContext(ctx)
	defer stop()
	defer func() { err = cli.Interrupted(ctx, err) }()
	cfg.Database.KeepRows = true
	if after != nil {
		p.Warnf("%s", after.note)
	}
	s, err := cli.StartSession(ctx, p, cfg.Database, cfg.Measuring)
	if err != nil {
		return err
	}
	defer s.Close()
	db, err := asDatabase(s.Server)
	if err != nil {
		return err
	}
	b := &ibench.Bench{Config: cfg.Data, DB: db, Meter: s.Meter, Punctual: true}
	if err := b.Check(ctx, cfg.left()); err != nil {
		return err
	}
	switch {
	case cfg.loads():
		if err := ibench.Prepare(ctx, cfg.Data, db); err != nil {
			return err
		}
		s.NeedBytes = iostat.Some(cfg.Data.DiskBytes())
	case after != nil:
		b.State = after.state
		if err := after.check(ctx, b); err != nil {
			return err
		}
	default:
		if err := b.Attach(ctx); err != nil {
			return err
		}
		if err := b.CheckFirst(cfg.left()[0]); err != nil {
			return err
		}
	}
	if err := s.Record(ctx, "ibench", cfg.plan, cfg); err != nil {
		return err
	}
	if after != nil {
		s.Run.Steps = after.steps
		s.Run.Warnings = append(s.Run.Warnings, after.note)
	}
	b.Writer = s.Writer
	return finishSteps(ctx, p, s, b, cfg)
}
