package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// RunApp is a whole command: arguments in, exit code out. The app needs a name,
// words and commands; the rest is alike for every command. Errors are printed
// here and nowhere else.
func (p *Process) RunApp(ctx context.Context, app *cli.App) (code Code) {
	defer func() {
		if defect := recover(); defect != nil {
			fmt.Fprintf(p.Stderr, "%s: internal error: %v (a defect of this program)\n", app.Name, defect)
			code = Failed
		}
	}()
	p.frame(app)
	err := app.RunContext(ctx, p.Args)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(p.Stderr, "%s: %s\n", app.Name, strings.TrimSuffix(line, "\n"))
		}
	}
	return CodeOf(err)
}

// frame gives an app what every command has: the exit codes in its help, and
// errors of usage in our words.
func (p *Process) frame(app *cli.App) {
	app.Description += "\n\nExit codes:\n" + exitCodeHelp()
	app.Version = Version()
	app.HideHelpCommand = true
	app.Suggest = true
	app.Writer, app.ErrWriter = p.Stdout, p.Stderr
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.OnUsageError = p.usageError()
	if app.Action == nil {
		app.Action = noCommand
	}
	p.frameCommands(app.Commands)
}

func (p *Process) frameCommands(commands []*cli.Command) {
	for _, cmd := range commands {
		cmd.OnUsageError = p.usageError()
		cmd.HideHelpCommand = true
		settleDefaults(cmd.Flags)
		if len(cmd.Subcommands) > 0 {
			p.frameCommands(cmd.Subcommands)
			continue
		}
		if cmd.ArgsUsage == "" {
			cmd.Before = noArguments
		}
	}
}

func exitCodeHelp() string {
	var b strings.Builder
	for _, c := range Codes {
		fmt.Fprintf(&b, "   %3d  %s\n", c.Code, c.Meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// noCommand handles a command line whose first word is no command.
func noCommand(c *cli.Context) error {
	if !c.Args().Present() {
		return errors.Join(cli.ShowAppHelp(c), &Error{Code: Usage, Err: errors.New("no command given")})
	}
	name := c.Args().First()
	if name == "help" {
		return cli.ShowAppHelp(c)
	}
	return NoCommandf(c.App.Name, name, c.App.Commands)
}

// NoCommandf is the error of usage that name is none of a program's commands.
func NoCommandf(program, name string, commands []*cli.Command) error {
	hint := ""
	if near := cli.SuggestCommand(commands, name); near != "" {
		hint = " " + near
	}
	return Usagef("%q is no command; %s --help lists them.%s", name, program, hint)
}

// noArguments refuses what the flag parser would silently ignore: everything
// after the first word that is no flag.
func noArguments(c *cli.Context) error {
	if !c.Args().Present() {
		return nil
	}
	return Usagef("%s takes flags only, and %q is none (a flag's value is written --flag=value)", c.Command.Name, c.Args().First())
}

// usageError turns the flag parser's words into ours.
func (p *Process) usageError() cli.OnUsageErrorFunc {
	return func(c *cli.Context, err error, _ bool) error {
		name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
		if ok {
			return p.undefinedFlag(c, strings.TrimLeft(name, "-"))
		}
		if sentence, ok := valueError(c.Command.Flags, err); ok {
			return Usagef("%s", sentence)
		}
		return Usagef("%s: %s", c.Command.Name, strings.Replace(err.Error(), "argument: -", "argument: --", 1))
	}
}

// undefinedFlag says what to write instead of a flag that there isn't.
func (p *Process) undefinedFlag(c *cli.Context, name string) error {
	switch near := nearestFlag(c, name); {
	case strings.HasPrefix(name, "p") && slices.ContainsFunc(p.Args, func(arg string) bool { return strings.HasPrefix(arg, "-"+name) }):
		// MySQL's own clients take the password right behind -p.
		return Usagef("-p... is no flag of %s; a password is given with --password-file or %s", c.Command.Name, PasswordEnv)
	case c.Command.Name == c.App.Name:
		return Usagef("--%s stands before the command; write %[2]s COMMAND --%[1]s, %[2]s --help lists the commands", name, c.App.Name)
	case near != "":
		return Usagef("--%s is no flag of %s; did you mean --%s?", name, c.Command.Name, near)
	default:
		return Usagef("--%s is no flag of %s; %s --help lists them", name, c.Command.Name, c.Command.HelpName)
	}
}

// nearestFlag is the flag that name may be a slip of, empty where none is: the
// library finds one for every name, the nearest of any.
func nearestFlag(c *cli.Context, name string) string {
	near := strings.TrimLeft(cli.SuggestFlag(c.Command.Flags, name, false), "-")
	if near == "" || name == "" || near[0] != name[0] || near[len(near)-1] != name[len(name)-1] && !strings.HasPrefix(near, name) && !strings.HasPrefix(name, near) {
		return ""
	}
	return near
}
