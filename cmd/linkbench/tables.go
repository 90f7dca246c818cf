package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
	"insertbench/linkbench"
)

// unmeasuredCommand is a command that does something to a database and
// measures nothing.
func unmeasuredCommand(p *cli.Process, name, text string, more []urfave.Flag, cfg *linkConfig, do func(ctx context.Context, db linkbench.Database, say func(string)) error) *urfave.Command {
	cfg.options.indexAt, cfg.options.verify = linkbench.IndexNever, "off"
	flags := slices.Concat(more, graphFlags(&cfg.options), connectionFlags())
	return &urfave.Command{
		Name: name, Usage: text,
		Flags: append(flags, &urfave.BoolFlag{Name: "quiet", Usage: "print nothing on success", Destination: &cfg.Measuring.Quiet, Category: "Output"}),
		Action: func(c *urfave.Context) (err error) {
			if err := cfg.resolve(c, p); err != nil {
				return err
			}
			ctx, stop := p.NotifyContext(c.Context)
			defer stop()
			defer func() { err = cli.Interrupted(ctx, err) }()
			cfg.Database.MustExist = true
			server, end, err := p.OpenUnmeasured(ctx, cfg.Database)
			if err != nil {
				return err
			}
			defer end()
			db, err := openGraph(ctx, server, cfg)
			if err != nil {
				return err
			}
			return do(ctx, db, func(line string) {
				if !cfg.Measuring.Quiet {
					fmt.Fprintln(p.Stdout, line)
				}
			})
		},
	}
}

func verifyCommand(p *cli.Process) *urfave.Command {
	cfg := &linkConfig{}
	check := string(linkbench.CheckConsistent)
	flags := []urfave.Flag{
		cli.TextFlag("check", "`WHAT` is checked: consistent, that each count equals its visible links; or loaded, that all is as generated too, as before any request", &check, "Verification"),
	}
	return unmeasuredCommand(p, "verify", "compare the counts with the visible links, or the whole graph with the one generated", flags, cfg,
		func(ctx context.Context, db linkbench.Database, say func(string)) error {
			if check != string(linkbench.CheckConsistent) && check != string(linkbench.CheckLoaded) {
				return cli.Usagef("--check=%s: it is consistent or loaded", check)
			}
			if err := linkbench.NeedTables(ctx, db); err != nil {
				return err
			}
			v, err := linkbench.Verify(ctx, cfg.workload, db, linkbench.Check(check))
			if errors.Is(err, linkbench.ErrVerify) {
				for _, line := range v.Differences {
					say(line)
				}
				return &cli.Error{Code: cli.Unverified, Err: fmt.Errorf("%w\nif the graph was loaded with other flags, give the same here", err)}
			}
			if err == nil {
				say("verified: " + linkbench.Finding(v))
			}
			return err
		})
}

func dropCommand(p *cli.Process) *urfave.Command {
	return unmeasuredCommand(p, "drop", "remove the tables nodetable, linktable and counttable from the database, and nothing else", nil, &linkConfig{},
		func(ctx context.Context, db linkbench.Database, say func(string)) error {
			names, err := db.ListTables(ctx)
			if err != nil {
				return fmt.Errorf("list LinkBench's tables: %w", err)
			}
			if len(names) == 0 {
				say("there are no tables of LinkBench")
				return nil
			}
			if err := db.DropTables(ctx); err != nil {
				return fmt.Errorf("drop LinkBench's tables: %w", err)
			}
			for _, name := range names {
				say("dropped table " + name)
			}
			return nil
		})
}
