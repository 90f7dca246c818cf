package main

import (
	"fmt"
	"io"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
	"insertbench/results"
)

// formats are the ways to print a table; text is the first.
var formats = []struct {
	name  string
	write func(results.Table, io.Writer) error
}{
	{"text", results.Table.WriteText},
	{"markdown", results.Table.WriteMarkdown},
	{"csv", results.Table.WriteCSV},
	{"json", results.Table.WriteJSON},
}

func tableNames() string {
	var names []string
	for _, k := range results.TableKinds() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// kindsNamed are the tables that a flag names; all of them where it names none.
func kindsNamed(name string) ([]results.TableKind, error) {
	if name == "" {
		return results.TableKinds(), nil
	}
	for _, k := range results.TableKinds() {
		if k.Name == name {
			return []results.TableKind{k}, nil
		}
	}
	return nil, cli.Usagef("--table=%s: the tables are %s", name, tableNames())
}

func tablesCommand(p *cli.Process) *urfave.Command {
	var name, format string
	var wide bool
	return &urfave.Command{
		Name:      "tables",
		Usage:     "print the tables of runs from their records, several runs below each other",
		ArgsUsage: "RUN...",
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "table", Usage: "only table `NAME`: " + tableNames() + " (row is the original's row of 21 columns)", Destination: &name},
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` to print in: text, markdown, csv or json; csv and json have all columns and digits, and need --table", Value: "text", DefaultText: "text", Destination: &format},
			&urfave.BoolFlag{Name: "wide", Usage: "print more columns", Destination: &wide},
		},
		Action: func(c *urfave.Context) error {
			kinds, err := kindsNamed(name)
			if err != nil {
				return err
			}
			if name == "" && (format == "csv" || format == "json") {
				return cli.Usagef("--format=%s prints one table: name it with --table=%s", format, strings.ReplaceAll(tableNames(), ", ", "|"))
			}
			runs, err := loadRuns(c.Args().Slice())
			if err != nil {
				return err
			}
			return printTables(p.Stdout, kinds, runs, name, format, wide)
		},
	}
}

// loadRuns reads the records that the arguments name.
func loadRuns(dirs []string) ([]*results.Run, error) {
	if len(dirs) == 0 {
		return nil, cli.Usagef("name the folders of the runs, as runs/*")
	}
	var runs []*results.Run
	for _, dir := range dirs {
		if strings.HasPrefix(dir, "-") {
			return nil, cli.Usagef("flags come before the runs: write ibench tables %s RUN", dir)
		}
		run, err := results.Load(dir)
		if err != nil {
			return nil, &cli.Error{Code: cli.Usage, Err: err}
		}
		runs = append(runs, &run)
	}
	return runs, nil
}

func printTables(w io.Writer, kinds []results.TableKind, runs []*results.Run, name, format string, wide bool) error {
	for _, f := range formats {
		if f.name != format {
			continue
		}
		printed := 0
		for _, k := range kinds {
			s, found := k.Shown(runs...)
			if name == "" && (!found || k.ByName()) {
				continue
			}
			if name == "" {
				heading := s.Title + "\n"
				if format == "markdown" {
					heading = "## " + s.Title + "\n\n"
				}
				if printed > 0 {
					heading = "\n" + heading
				}
				if _, err := io.WriteString(w, heading); err != nil {
					return err
				}
			}
			printed++
			s.Wide = wide
			if err := f.write(s.Table, w); err != nil {
				return fmt.Errorf("print the table: %w", err)
			}
		}
		return nil
	}
	return cli.Usagef("--format=%s: it is text, markdown, csv or json", format)
}

func legendCommand(p *cli.Process) *urfave.Command {
	var name string
	return &urfave.Command{
		Name:  "legend",
		Usage: "explain every column of the tables: unit, formula, meaning",
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "table", Usage: "only table `NAME`: " + tableNames(), Destination: &name},
		},
		Action: func(*urfave.Context) error {
			kinds, err := kindsNamed(name)
			if err != nil {
				return err
			}
			for i, k := range kinds {
				if len(kinds) > 1 {
					gap := ""
					if i > 0 {
						gap = "\n"
					}
					if _, err := fmt.Fprintf(p.Stdout, "%stable %s of %s: %s\n\n", gap, k.Name, k.Workload, k.Title); err != nil {
						return err
					}
				}
				if err := results.WriteLegend(p.Stdout, k.Columns()); err != nil {
					return fmt.Errorf("print the legend: %w", err)
				}
			}
			return nil
		},
	}
}
