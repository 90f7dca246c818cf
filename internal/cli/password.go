package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"insertbench/drivers"
)

// PasswordEnv is the environment variable that holds the database password.
const PasswordEnv = "IBENCH_PASSWORD"

func passwordFlags() []cli.Flag {
	return []cli.Flag{
		databaseFlag("password-file", "`FILE` whose first line is the password; or set "+PasswordEnv),
		&cli.BoolFlag{Name: "ask-password", Usage: "ask for the password on the terminal", Category: databaseCategory},
		databaseFlag("password", "the `PASSWORD` itself; others on this host can see it, so better use --password-file"),
	}
}

func warnOfPassword(c *cli.Context, p *Process) {
	if c.Bool("quiet") {
		return
	}
	p.Warnf("a password on the command line can be seen by others on this host; use --password-file or %s", PasswordEnv)
}

// resolvePassword finds the password: flag, file, terminal, then environment.
func resolvePassword(c *cli.Context, p *Process, conn Connection) (drivers.Secret, error) {
	given := 0
	for _, flag := range []string{"password", "password-file", "ask-password"} {
		if c.IsSet(flag) {
			given++
		}
	}
	if given > 1 {
		return drivers.Secret{}, Usagef("give one of --password-file, --ask-password and --password")
	}
	switch {
	case c.IsSet("password"):
		warnOfPassword(c, p)
		return drivers.NewSecret(c.String("password")), nil
	case c.IsSet("password-file"):
		return passwordFromFile(c.String("password-file"))
	case c.Bool("ask-password"):
		text, err := p.ReadPassword(fmt.Sprintf("password of %s: ", conn.User))
		if err != nil {
			return drivers.Secret{}, &Error{Usage, err}
		}
		return drivers.NewSecret(text), nil
	default:
		return drivers.NewSecret(p.Getenv(PasswordEnv)), nil
	}
}

// passwordFromFile reads the first line of a file.
func passwordFromFile(path string) (drivers.Secret, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		reason := err
		var pathErr *os.PathError
		if errors.As(err, &pathErr) {
			reason = pathErr.Err
		}
		return drivers.Secret{}, Usagef("read the password from --password-file=%s: %w", path, reason)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return drivers.Secret{}, Usagef("--password-file=%s: its first line is empty", path)
	}
	return drivers.NewSecret(line), nil
}
