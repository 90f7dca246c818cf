package main

import (
	"context"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
)

// run is the whole command: arguments in, exit code out.
func run(ctx context.Context, p *cli.Process) cli.Code {
	var err error
	p.Args, err = translate(p.Args)
	return p.RunApp(ctx, &urfave.App{
		Name:      "ibench",
		Usage:     "run the Insert Benchmark and price every operation in hardware",
		UsageText: "ibench COMMAND [flags]      (ibench COMMAND --help lists a command's flags)",
		Description: "With no server named it runs on an embedded SQLite:\n" +
			"   ibench run                                (load, scan and queries, about two minutes)\n" +
			"   ibench load --rows=1m\n" +
			"   ibench load --dbms=mysql --socket=/run/mysqld/mysqld.sock --user=root --engine=rocksdb --rows=10m --clients=2",
		Commands: commands(p),
		Before:   func(*urfave.Context) error { return err },
	})
}

// commands are all of ibench's, in the order in which help lists them.
func commands(p *cli.Process) []*urfave.Command {
	return []*urfave.Command{
		runCommand(p), loadCommand(p), scanCommand(p), indexCommand(p), oltpCommand(p), settleCommand(p), verifyCommand(p), tablesCommand(p), legendCommand(p), rowsCommand(p), dropCommand(p), iostatCommand(p), doctorCommand(p),
	}
}
