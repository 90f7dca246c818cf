package main

import (
	"bufio"
	"fmt"
	"math"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
)

// rowsCommand prints rows as a load would send them.
func rowsCommand(p *cli.Process) *urfave.Command {
	cfg := ibench.DefaultConfig()
	var client int
	var first, count int64 = 0, 10
	return &urfave.Command{
		Name:  "rows",
		Usage: "print the rows that a load sends, as tab-separated values with a header",
		Flags: append([]urfave.Flag{
			cli.CountFlag("count", "print `N` rows", &count, "Rows"),
			cli.CountFlag("start", "begin with row `I` of the client, counted from 0", &first, "Rows"),
			&urfave.IntFlag{Name: "client", Usage: "of client `C`, counted from 0", Destination: &client, Category: "Rows"},
		}, rowFlags(&cfg)...),
		Action: func(c *urfave.Context) error {
			if count < 0 || first < 0 || client < 0 {
				return cli.Usagef("--count=%d --start=%d --client=%d: none of them can be negative", count, first, client)
			}
			if count > math.MaxInt64-first {
				return cli.Usagef("--start=%d and --count=%d: row numbers end at %d", first, count, int64(math.MaxInt64))
			}
			if err := cfg.RowSpec.Validate(); err != nil {
				return &cli.Error{Code: cli.Usage, Err: err}
			}
			return printRows(p, ibench.NewRows(cfg.Seed, client, cfg.RowSpec), first, count)
		},
	}
}

func printRows(p *cli.Process, rows ibench.Rows, first, count int64) error {
	w := bufio.NewWriter(p.Stdout)
	fmt.Fprintf(w, "row\t%s\n", strings.Join(ibench.Columns, "\t"))
	var row ibench.Row
	for i := first; i < first+count; i++ {
		rows.At(i, &row)
		when := time.Unix(row.Seconds, 0).UTC().Format(time.DateTime)
		_, err := fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%d\t%s\n", row.Number, when, row.CashRegisterID, row.CustomerID, row.ProductID, row.Price, row.Data)
		if err != nil {
			return fmt.Errorf("print row %d: %w", i, err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print rows: %w", err)
	}
	return nil
}
