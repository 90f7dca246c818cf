package main

import (
	"context"
	"fmt"

	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
	"insertbench/results"
)

func verifyCommand(p *cli.Process) *urfave.Command {
	cfg := &stepsConfig{Data: ibench.DefaultConfig()}
	var quiet bool
	flags := append(dataFlags(&cfg.Data), cli.ConnectionFlags()...)
	return &urfave.Command{
		Name:  "verify",
		Usage: "compare the tables with the rows of the seed: counts, sums, smallest and largest key, index entries",
		Flags: append(flags, &urfave.BoolFlag{Name: "quiet", Usage: "print nothing on success", Destination: &quiet, Category: "Output"}),
		Action: func(c *urfave.Context) error {
			if err := cfg.resolveData(c, p); err != nil {
				return err
			}
			return runVerify(c.Context, p, *cfg, quiet)
		},
	}
}

// runVerify measures nothing: it connects, compares and says what it found.
func runVerify(ctx context.Context, p *cli.Process, cfg stepsConfig, quiet bool) (err error) {
	ctx, stop := p.NotifyContext(ctx)
	defer stop()
	defer func() { err = cli.Interrupted(ctx, err) }()
	server, end, err := p.OpenUnmeasured(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer end()
	db, err := asDatabase(server)
	if err != nil {
		return err
	}
	if err := cfg.findData(ctx, db); err != nil {
		return err
	}
	b := &ibench.Bench{Config: cfg.Data, DB: db}
	if err := b.Attach(ctx); err != nil {
		return err
	}
	v, err := verifySteps(ctx, b, nil)
	if err != nil {
		if v != nil && len(v.Differences) > 0 {
			err = &cli.Error{Code: cli.Unverified, Err: err}
		}
		return err
	}
	if !quiet {
		fmt.Fprintf(p.Stdout, "%s\n", b.State)
		fmt.Fprintln(p.Stdout, results.VerifyLine(v))
	}
	return nil
}
