package main

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
	"insertbench/linkbench/config"
)

// legacyOptions are what the flags say of the original's lines and files.
type legacyOptions struct {
	output, overwrite             bool
	csvStream                     string
	displayS, maxSamples          int64
	loadProgress, requestProgress int64
}

// legacyFlags are the flags of the original's output, named as its settings are.
func legacyFlags(o *legacyOptions) []urfave.Flag {
	const category = "The original's output"
	run := config.Default(config.P2017).Run
	count := func(name, usage string, n int64, v *int64) urfave.Flag {
		return &urfave.GenericFlag{Name: name, Usage: usage, Value: cli.CountValue(v), DefaultText: strconv.FormatInt(n, 10), Category: category}
	}
	return []urfave.Flag{
		&urfave.BoolFlag{Name: "legacy-output", Usage: "print the original's lines too, of progress, of each thread and at the end, and write its csvstats.csv and csvstream.csv into the record's folder", Destination: &o.output, Category: category},
		count("displayfreq", "with --legacy-output, statistics of each thread every `S` seconds; 0 for at its end alone", run.DisplayS, &o.displayS),
		count("maxsamples", "with --legacy-output, keep at most `N` latencies of each thread and operation, 8 bytes each", int64(run.MaxSamples), &o.maxSamples),
		count("load-progress-interval", "with --legacy-output, a line of progress every `N` links; 0 for none", run.LoadProgressLinks, &o.loadProgress),
		count("req-progress-interval", "with --legacy-output, a line of progress every `N` requests; 0 for none", run.RequestProgressOps, &o.requestProgress),
		&urfave.StringFlag{Name: "csvstream", Usage: "write the statistics of threads to `FILE`, which must not exist, instead of the record's folder", Destination: &o.csvStream, Category: category},
		&urfave.BoolFlag{Name: "overwrite", Usage: "replace the file of --csvstream where it exists", Destination: &o.overwrite, Category: category},
	}
}

// apply sets what flags say over the files.
func (o *legacyOptions) apply(c *urfave.Context, run *config.Run) {
	setIf(c, "displayfreq", &run.DisplayS, o.displayS)
	setIf(c, "maxsamples", &run.MaxSamples, int(o.maxSamples))
	setIf(c, "load-progress-interval", &run.LoadProgressLinks, o.loadProgress)
	setIf(c, "req-progress-interval", &run.RequestProgressOps, o.requestProgress)
	setIf(c, "csvstream", &run.CSVStream, o.csvStream)
}

// resolveLegacy refuses flags without effect, and a file that exists.
func (cfg *linkConfig) resolveLegacy(c *urfave.Context) error {
	o := &cfg.options.legacy
	cfg.LegacyOutput, cfg.Overwrite = o.output, o.overwrite
	if !o.output {
		for _, flag := range []string{"displayfreq", "maxsamples", "load-progress-interval", "req-progress-interval", "csvstream", "overwrite"} {
			if c.IsSet(flag) {
				return cli.Usagef("--%s is of the original's output: add --legacy-output", flag)
			}
		}
		return nil
	}
	path := cfg.Workload.Run.CSVStream
	if path == "" || o.overwrite {
		return nil
	}
	switch _, err := os.Lstat(path); {
	case err == nil:
		return cli.Usagef("the threads' statistics are to go to %s, which exists: name another file with --csvstream, or add --overwrite", path)
	case !errors.Is(err, fs.ErrNotExist):
		return cli.Usagef("look whether there is a file for the threads' statistics: %w", err)
	}
	return nil
}
