package main

import (
	"context"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
)

// run is the whole command: arguments in, exit code out.
func run(ctx context.Context, p *cli.Process) cli.Code {
	app := &urfave.App{
		Name:      "linkbench",
		Usage:     "run LinkBench, a social graph and the requests on it, and price every request in hardware",
		UsageText: "linkbench [COMMAND] [flags]      (without a command it is run; linkbench COMMAND --help lists a command's flags)",
		Description: "With no server named it runs a small graph on an embedded SQLite, in about a minute:\n" +
			"   linkbench --ldop=4\n" +
			"   linkbench --ldop=8 --dbms=mysql --server=mariadbd --engine=rocksdb --maxid1=10000001 --clients=28 --seconds=3600\n" +
			"   linkbench run --config=LinkConfigMysql.properties -D maxid1=1000001",
		Commands: []*urfave.Command{
			runCommand(p), loadCommand(p), indexCommand(p), requestCommand(p), verifyCommand(p), streamCommand(p), dropCommand(p),
		},
	}
	args := *p
	args.Args = withCommand(p.Args)
	return args.RunApp(ctx, app)
}

// withCommand makes run the command of a command line that begins with a flag
// of its own, or has nothing.
func withCommand(args []string) []string {
	ofApp := []string{"-h", "--help", "-v", "--version"}
	if len(args) == 0 || len(args) > 1 && (!strings.HasPrefix(args[1], "-") || slices.Contains(ofApp, args[1])) {
		return args
	}
	return slices.Insert(slices.Clone(args), 1, "run")
}
