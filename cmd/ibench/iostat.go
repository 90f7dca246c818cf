package main

import (
	"context"
	"time"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
	"insertbench/iostat"
)

// liveConfig is what the live view watches and how it is shown.
type liveConfig struct {
	interval  time.Duration
	count     int
	device    string
	dataDir   string
	pids      []int
	json, csv bool
}

// iostatCommand is a live view of disks, host and a server's processes.
func iostatCommand(p *cli.Process) *urfave.Command {
	var cfg liveConfig
	return &urfave.Command{
		Name:  "iostat",
		Usage: "show disks in the columns of iostat -kx, the host's CPU, and a server's CPU and memory, live",
		Flags: []urfave.Flag{
			&urfave.DurationFlag{Name: "interval", Usage: "`TIME` between lines", Value: time.Second, Destination: &cfg.interval},
			&urfave.IntFlag{Name: "count", Usage: "stop after `N` intervals (default: at a signal)", Destination: &cfg.count, DefaultText: "0"},
			&urfave.StringFlag{Name: "device", Usage: "watch the disk `NAME`, as sda or nvme0n1", Destination: &cfg.device},
			&urfave.StringFlag{Name: "data-dir", Usage: "watch the disks under `FOLDER`", Destination: &cfg.dataDir},
			&urfave.StringFlag{Name: "pid", Usage: "watch process `PID` and its descendants, or a comma list of them"},
			&urfave.BoolFlag{Name: "json", Usage: "print one JSON object per interval", Destination: &cfg.json},
			&urfave.BoolFlag{Name: "csv", Usage: "print comma-separated values with a header", Destination: &cfg.csv},
		},
		Action: func(c *urfave.Context) error {
			var err error
			if cfg.pids, err = cli.ParsePIDs("pid", c.String("pid")); err != nil {
				return err
			}
			return runIostat(c.Context, p, cfg)
		},
	}
}

func runIostat(ctx context.Context, p *cli.Process, cfg liveConfig) error {
	switch {
	case cfg.interval < 10*time.Millisecond:
		return cli.Usagef("--interval=%v: it must be 10ms or more", cfg.interval)
	case cfg.count < 0:
		return cli.Usagef("--count=%d: it can't be negative", cfg.count)
	case cfg.json && cfg.csv:
		return cli.Usagef("--json and --csv are two forms of the same lines; give one of them")
	}
	var root iostat.Root
	disks, err := liveDisks(root, p, cfg)
	if err != nil {
		return err
	}
	sampler, err := iostat.NewSampler(root, iostat.Watch{Disks: disks, Server: cfg.pids})
	if err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	ctx, stop := p.NotifyContext(ctx)
	defer stop()
	show := func(v iostat.View) error { return v.Text(p.Stdout) }
	switch {
	case cfg.json:
		show = func(v iostat.View) error { return v.JSON(p.Stdout) }
	case cfg.csv:
		show = csvOnce(p)
	}
	return sampler.Live(ctx, cfg.interval, cfg.count, show)
}

// csvOnce prints the header before the first lines.
func csvOnce(p *cli.Process) func(iostat.View) error {
	begun := false
	return func(v iostat.View) error {
		if !begun {
			begun = true
			if err := v.CSVHeader(p.Stdout); err != nil {
				return err
			}
		}
		return v.CSV(p.Stdout)
	}
}

// liveDisks are the disks that the flags name, those that did anything since boot without one.
func liveDisks(root iostat.Root, p *cli.Process, cfg liveConfig) ([]string, error) {
	var found iostat.Devices
	var err error
	switch {
	case cfg.device != "" && cfg.dataDir != "":
		return nil, cli.Usagef("--device and --data-dir both say which disks to watch; give one of them")
	case cfg.device != "":
		found, err = root.DeviceDisks(cfg.device)
	case cfg.dataDir != "":
		found, err = root.DataDisks(cfg.dataDir)
	default:
		return root.Disks(), nil
	}
	if err != nil {
		return nil, &cli.Error{Code: cli.Usage, Err: err}
	}
	for _, note := range found.Notes {
		p.Warnf("%s", note)
	}
	return found.Watch, nil
}
