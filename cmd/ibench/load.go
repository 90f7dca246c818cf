package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
	"insertbench/internal/load"
	"insertbench/iostat"
	"insertbench/results"
)

// loadConfig is all that a load was asked for, resolved; it goes into the record.
type loadConfig struct {
	Database  cli.Connection `json:"database"`
	Load      ibench.Config  `json:"load"`
	Measuring cli.Measuring  `json:"measuring"`
}

func loadCommand(p *cli.Process) *urfave.Command {
	cfg := loadConfig{Load: ibench.DefaultConfig()}
	return &urfave.Command{
		Name:  "load",
		Usage: "insert rows into new tables as fast as the clients can, and print what each insert cost",
		Flags: cfg.flags(),
		Action: func(c *urfave.Context) error {
			if err := cfg.resolve(c, p); err != nil {
				return err
			}
			return runLoad(c.Context, p, cfg)
		},
	}
}

// flags are those of the command. They fill cfg, but for what resolve reads.
func (cfg *loadConfig) flags() []urfave.Flag {
	return slices.Concat(loadFlags(&cfg.Load), tableFlags(&cfg.Load.Shape), rowFlags(&cfg.Load), cli.ConnectionFlags(), cli.MeasuringFlags(&cfg.Measuring))
}

// resolve reads all flags into the configuration and refuses what can't work.
func (cfg *loadConfig) resolve(c *urfave.Context, p *cli.Process) error {
	if err := cfg.Load.Validate(); err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	if err := cfg.Measuring.Resolve(c); err != nil {
		return err
	}
	var err error
	if cfg.Database, err = cli.ResolveConnection(c, p); err != nil {
		return err
	}
	return setSessions(&cfg.Database, cfg.Load)
}

// setSessions tells the connection what its sessions are asked for, and
// refuses what only MySQL's have.
func setSessions(conn *cli.Connection, data ibench.Config) error {
	if conn.DBMS != "mysql" && (data.BulkLoad || !data.UniqueChecks) {
		return cli.Usagef("--bulk-load and --unique-checks are MySQL's, and mean nothing to %s", conn.DBMS)
	}
	conn.UniqueChecksOff = !data.UniqueChecks
	return nil
}

// runLoad connects, says to whom, loads, and prints the table.
func runLoad(ctx context.Context, p *cli.Process, cfg loadConfig) (err error) {
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
	if err := ibench.Prepare(ctx, cfg.Load, db); err != nil {
		return err
	}
	s.NeedBytes = iostat.Some(cfg.Load.DiskBytes())
	if err := s.Record(ctx, "ibench", "load", cfg); err != nil {
		return err
	}
	var progress *cli.Progress
	loaded, err := ibench.Load(ctx, cfg.Load, ibench.Session{
		DB: db, Meter: s.Meter, Writer: s.Writer,
		Progress: func(step string, rows int64) func(*load.Interval) {
			progress = s.Progress(step, "rows", rows)
			return progress.Show
		},
	})
	progress.Done()
	s.Run.Steps, s.Run.Verify = loaded.Steps, loaded.Verify
	if errors.Is(err, ibench.ErrVerify) {
		err = &cli.Error{Code: cli.Unverified, Err: err}
	}
	return s.Finish(cli.Interrupted(ctx, err), results.Sections)
}

func dropCommand(p *cli.Process) *urfave.Command {
	return &urfave.Command{
		Name:  "drop",
		Usage: "remove the benchmark's tables (pi1, pi2, …) from the database, and nothing else",
		Flags: append(cli.ConnectionFlags(), &urfave.BoolFlag{Name: "quiet", Usage: "print nothing on success", Category: "Output"}),
		Action: func(c *urfave.Context) error {
			conn, err := cli.ResolveConnection(c, p)
			if err != nil {
				return err
			}
			return runDrop(c.Context, p, conn, c.Bool("quiet"))
		},
	}
}

func runDrop(ctx context.Context, p *cli.Process, conn cli.Connection, quiet bool) (err error) {
	ctx, stop := p.NotifyContext(ctx)
	defer stop()
	defer func() { err = cli.Interrupted(ctx, err) }()
	conn.MustExist = true
	server, end, err := p.OpenUnmeasured(ctx, conn)
	if err != nil {
		return err
	}
	defer end()
	db, err := asDatabase(server)
	if err != nil {
		return err
	}
	names, err := ibench.DropTables(ctx, db)
	if !quiet {
		for _, name := range names {
			fmt.Fprintf(p.Stdout, "dropped table %s\n", name)
		}
		if err == nil && len(names) == 0 {
			fmt.Fprintln(p.Stdout, "there are no tables of the benchmark")
		}
	}
	return err
}
