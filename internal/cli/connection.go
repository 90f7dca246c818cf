package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
)

// Connection is what the flags say of the database to open, resolved: no
// field depends on another's default any more. It goes into the record.
type Connection struct {
	DBMS string `json:"dbms"`
	// Named is true where a flag named a server; without one the embedded
	// database runs.
	Named bool `json:"-"`
	// MustExist refuses a database that is missing instead of making it.
	MustExist bool           `json:"-"`
	DSN       drivers.Secret `json:"-"`
	// DSNShown is the DSN without its password.
	DSNShown         string         `json:"dsn"`
	Socket           string         `json:"socket"`
	Host             string         `json:"host"`
	Port             int            `json:"port"`
	User             string         `json:"user"`
	Password         drivers.Secret `json:"password"`
	Database         string         `json:"database"`
	TLS              string         `json:"tls"`
	Path             string         `json:"path"`
	Engine           string         `json:"engine"`
	EngineOptions    string         `json:"engine_options"`
	ConnectTimeout   Seconds        `json:"connect_timeout_seconds"`
	StatementTimeout Seconds        `json:"statement_timeout_seconds"`
}

// Seconds is a duration that is written as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes seconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%g", time.Duration(s).Seconds()), nil
}

// DBMSNames are the values of --dbms.
var DBMSNames = []string{"sqlite", "mysql", "mariadb", "fake"}

// PasswordEnv is the environment variable that holds the database password.
const PasswordEnv = "IBENCH_PASSWORD"

// mysqlFlags name flags that mean a MySQL-protocol server.
var mysqlFlags = []string{"dsn", "socket", "host", "port", "user", "password", "password-file", "ask-password", "tls"}

// ConnectionFlags are the flags that say which database to open.
func ConnectionFlags() []cli.Flag {
	const category = "Database"
	text := func(name, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage, Category: category}
	}
	return []cli.Flag{
		text("dbms", "`NAME` of the database: sqlite (embedded, the default when no server is named), mysql or mariadb (the same), fake (does nothing; for trying out)"),
		text("dsn", "`DSN` of a MySQL-protocol server in go-sql-driver's form, as bench@tcp(10.0.0.5:3306)/ib"),
		text("socket", "unix socket `PATH` of the server"),
		text("host", "server `HOST` (default 127.0.0.1)"),
		&cli.IntFlag{Name: "port", Usage: "server `PORT` (default 3306)", Category: category},
		text("user", "user `NAME` to log in as (default root)"),
		text("password-file", "`FILE` whose first line is the password; or set "+PasswordEnv),
		&cli.BoolFlag{Name: "ask-password", Usage: "ask for the password on the terminal", Category: category},
		text("password", "the `PASSWORD` itself; others on this host can see it, so better use --password-file"),
		text("database", "`NAME` of the database to use; it must exist (default ib, made when missing)"),
		text("tls", "off, preferred, required or skip-verify (default off) `MODE`"),
		text("path", "`FILE` of the embedded SQLite database (default ib.sqlite)"),
		text("engine", "storage engine `NAME`, as innodb or rocksdb (default: the server's)"),
		text("engine-options", "`TEXT` to append to CREATE TABLE"),
		&cli.DurationFlag{Name: "connect-timeout", Usage: "`TIME` to connect and log in", Value: 5 * time.Second, Category: category},
		&cli.DurationFlag{Name: "statement-timeout", Usage: "`TIME` after which a statement's outcome is unknown; a stall of minutes is data, so keep it long", Value: 10 * time.Minute, Category: category},
	}
}

// ResolveConnection makes a Connection of the flags, and warns once of a
// password on the command line.
func ResolveConnection(c *cli.Context, p *Process) (Connection, error) {
	conn := Connection{
		DBMS: strings.ToLower(c.String("dbms")), Socket: c.String("socket"), Host: c.String("host"), Port: c.Int("port"),
		User: c.String("user"), Database: c.String("database"), TLS: c.String("tls"), Path: c.String("path"),
		DSN:    drivers.NewSecret(c.String("dsn")),
		Engine: c.String("engine"), EngineOptions: c.String("engine-options"),
		ConnectTimeout:   Seconds(c.Duration("connect-timeout")),
		StatementTimeout: Seconds(c.Duration("statement-timeout")),
	}
	if err := conn.resolveDBMS(c, p); err != nil {
		return conn, err
	}
	if conn.ConnectTimeout <= 0 || conn.StatementTimeout <= 0 {
		return conn, Usagef("--connect-timeout and --statement-timeout must be longer than nothing, as 5s or 10m")
	}
	password, err := resolvePassword(c, p, conn)
	conn.Password = password
	return conn, err
}

// resolveDBMS settles which database is meant and fills its defaults.
func (conn *Connection) resolveDBMS(c *cli.Context, p *Process) error {
	var named string
	for _, flag := range mysqlFlags {
		if c.IsSet(flag) {
			named = flag
			break
		}
	}
	switch conn.DBMS {
	case "mariadb":
		conn.DBMS = "mysql"
	case "":
		conn.DBMS = "sqlite"
		if named != "" {
			conn.DBMS = "mysql"
		}
	}
	conn.Named = conn.DBMS != "sqlite" || c.IsSet("dbms")
	switch conn.DBMS {
	case "mysql":
		if c.IsSet("path") {
			return Usagef("--path is the embedded database's file and means nothing to %s", conn.DBMS)
		}
		return conn.resolveMySQL(c, p)
	case "sqlite":
		if named == "" && c.IsSet("database") {
			named = "database"
		}
		if named == "" && conn.Engine != "" {
			return Usagef("--engine=%s names a server's storage engine, and no server is named; add --dbms=mysql with --socket or --host", conn.Engine)
		}
		if named != "" {
			return Usagef("--%s means nothing to the embedded sqlite; name the server with --dbms=mysql", named)
		}
		if conn.EngineOptions != "" {
			return Usagef("--engine-options means nothing to the embedded sqlite")
		}
		if conn.Path == "" {
			conn.Path = "ib.sqlite"
		}
	case "fake":
	default:
		return Usagef("--dbms=%s is not known; it is one of %s", conn.DBMS, strings.Join(DBMSNames, ", "))
	}
	return nil
}

// resolveMySQL fills the defaults of a MySQL-protocol server.
func (conn *Connection) resolveMySQL(c *cli.Context, p *Process) error {
	if conn.DSN.IsSet() {
		for _, flag := range []string{"socket", "host", "port", "user", "database"} {
			if c.IsSet(flag) {
				return Usagef("--dsn and --%s both say where to connect; give one of them", flag)
			}
		}
		return conn.showDSN(p)
	}
	if conn.Socket != "" && (conn.Host != "" || conn.Port != 0) {
		return Usagef("--socket and --host or --port both say where to connect; give one of them")
	}
	if conn.Port < 0 || conn.Port > 65535 {
		return Usagef("--port=%d is no port; it is from 1 to 65535", conn.Port)
	}
	if conn.Socket == "" && conn.Host == "" {
		conn.Host = "127.0.0.1"
	}
	if conn.Socket == "" && conn.Port == 0 {
		conn.Port = 3306
	}
	if conn.User == "" {
		conn.User = "root"
	}
	return nil
}

// showDSN checks the DSN and keeps what may be shown of it.
func (conn *Connection) showDSN(p *Process) error {
	// The driver's own check: the parser's errors quote what may be the password.
	if err := (mysql.Config{DSN: conn.DSN.Reveal()}).Validate(); err != nil {
		return err
	}
	shown, secret := redactDSN(conn.DSN.Reveal())
	if secret {
		warnOfPassword(p)
	}
	conn.DSNShown = shown
	return nil
}

func warnOfPassword(p *Process) {
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
		warnOfPassword(p)
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
