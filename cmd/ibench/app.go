package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
)

// run is the whole command: arguments in, exit code out. Errors are printed
// here and nowhere else.
func run(ctx context.Context, p *cli.Process) (code cli.Code) {
	defer func() {
		if defect := recover(); defect != nil {
			fmt.Fprintf(p.Stderr, "ibench: internal error: %v (a defect of this program)\n", defect)
			code = cli.Failed
		}
	}()
	err := newApp(p).RunContext(ctx, p.Args)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(p.Stderr, "ibench: %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	return cli.CodeOf(err)
}

func newApp(p *cli.Process) *urfave.App {
	app := &urfave.App{
		Name:      "ibench",
		Usage:     "run the Insert Benchmark and price every operation in hardware",
		UsageText: "ibench COMMAND [flags]      (ibench COMMAND --help lists a command's flags)",
		Description: "With no server named it runs on an embedded SQLite:\n" +
			"   ibench load --rows=1m\n" +
			"   ibench load --dbms=mysql --socket=/run/mysqld/mysqld.sock --user=root --engine=rocksdb --rows=10m --clients=2\n\n" +
			"Exit codes:\n" + exitCodeHelp(),
		Version:         cli.Version(),
		HideHelpCommand: true,
		Suggest:         true,
		Writer:          p.Stdout,
		ErrWriter:       p.Stderr,
		ExitErrHandler:  func(*urfave.Context, error) {},
		OnUsageError:    usageError(p),
		Action:          noCommand,
		Commands:        []*urfave.Command{loadCommand(p), scanCommand(p), indexCommand(p), oltpCommand(p), settleCommand(p), verifyCommand(p), rowsCommand(p), dropCommand(p), iostatCommand(p), doctorCommand(p)},
	}
	for _, cmd := range app.Commands {
		cmd.OnUsageError = usageError(p)
		cmd.HideHelpCommand = true
		cmd.Before = noArguments
	}
	return app
}

func exitCodeHelp() string {
	var b strings.Builder
	for _, c := range cli.Codes {
		fmt.Fprintf(&b, "   %3d  %s\n", c.Code, c.Meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// noCommand handles a command line whose first word is no command.
func noCommand(c *urfave.Context) error {
	if !c.Args().Present() {
		return errors.Join(urfave.ShowAppHelp(c), &cli.Error{Code: cli.Usage, Err: errors.New("no command given")})
	}
	name := c.Args().First()
	if name == "help" {
		return urfave.ShowAppHelp(c)
	}
	hint := ""
	if near := urfave.SuggestCommand(c.App.Commands, name); near != "" {
		hint = " " + near
	}
	return cli.Usagef("%q is no command; ibench --help lists them.%s", name, hint)
}

// noArguments refuses what the flag parser would silently ignore: everything
// after the first word that is no flag.
func noArguments(c *urfave.Context) error {
	if !c.Args().Present() {
		return nil
	}
	return cli.Usagef("%s takes flags only, and %q is none (a flag's value is written --flag=value)", c.Command.Name, c.Args().First())
}

// usageError turns the flag parser's words into ours.
func usageError(p *cli.Process) urfave.OnUsageErrorFunc {
	return func(c *urfave.Context, err error, _ bool) error {
		name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
		if ok {
			return undefinedFlag(p, c, strings.TrimLeft(name, "-"))
		}
		text := strings.Replace(err.Error(), "argument: -", "argument: --", 1)
		return cli.Usagef("%s: %s", c.Command.Name, singleDash.ReplaceAllString(text, "for --$1:"))
	}
}

// undefinedFlag says what to write instead of a flag that there isn't.
func undefinedFlag(p *cli.Process, c *urfave.Context, name string) error {
	switch near := nearestFlag(c, name); {
	case strings.HasPrefix(name, "p") && slices.ContainsFunc(p.Args, func(arg string) bool { return strings.HasPrefix(arg, "-"+name) }):
		// MySQL's own clients take the password right behind -p.
		return cli.Usagef("-p... is no flag of %s; a password is given with --password-file or %s", c.Command.Name, cli.PasswordEnv)
	case c.Command.Name == c.App.Name:
		return cli.Usagef("--%s stands before the command; write ibench COMMAND --%[1]s, ibench --help lists the commands", name)
	case near != "":
		return cli.Usagef("--%s is no flag of %s; did you mean --%s?", name, c.Command.Name, near)
	default:
		return cli.Usagef("--%s is no flag of %s", name, c.Command.Name)
	}
}

// singleDash is how the parser writes a flag whose value it refuses.
var singleDash = regexp.MustCompile(`for (?:flag )?-([a-z0-9-]+):`)

func nearestFlag(c *urfave.Context, name string) string {
	near := urfave.SuggestFlag(c.Command.Flags, name, false)
	return strings.TrimLeft(near, "-")
}
