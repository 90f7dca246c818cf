package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
	"insertbench/linkbench/stream"
)

// streamCommand prints what a run would send.
func streamCommand(p *cli.Process) *urfave.Command {
	part := func(name, text string, count int64, print func(context.Context, *stream.Workload, io.Writer, int64) error) *urfave.Command {
		cfg := &linkConfig{}
		o := &cfg.options
		flags := []urfave.Flag{
			cli.CountFlag("count", "print `N` of them; 0 for all of the load", &count, "Stream"),
			&urfave.IntFlag{Name: "clients", Usage: "of `N` requesters", Value: 1, Destination: &o.clients, Category: "Stream"},
		}
		return &urfave.Command{
			Name: name, Usage: text, Flags: slices.Concat(flags, graphFlags(o)),
			Action: func(c *urfave.Context) error {
				if count < 0 {
					return cli.Usagef("--count=%d: it can't be negative", count)
				}
				if err := c.Set("clients", c.String("clients")); err != nil { // one unless set, whatever the profile
					return err
				}
				layers, err := o.layers(p)
				if err != nil {
					return err
				}
				if err := cfg.resolveWorkload(c, layers, true); err != nil {
					return err
				}
				ctx, stop := p.NotifyContext(c.Context)
				defer stop()
				if err := print(ctx, cfg.workload, p.Stdout, count); err != nil {
					return cli.Interrupted(ctx, fmt.Errorf("print %s: %w", name, err))
				}
				return nil
			},
		}
	}
	const columns = ", as tab-separated values with a header"
	return &urfave.Command{
		Name: "stream", Usage: "print nodes, links and counts, or requests as a run sends them",
		Subcommands: []*urfave.Command{
			part("nodes", "print the nodes of the load"+columns, 10, func(ctx context.Context, w *stream.Workload, out io.Writer, n int64) error {
				return w.PrintNodes(ctx, out, n)
			}),
			part("links", "print the links and counts of the load"+columns, 10, func(ctx context.Context, w *stream.Workload, out io.Writer, n int64) error {
				return w.PrintLinks(ctx, out, n)
			}),
			part("requests", "print the first requests of each requester"+columns, 10, func(ctx context.Context, w *stream.Workload, out io.Writer, n int64) error {
				return w.PrintRequests(ctx, out, n)
			}),
		},
		Action: func(c *urfave.Context) error {
			if !c.Args().Present() {
				return cli.Usagef("stream of what? write linkbench stream nodes, links or requests")
			}
			return cli.NoCommandf("linkbench stream", c.Args().First(), c.Command.Subcommands)
		},
	}
}
