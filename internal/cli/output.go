package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/gofrs/flock"
	"github.com/urfave/cli/v2"

	"insertbench/drivers/mongo"
)

// Measuring is what the flags say of measuring and of where the figures go,
// alike for every measuring command.
type Measuring struct {
	Device     string `json:"device"`
	ServerPIDs []int  `json:"server_pids"`
	Results    string `json:"results"`
	Tag        string `json:"tag"`
	JSON       bool   `json:"json"`
	Quiet      bool   `json:"quiet"`
	Wide       bool   `json:"wide"`
	NoLock     bool   `json:"no_lock"`
	PSS        bool   `json:"pss"`
	// OnStepStart and OnStepEnd are commands for the shell, HookTimeout what
	// each may take.
	OnStepStart string  `json:"on_step_start"`
	OnStepEnd   string  `json:"on_step_end"`
	HookTimeout Seconds `json:"hook_timeout_seconds"`
}

// MeasuringFlags are the flags that fill a Measuring.
func MeasuringFlags(m *Measuring) []cli.Flag {
	const measuring, output = "Measuring", "Output"
	m.Results = "runs"
	return []cli.Flag{
		TextFlag("device", "price the disk `NAME`, as sda or nvme0n1 (default: those under the data directory)", &m.Device, measuring),
		&cli.StringFlag{Name: "server-pid", Usage: "the server is process `PID`, or a comma list of them (default: found by its socket and proven)", Category: measuring},
		&cli.BoolFlag{Name: "pss", Usage: "read the server's proportional set size at the ends of a step, which stalls a large server", Destination: &m.PSS, Category: measuring},
		&cli.BoolFlag{Name: "no-lock", Usage: "measure though another measuring run holds this host's lock", Destination: &m.NoLock, Category: measuring},
		&cli.StringFlag{Name: "on-step-start", Usage: "run `COMMAND` in the shell before each step's first statement; facts are in its environment (docs/hooks.md)", Destination: &m.OnStepStart, Category: measuring},
		&cli.StringFlag{Name: "on-step-end", Usage: "run `COMMAND` in the shell after each step's last answer", Destination: &m.OnStepEnd, Category: measuring},
		&cli.DurationFlag{Name: "hook-timeout", Usage: "end a command of --on-step-start or --on-step-end after `TIME`", Value: time.Minute, Category: measuring},
		TextFlag("results", "keep the record of the run below `FOLDER`", &m.Results, output),
		TextFlag("tag", "`TEXT` to tell this run by, in the record and in the table", &m.Tag, output),
		&cli.BoolFlag{Name: "json", Usage: "print the record on standard output instead of tables", Destination: &m.JSON, Category: output},
		&cli.BoolFlag{Name: "quiet", Usage: "print nothing on success; with --json, the record alone", Destination: &m.Quiet, Category: output},
		&cli.BoolFlag{Name: "wide", Usage: "print more columns", Destination: &m.Wide, Category: output},
	}
}

// Resolve reads the flags that need parsing.
func (m *Measuring) Resolve(c *cli.Context) (err error) {
	if m.HookTimeout = Seconds(c.Duration("hook-timeout")); c.IsSet("hook-timeout") && m.HookTimeout <= 0 {
		return Usagef("--hook-timeout=%s: it must be longer than nothing", c.Duration("hook-timeout"))
	}
	m.ServerPIDs, err = ParsePIDs("server-pid", c.String("server-pid"))
	return err
}

// ParsePIDs reads a flag's comma list of process ids; nothing gives none.
func ParsePIDs(flag, text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var pids []int
	for part := range strings.SplitSeq(text, ",") {
		pid, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || pid < 1 {
			return nil, Usagef("--%s=%s: %q is no process id", flag, text, part)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// LockHost takes the lock that keeps two measuring runs of one host apart,
// since each would be charged for the other. The lock goes with the process.
func LockHost() (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), "insertbench.lock")
	lock := flock.New(path, flock.SetPermissions(0o666))
	held, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("take this host's lock %s: %w; remove the file if it is another user's, or use --no-lock", path, err)
	case !held:
		return nil, &Error{Locked, fmt.Errorf("another measuring run holds this host's lock %s; wait for it, or use --no-lock if its load may disturb yours", path)}
	}
	return func() { _ = lock.Close() }, nil
}

// secretArg is a flag that may hold a secret, with its value.
var secretArg = regexp.MustCompile(`(?s)^(--?(password|dsn|uri|D)=)(.*)$`)

// redactors hide what is secret in the value of a flag.
var redactors = map[string]func(string) string{
	"password": func(string) string { return redacted },
	"dsn":      func(dsn string) string { shown, _ := redactDSN(dsn); return shown },
	"uri":      mongo.RedactURI,
	"D":        redactSetting,
}

// redactSetting hides what is secret in a setting of LinkBench's properties.
func redactSetting(setting string) string {
	key, value, _ := strings.Cut(setting, "=")
	switch strings.TrimSpace(key) {
	case "password":
		return key + "=" + redacted
	case "url":
		return key + "=" + mongo.RedactURI(strings.TrimSpace(value))
	}
	return setting
}

// Redact gives a command line without its passwords, for the record.
func Redact(args []string) []string {
	shown := make([]string, len(args))
	for i, arg := range args {
		var previous string // the flag that arg may be the value of
		if i > 0 && strings.HasPrefix(args[i-1], "-") {
			previous = strings.TrimLeft(args[i-1], "-")
		}
		shown[i] = arg
		if hide, ok := redactors[previous]; ok {
			shown[i] = hide(arg)
		} else if parts := secretArg.FindStringSubmatch(arg); parts != nil {
			shown[i] = parts[1] + redactors[parts[2]](parts[3])
		}
	}
	return shown
}

const redacted = "***"

// redactDSN hides a DSN's password and says whether there was one. A DSN that
// can't be parsed is hidden whole, and so is one of another network than the
// driver's: the parser takes user:password(host)/db for a network of that name.
func redactDSN(dsn string) (shown string, secret bool) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil || (cfg.Net != "tcp" && cfg.Net != "unix") {
		return redacted, true
	}
	if cfg.Passwd == "" {
		return cfg.FormatDSN(), false
	}
	cfg.Passwd = redacted
	return cfg.FormatDSN(), true
}
