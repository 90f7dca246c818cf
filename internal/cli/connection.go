package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"insertbench/drivers"
)

// Connection is what the flags say of the database to open, resolved: no
// field depends on another's default any more. It goes into the record.
type Connection struct {
	DBMS string `json:"dbms"`
	// Named is true where a flag named a server; without one the embedded
	// database runs.
	Named bool `json:"-"`
	// MustExist refuses a database that is missing instead of making it.
	MustExist bool `json:"-"`
	// CreateDatabase makes a missing one: nobody chose its name.
	CreateDatabase bool           `json:"-"`
	DSN            drivers.Secret `json:"-"`
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
	// UniqueChecksOff is what the workload asks of its MySQL sessions; the
	// record has it there.
	UniqueChecksOff bool `json:"-"`
	// KeepRows has the fake database keep its rows, so that they can be read.
	KeepRows bool    `json:"-"`
	Mongo    Mongo   `json:"mongo"`
	Private  Private `json:"private_server"`

	// fromFile is true where a file of settings named the server.
	fromFile bool
}

// Seconds is a duration that is written as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes seconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%g", time.Duration(s).Seconds()), nil
}

// DBMSNames are the values of --dbms.
var DBMSNames = []string{"sqlite", "mysql", "mariadb", "mongo", "fake"}

const databaseCategory = "Database"

// flagOwners says which databases a flag means something to. The first group
// in which a flag is given settles the database where --dbms doesn't.
var flagOwners = []struct{ dbms, flags []string }{
	{[]string{"mysql"}, []string{"dsn", "socket", "host", "port", "tls", "engine-options"}},
	{[]string{"mongo"}, mongoFlagNames},
	{[]string{"sqlite"}, []string{"path"}},
	{[]string{"mysql", "mongo"}, []string{"user", "password", "password-file", "ask-password", "database"}},
	{[]string{"mysql", "mongo"}, privateFlagNames},
	{[]string{"mysql", "mongo", "fake"}, []string{"engine"}},
}

// Defaults are what a workload connects to where no flag says otherwise.
type Defaults struct {
	Database string // its name, made where it is missing
	Path     string // of the embedded SQLite
	File     File
	Without  []string // flags that mean nothing to the workload
}

// File is what a file of settings says of a server. It counts where no flag
// names another: the zero value names none.
type File struct {
	DBMS, Host, User string
	Port             int
	Password, URI    drivers.Secret
}

// insertBenchmark are the Insert Benchmark's.
var insertBenchmark = Defaults{Database: "ib", Path: "ib.sqlite"}

// ConnectionFlags are the flags that say which database to open, for the
// Insert Benchmark.
func ConnectionFlags() []cli.Flag { return insertBenchmark.Flags() }

// ResolveConnection makes a Connection of the flags, for the Insert Benchmark.
func ResolveConnection(c *cli.Context, p *Process) (Connection, error) {
	return insertBenchmark.Resolve(c, p)
}

// Flags are the flags that say which database to open.
func (d Defaults) Flags() []cli.Flag {
	flags := []cli.Flag{
		databaseFlag("dbms", "`NAME` of the database: sqlite (embedded, the default when no server is named), mysql or mariadb (the same), mongo, fake (does nothing; for trying out)"),
		databaseFlag("user", "user `NAME` to log in as (default root for mysql)"),
		databaseFlag("database", "`NAME` of the database to use; with mysql it must exist (default "+d.Database+", made when missing)"),
		databaseFlag("engine", "storage engine `NAME`, as innodb or rocksdb (default: the server's)"),
		databaseFlag("path", "`FILE` of the embedded SQLite database (default "+d.Path+")"),
		&cli.DurationFlag{Name: "connect-timeout", Usage: "`TIME` to connect and log in", Value: 5 * time.Second, Category: databaseCategory},
		&cli.DurationFlag{Name: "statement-timeout", Usage: "`TIME` after which a statement's outcome is unknown; a stall of minutes is data, so keep it long", Value: 10 * time.Minute, Category: databaseCategory},
	}
	flags = slices.Concat(flags, passwordFlags(), mysqlFlags(), mongoFlags(), privateFlags())
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return slices.Contains(d.Without, f.Names()[0]) })
}

func databaseFlag(name, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: usage, Category: databaseCategory}
}

// Resolve makes a Connection of the flags, and warns once of a password on the
// command line.
func (d Defaults) Resolve(c *cli.Context, p *Process) (Connection, error) {
	conn := Connection{
		DBMS: strings.ToLower(c.String("dbms")), Socket: c.String("socket"), Host: c.String("host"), Port: c.Int("port"),
		User: c.String("user"), Database: c.String("database"), TLS: c.String("tls"), Path: c.String("path"),
		DSN:    drivers.NewSecret(c.String("dsn")),
		Engine: c.String("engine"), EngineOptions: c.String("engine-options"),
		ConnectTimeout:   Seconds(c.Duration("connect-timeout")),
		StatementTimeout: Seconds(c.Duration("statement-timeout")),
	}
	if conn.ConnectTimeout <= 0 || conn.StatementTimeout <= 0 {
		return conn, Usagef("--connect-timeout and --statement-timeout must be longer than nothing, as 5s or 10m")
	}
	for _, resolve := range []func(*cli.Context, *Process) error{
		conn.resolvePrivate, d.File.fill(&conn), conn.resolveDBMS, conn.refuseForeign, conn.resolveMySQL, conn.resolveMongo, d.fill(&conn),
	} {
		if err := resolve(c, p); err != nil {
			return conn, err
		}
	}
	password, err := resolvePassword(c, p, conn)
	if !password.IsSet() && conn.fromFile {
		password = d.File.Password
	}
	conn.Password = password
	return conn, err
}

// fill makes the step of Resolve that takes what the file of settings says of a
// server, unless flags name one.
func (f File) fill(conn *Connection) func(*cli.Context, *Process) error {
	return func(c *cli.Context, _ *Process) error {
		names := append([]string{"dsn", "socket", "host", "port", "path", "server"}, mongoFlagNames...)
		other := conn.DBMS != "" && conn.DBMS != f.DBMS && !(conn.DBMS == "mariadb" && f.DBMS == "mysql")
		if f.DBMS == "" || other || slices.ContainsFunc(names, c.IsSet) {
			return nil
		}
		conn.fromFile = true
		conn.DBMS, conn.Host, conn.Port, conn.Mongo.URI = f.DBMS, f.Host, f.Port, f.URI
		if conn.User == "" {
			conn.User = f.User
		}
		return nil
	}
}

// fill makes the step of Resolve that names database and file where nothing did.
func (d Defaults) fill(conn *Connection) func(*cli.Context, *Process) error {
	return func(*cli.Context, *Process) error {
		if conn.DBMS == "sqlite" && conn.Path == "" {
			conn.Path = d.Path
		}
		if (conn.DBMS == "mysql" || conn.DBMS == "mongo") && conn.Database == "" && !conn.DSN.IsSet() {
			conn.Database, conn.CreateDatabase = d.Database, true
		}
		return nil
	}
}

// resolveDBMS settles which database is meant: --dbms, else the program of a
// private server, else the first flag that means only one of them, else the
// embedded one.
func (conn *Connection) resolveDBMS(c *cli.Context, _ *Process) error {
	if conn.DBMS == "mariadb" {
		conn.DBMS = "mysql"
	}
	if own := conn.Private.dbms; own != "" {
		if conn.DBMS != "" && conn.DBMS != own {
			return Usagef("--server=%s is %s, which --dbms=%s doesn't speak with", conn.Private.Program, conn.Private.product, conn.DBMS)
		}
		conn.DBMS = own
	}
	for _, group := range flagOwners {
		if conn.DBMS == "" && slices.ContainsFunc(group.flags, c.IsSet) {
			conn.DBMS = group.dbms[0]
			if c.IsSet("engine") && group.dbms[0] == "mysql" && slices.Contains(group.flags, "engine") {
				return Usagef("--engine=%s names a server's storage engine, and no server is named; add --dbms=mysql or --dbms=mongo", conn.Engine)
			}
		}
	}
	if conn.DBMS == "" {
		conn.DBMS = "sqlite"
	}
	conn.Named = conn.DBMS != "sqlite" || c.IsSet("dbms")
	if !slices.Contains(DBMSNames, conn.DBMS) {
		return Usagef("--dbms=%s is not known; it is one of %s", conn.DBMS, strings.Join(DBMSNames, ", "))
	}
	return nil
}

// refuseForeign refuses the flags that mean nothing to the database.
func (conn *Connection) refuseForeign(c *cli.Context, _ *Process) error {
	for _, group := range flagOwners {
		if slices.Contains(group.dbms, conn.DBMS) {
			continue
		}
		for _, flag := range group.flags {
			if c.IsSet(flag) {
				return Usagef("--%s means nothing to %s; it goes with --dbms=%s", flag, conn.DBMS, strings.Join(group.dbms, " or --dbms="))
			}
		}
	}
	return nil
}

// outlives tells whether the tables are there when the command has ended.
func (c *Connection) outlives() bool {
	return c.DBMS != "fake" && (c.Private.Program == "" || c.Private.DataDir != "")
}
