package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
	"insertbench/internal/load"
	"insertbench/linkbench"
	"insertbench/results"
)

// measuringCommand is a command that carries out a plan.
func measuringCommand(p *cli.Process, name, text string, cfg *linkConfig, flags ...[]urfave.Flag) *urfave.Command {
	all := append([][]urfave.Flag{graphFlags(&cfg.options)}, flags...)
	all = append(all, legacyFlags(&cfg.options.legacy), connectionFlags(), cli.MeasuringFlags(&cfg.Measuring))
	return &urfave.Command{
		Name: name, Usage: text, Flags: slices.Concat(all...),
		Action: func(c *urfave.Context) error {
			resolve := cfg.resolve
			if cfg.options.resume != "" {
				resolve = cfg.resume
			}
			if err := resolve(c, p); err != nil {
				return err
			}
			if err := cfg.Measuring.Resolve(c); err != nil {
				return err
			}
			cfg.Database.MustExist = !cfg.Plan.Load || cfg.Plan.Resume != nil
			return measure(c.Context, p, name, cfg)
		},
	}
}

func runCommand(p *cli.Process) *urfave.Command {
	cfg := &linkConfig{Plan: linkbench.Plan{Load: true, Request: true}}
	cfg.options.indexAt, cfg.options.verify = linkbench.IndexEnd, "full"
	o := &cfg.options
	return measuringCommand(p, "run", "load, build the index, make requests, verify, and print what each of it cost", cfg,
		loadFlags(cfg), layoutFlags(o), requestFlags(o), []urfave.Flag{verifyFlag(o), strictFlag(&cfg.Strict)})
}

func loadCommand(p *cli.Process) *urfave.Command {
	cfg := &linkConfig{Plan: linkbench.Plan{Load: true}}
	cfg.options.indexAt, cfg.options.verify = linkbench.IndexNever, "full"
	return measuringCommand(p, "load", "make the tables and load the graph; linkbench index then builds the secondary index", cfg,
		loadFlags(cfg), layoutFlags(&cfg.options), []urfave.Flag{verifyFlag(&cfg.options)})
}

func indexCommand(p *cli.Process) *urfave.Command {
	cfg := &linkConfig{}
	cfg.options.indexAt, cfg.options.verify = linkbench.IndexEnd, "off"
	return measuringCommand(p, "index", "build the secondary index of the link table", cfg, layoutFlags(&cfg.options))
}

func requestCommand(p *cli.Process) *urfave.Command {
	cfg := &linkConfig{Plan: linkbench.Plan{Request: true}}
	cfg.options.indexAt, cfg.options.verify = linkbench.IndexNever, "off"
	return measuringCommand(p, "request", "make requests on a graph that is loaded, and print what each of them cost", cfg,
		requestFlags(&cfg.options), []urfave.Flag{verifyFlag(&cfg.options), strictFlag(&cfg.Strict)})
}

// measure connects, says to whom, carries out the plan, and prints the tables.
func measure(ctx context.Context, p *cli.Process, name string, cfg *linkConfig) (err error) {
	ctx, stop := p.NotifyContext(ctx)
	defer stop()
	defer func() { err = cli.Interrupted(ctx, err) }()
	say := func(line string) {
		if !cfg.Measuring.Quiet {
			fmt.Fprintln(p.Stderr, line)
		}
	}
	say(cfg.headLine())
	for _, note := range cfg.notes {
		say("warning: " + note)
	}
	s, err := cli.StartSession(ctx, p, cfg.Database, cfg.Measuring)
	if err != nil {
		return err
	}
	defer s.Close()
	db, err := openGraph(ctx, s.Server, cfg)
	if err != nil {
		return err
	}
	if err := cfg.Plan.Prepare(ctx, cfg.workload, db); err != nil {
		return err
	}
	seen, err := newLegacy(p, cfg)
	if err != nil {
		return err
	}
	s.Server, s.Run.LinkBench = db, cfg.names()
	if err := s.Record(ctx, "linkbench", name, cfg); err != nil {
		return errors.Join(err, seen.close())
	}
	if err := seen.start(s.Writer.Dir()); err != nil {
		return s.Finish(err, results.Sections)
	}
	if r := cfg.Plan.Resume; r != nil {
		s.Run.Warnings = append(s.Run.Warnings, r.Note())
	}
	if cfg.Plan.Load {
		say(cfg.expectLine())
	}
	return finish(ctx, p, s, db, cfg, seen, say)
}

// names are what the tables say of a run.
func (cfg *linkConfig) names() *results.LinkBench {
	w := cfg.Workload
	names := &results.LinkBench{
		Profile: w.Profile.String(), Compat: w.Compat.String(), Stream: w.Stream.String(), Transactions: cfg.Transactions,
	}
	if cfg.Plan.Resume != nil {
		names.Resumed = cfg.Plan.Resume.String()
	}
	return names
}

// finish carries out the plan, and saves and prints what came of it.
func finish(ctx context.Context, p *cli.Process, s *cli.Session, db linkbench.Database, cfg *linkConfig, seen *legacyLines, say func(string)) error {
	var progress *cli.Progress
	verified, err := cfg.Plan.Run(ctx, cfg.workload, linkbench.Session{
		DB: db, Meter: s.Meter, Writer: s.Writer, Seen: seen.add, Observe: seen.observer(),
		Progress: func(goal linkbench.Goal) func(*load.Interval) {
			progress.Done()
			progress = nil
			if goal.Step == "verify" {
				say("verify: reading the tables back")
			} else {
				progress = begin(s, goal)
			}
			if goal.Waiting != nil {
				return func(iv *load.Interval) { progress.Wait(goal.Waiting(), iv.End) }
			}
			return progress.Show
		},
		Done: func(step results.Step) error {
			progress.Done()
			s.Run.Steps = append(s.Run.Steps, step)
			return s.Writer.Save(s.Run)
		},
	})
	progress.Done()
	s.Run.Verify = verified
	err = judge(p, s, cfg, err)
	err = errors.Join(err, seen.close())
	s.Resume = cfg.resumedBy(&s.Run)
	err = s.Finish(cli.Interrupted(ctx, err), results.Sections)
	return errors.Join(err, seen.printed())
}

// judge gives a run's error its exit code, and says which rates were missed.
func judge(p *cli.Process, s *cli.Session, cfg *linkConfig, err error) error {
	if errors.Is(err, linkbench.ErrVerify) {
		if cfg.Plan.Resume != nil {
			err = fmt.Errorf("%w; a resumed load doesn't replace rows that are there, and sends no acknowledged piece again: load anew with --drop", err)
		}
		err = &cli.Error{Code: cli.Unverified, Err: err}
	}
	missed := missedRates(&s.Run)
	s.Run.Warnings = append(s.Run.Warnings, missed...)
	if cfg.Strict && err == nil && len(missed) > 0 {
		return &cli.Error{Code: cli.RateMissed, Err: errors.New(strings.Join(missed, "\n"))}
	}
	for _, line := range missed {
		if !cfg.Measuring.Quiet {
			p.Warnf("%s", line)
		}
	}
	return err
}

// begin begins the progress of a step.
func begin(s *cli.Session, goal linkbench.Goal) *cli.Progress {
	if goal.Waiting != nil {
		return s.WaitingProgress(goal.Step)
	}
	unit := "rows"
	if goal.Limit > 0 || strings.HasPrefix(goal.Step, "request") {
		unit = "requests"
	}
	if goal.Units == 0 && goal.Limit > 0 {
		return s.TimedProgress(goal.Step, unit, goal.Limit)
	}
	return s.Progress(goal.Step, unit, goal.Units)
}

// missedRates says which steps didn't reach their rate.
func missedRates(run *results.Run) []string {
	var lines []string
	for i := range run.Steps {
		s := &run.Steps[i]
		if s.Kind == results.KindRequest && s.Complete && results.Missed(s) {
			lines = append(lines, fmt.Sprintf("target rate not sustained: step %s made %s of %s requests/s (%s %%)", s.Name,
				results.FormatNumber(s.Metrics["requests_per_second"].Value, 0), results.FormatNumber(s.Metrics[results.TargetRequests].Value, 0),
				results.FormatNumber(s.Metrics[results.TargetPercent].Value, 1)))
		}
	}
	return lines
}
