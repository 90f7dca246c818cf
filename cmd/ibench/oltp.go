package main

import (
	"fmt"

	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
)

func oltpCommand(p *cli.Process) *urfave.Command {
	cfg := &stepsConfig{Data: ibench.DefaultConfig()}
	step := ibench.DefaultWrite()
	flags := append(writeFlags(&step), uniqueFlag(&cfg.Data, "Writes"), strictFlag(&cfg.Strict))
	return stepCommand(p, "oltp", "insert at a rate and query beside it, with deletes where asked for, and print what each insert and each query cost", cfg, flags,
		func(*urfave.Context) ([]ibench.Step, error) { return []ibench.Step{step}, nil })
}

func strictFlag(strict *bool) urfave.Flag {
	return &urfave.BoolFlag{Name: "strict", Usage: fmt.Sprintf("exit with %d where less than 95 %% of a target rate was reached", cli.RateMissed), Destination: strict, Category: "Output"}
}

// writeFlags say what a write step does.
func writeFlags(s *ibench.Step) []urfave.Flag {
	const writes, queries = "Writes", "Queries"
	number := func(name, usage string, v *int, category string) urfave.Flag {
		return &urfave.IntFlag{Name: name, Usage: usage, Value: *v, Destination: v, Category: category}
	}
	seconds := func(name, usage string, v *float64, category string) urfave.Flag {
		return &urfave.Float64Flag{Name: name, Usage: usage, Value: *v, Destination: v, Category: category}
	}
	return append(longFlags(&s.Long), []urfave.Flag{
		cli.CountFlag("rows", "end once `N` rows in total were inserted; 0 for no such end", &s.Rows, writes),
		seconds("seconds", "end after `S` seconds; with --rows, whichever comes first", &s.Seconds, writes),
		cli.CountFlag("rate", "insert `N` rows per second and writer; 0 for as fast as they can", &s.Rate, writes),
		cli.TextFlag("pacing", "`SHAPE` of the inserts' rate: constant, poisson or ramp", (*string)(&s.Pacing), writes),
		number("rows-per-commit", "`N` rows per insert and per delete statement, each a transaction", &s.RowsPerCommit, writes),
		number("writers", "`N` writers per client: 1, or 0 for queries alone", &s.Writers, writes),
		&urfave.BoolFlag{Name: "deletes", Usage: "delete the oldest row for each one inserted; needs a table per client", Destination: &s.Deletes, Category: writes},
		number("readers", "`N` readers per client", &s.Readers, queries),
		cli.TextFlag("query", "`KIND` of queries: range, of the secondary indexes, or point, of the primary key", (*string)(&s.Query), queries),
		number("rows-per-query", "`N` rows at most of a range query, keys of a point query", &s.RowsPerQuery, queries),
		cli.CountFlag("query-rate", "`N` queries per second and reader; 0 for as fast as they can", &s.QueryRate, queries),
		cli.TextFlag("query-pacing", "`SHAPE` of the queries' rate: constant, poisson or ramp", (*string)(&s.QueryPacing), queries),
		number("ramp-from", "`PERCENT` of the rate that a ramp begins with", &s.RampFrom, writes),
		seconds("ramp-seconds", "a ramp takes `S` seconds (default: the whole step)", &s.RampSeconds, writes),
		seconds("drop-after", "drop what is overdue by more than `S` seconds instead of sending it; 0 drops nothing", &s.DropAfter, writes),
	}...)
}

// longFlags hold transactions open beside the writes.
func longFlags(l *ibench.Long) []urfave.Flag {
	const category = "Long transactions"
	return []urfave.Flag{
		&urfave.Float64Flag{Name: "htap-seconds", Usage: "one more connection holds a transaction open that has read a row, for `S` seconds, again and again (default 0: none)", Destination: &l.HTAPSeconds, Category: category},
		&urfave.Float64Flag{Name: "long-reader-seconds", Usage: "one more connection reads through table pi1 within a transaction of `S` seconds, again and again (default 0: none)", Destination: &l.LongReaderSeconds, Category: category},
	}
}
