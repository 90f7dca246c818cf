package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"insertbench/drivers"
	"insertbench/ibench"
	"insertbench/internal/cli"
	"insertbench/results"
)

// stepsConfig is all that a command of one step or several was asked for,
// resolved; it goes into the record.
type stepsConfig struct {
	Database cli.Connection `json:"database"`
	Data     ibench.Config  `json:"data"`
	Steps    []ibench.Step  `json:"steps"`
	Strict   bool           `json:"strict"`
	// RestartServer restarts the private server before each step but the first.
	RestartServer bool          `json:"restart_server"`
	Measuring     cli.Measuring `json:"measuring"`

	// plan names the record.
	plan string
	// kept is how many of Steps, from the first, an earlier run has done.
	kept int
	// findTables and findClients are true where no flag said how many there
	// are: then the tables that are there do.
	findTables, findClients bool
}

// left is what there is to do of Steps.
func (cfg *stepsConfig) left() []ibench.Step { return cfg.Steps[cfg.kept:] }

// dataFlags say which rows the tables hold, for steps on tables that exist.
func dataFlags(cfg *ibench.Config) []urfave.Flag {
	const category = "Data"
	cfg.Tables, cfg.Clients = 0, 0
	return append([]urfave.Flag{
		&urfave.IntFlag{Name: "clients", Usage: "`N` clients, as in the load (default: one per table)", Destination: &cfg.Clients, Category: category},
		&urfave.IntFlag{Name: "tables", Usage: "`N` tables, as in the load (default: those that are there)", Destination: &cfg.Tables, Category: category},
		cli.TextFlag("verify", "`MODE` of comparing the tables with the rows of the seed at the end: full (counts and sums), count or off", (*string)(&cfg.Verify), category),
	}, rowFlags(cfg)...)
}

// stepCommand is a command that runs steps on tables that exist. resolve gives
// the steps once the flags were read.
func stepCommand(p *cli.Process, name, usage string, cfg *stepsConfig, flags []urfave.Flag, steps func(*urfave.Context) ([]ibench.Step, error)) *urfave.Command {
	cfg.plan = name
	return &urfave.Command{
		Name: name, Usage: usage,
		Flags: slices.Concat(flags, dataFlags(&cfg.Data), cli.ConnectionFlags(), cli.MeasuringFlags(&cfg.Measuring)),
		Action: func(c *urfave.Context) error {
			var err error
			if cfg.Steps, err = steps(c); err != nil {
				return err
			}
			if err := cfg.resolve(c, p); err != nil {
				return err
			}
			return runSteps(c.Context, p, *cfg)
		},
	}
}

// resolve reads all flags into the configuration and refuses what can't work.
func (cfg *stepsConfig) resolve(c *urfave.Context, p *cli.Process) error {
	if err := cfg.Measuring.Resolve(c); err != nil {
		return err
	}
	return cfg.resolveData(c, p)
}

// resolveData reads the flags that say which rows and which database are meant.
func (cfg *stepsConfig) resolveData(c *urfave.Context, p *cli.Process) error {
	cfg.findTables, cfg.findClients = !c.IsSet("tables"), !c.IsSet("clients")
	check := cfg.Data
	// What isn't known before the tables were seen is taken at its best; it is
	// checked again once they were.
	if cfg.findTables {
		check.Tables = max(1, check.Clients)
	}
	if cfg.findClients {
		check.Clients = max(1, check.Tables)
	}
	if err := cfg.validate(check); err != nil {
		return err
	}
	var err error
	cfg.Database, err = cli.ResolveConnection(c, p)
	cfg.Database.MustExist = true
	if err != nil {
		return err
	}
	return setSessions(&cfg.Database, cfg.Data)
}

func (cfg *stepsConfig) validate(data ibench.Config) error {
	data.Rows = max(data.Rows, int64(data.Clients))
	data.IndexesAt = ibench.IndexesAtEnd // when they are built is in the steps
	errs := []error{data.Validate()}
	for _, s := range cfg.Steps {
		errs = append(errs, s.Validate(data))
	}
	if err := errors.Join(errs...); err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	return nil
}

// findData counts the tables where no flag did.
func (cfg *stepsConfig) findData(ctx context.Context, db ibench.Tables) error {
	if cfg.findTables {
		names, err := db.ListTables(ctx)
		if err != nil {
			return fmt.Errorf("list the benchmark's tables: %w", err)
		}
		cfg.Data.Tables = 0
		for slices.Contains(names, ibench.TableName(cfg.Data.Tables)) {
			cfg.Data.Tables++
		}
		if cfg.Data.Tables == 0 {
			return drivers.Configf("there is no table %s: make it with ibench load", ibench.TableName(0))
		}
	}
	if cfg.findClients {
		cfg.Data.Clients = cfg.Data.Tables
	}
	return cfg.validate(cfg.Data)
}

// asDatabase is a server as the Insert Benchmark needs it; one that can't be is
// an error of kind drivers.ErrConfig.
func asDatabase(server drivers.Server) (ibench.Database, error) {
	db, ok := server.(ibench.Database)
	if !ok {
		return nil, drivers.Configf("--dbms=%s doesn't run the Insert Benchmark", server.Identity().DBMS)
	}
	return db, nil
}

// runSteps connects, says to whom, finds out what the tables hold, runs the
// steps and prints their tables.
func runSteps(ctx context.Context, p *cli.Process, cfg stepsConfig) (err error) {
	ctx, stop := p.NotifyContext(ctx)
	defer stop()
	defer func() { err = cli.Interrupted(ctx, err) }()
	s, err := cli.StartSession(ctx, p, cfg.Database, cfg.Measuring)
	if err != nil {
		return err
	}
	defer s.Close()
	db, err := asDatabase(s.Server)
	if err != nil {
		return err
	}
	if err := cfg.findData(ctx, db); err != nil {
		return err
	}
	b := &ibench.Bench{Config: cfg.Data, DB: db, Meter: s.Meter, Punctual: true}
	if err := b.Check(ctx, cfg.left()); err != nil {
		return err
	}
	if err := b.Attach(ctx); err != nil {
		return err
	}
	if err := b.CheckFirst(cfg.left()[0]); err != nil {
		return err
	}
	if err := s.Record(ctx, "ibench", cfg.plan, cfg); err != nil {
		return err
	}
	b.Writer = s.Writer
	return finishSteps(ctx, p, s, b, cfg)
}

// finishSteps runs the steps, verifies, and saves and prints what came of it.
func finishSteps(ctx context.Context, p *cli.Process, s *cli.Session, b *ibench.Bench, cfg stepsConfig) error {
	var progress *cli.Progress
	b.Progress = func(g ibench.Goal) func(ibench.Progressed) {
		progress.Done()
		if g.Limit > 0 {
			progress = s.TimedProgress(g.Step, g.Unit, g.Limit)
		} else {
			progress = s.Progress(g.Step, g.Unit, g.Total)
		}
		return func(p ibench.Progressed) {
			if g.Beside != "" {
				progress.Beside(p.Beside, g.Beside)
			}
			if g.Waiting != nil {
				progress.WaitingFor(g.Waiting())
			}
			progress.Add(p.Done, p.At, p.MaxUS)
		}
	}
	var err error
	for i, step := range cfg.left() {
		if cfg.RestartServer && i > 0 {
			if err = restart(ctx, s, b); err != nil {
				break
			}
		}
		var done []results.Step
		done, err = b.Do(ctx, step)
		s.Run.Steps = append(s.Run.Steps, done...)
		if err != nil {
			break
		}
		if err = s.Writer.Save(s.Run); err != nil {
			break
		}
	}
	progress.Done()
	s.Run.Verify, err = verifySteps(ctx, b, err)
	if errors.Is(err, ibench.ErrVerify) {
		err = &cli.Error{Code: cli.Unverified, Err: err}
	}
	if missed := missedRates(&s.Run); len(missed) > 0 {
		s.Run.Warnings = append(s.Run.Warnings, missed...)
		if cfg.Strict && err == nil {
			err = &cli.Error{Code: cli.RateMissed, Err: errors.New(strings.Join(missed, "\n"))}
		} else if !cfg.Measuring.Quiet {
			for _, line := range missed {
				p.Warnf("%s", line)
			}
		}
	}
	if _, _, e := remaining(&s.Run, cfg.Steps, s.Writer.Dir()); e == nil && !errors.Is(err, ibench.ErrVerify) {
		s.Resume = "ibench run"
	}
	return s.Finish(cli.Interrupted(ctx, err), results.Sections)
}

// restart starts the private server anew before a step.
func restart(ctx context.Context, s *cli.Session, b *ibench.Bench) error {
	if err := s.Restart(ctx); err != nil {
		return err
	}
	db, err := asDatabase(s.Server)
	if err != nil {
		return err
	}
	b.DB, b.Meter = db, s.Meter
	return nil
}

// verifySteps compares the tables with what the steps say they hold. After a
// step that failed nothing is compared: the tables are between two steps.
func verifySteps(ctx context.Context, b *ibench.Bench, failed error) (*results.Verify, error) {
	if failed != nil {
		return &results.Verify{Mode: string(b.Config.Verify), Note: "not verified: a step did not end"}, failed
	}
	v, err := b.Verify(ctx)
	if errors.Is(err, ibench.ErrVerify) {
		err = fmt.Errorf("%w\nif the tables were loaded with another --seed, other row flags or other --clients, give the same here", err)
	}
	return v, err
}

// missedRates says which steps didn't reach their target rate.
func missedRates(run *results.Run) []string {
	var lines []string
	for i := range run.Steps {
		s := &run.Steps[i]
		if results.Missed(s) {
			lines = append(lines, fmt.Sprintf("target rate not sustained: step %s inserted %s of %s rows/s (%s %%)", s.Name,
				results.FormatNumber(s.Metrics["rows_per_second"].Value, 0), results.FormatNumber(s.Metrics[results.TargetRate].Value, 0),
				results.FormatNumber(s.Metrics[results.TargetPercent].Value, 1)))
		}
	}
	return lines
}

func scanCommand(p *cli.Process) *urfave.Command {
	cfg := &stepsConfig{Data: ibench.DefaultConfig()}
	cfg.Data.Verify = ibench.VerifyOff // a scan counts what it reads anyway
	return stepCommand(p, "scan", "read each table's primary key, its secondary indexes and the primary key again, and print what each entry cost", cfg, nil,
		func(*urfave.Context) ([]ibench.Step, error) {
			return []ibench.Step{{Name: "scan", Do: ibench.ActionScan}}, nil
		})
}

func indexCommand(p *cli.Process) *urfave.Command {
	cfg := &stepsConfig{Data: ibench.DefaultConfig()}
	flags := []urfave.Flag{
		&urfave.IntFlag{Name: "secondary-indexes", Usage: "`N` secondary indexes that the tables are to have, 1 to 3", Value: cfg.Data.SecondaryIndexes, Destination: &cfg.Data.SecondaryIndexes, Category: "Index"},
		familyFlag(&cfg.Data.Shape, "Index"),
	}
	return stepCommand(p, "index", "build the secondary indexes that the tables don't have yet, all tables side by side", cfg, flags,
		func(*urfave.Context) ([]ibench.Step, error) {
			return []ibench.Step{{Name: "index", Do: ibench.ActionIndex}}, nil
		})
}

func settleCommand(p *cli.Process) *urfave.Command {
	cfg := &stepsConfig{Data: ibench.DefaultConfig()}
	cfg.Data.Verify = ibench.VerifyOff // it changes no row
	limit := defaultSettleLimit
	flags := []urfave.Flag{
		&urfave.DurationFlag{Name: "limit", Usage: "wait no longer than `TIME`", Value: limit, Destination: &limit, Category: "Settle"},
	}
	return stepCommand(p, "settle", "have the database write back what it owes its disk, and say what could be verified", cfg, flags,
		func(*urfave.Context) ([]ibench.Step, error) {
			return []ibench.Step{{Name: "settle", Do: ibench.ActionSettle, LimitSeconds: limit.Seconds()}}, nil
		})
}

// defaultSettleLimit is the longest that the original's scripts wait.
const defaultSettleLimit = 20 * time.Minute
