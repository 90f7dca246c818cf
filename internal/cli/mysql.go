package cli

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
)

func mysqlFlags() []cli.Flag {
	return []cli.Flag{
		databaseFlag("dsn", "`DSN` of a MySQL-protocol server in go-sql-driver's form, as bench@tcp(10.0.0.5:3306)/ib"),
		databaseFlag("socket", "unix socket `PATH` of a MySQL-protocol server"),
		databaseFlag("host", "`HOST` of a MySQL-protocol server (default 127.0.0.1)"),
		&cli.IntFlag{Name: "port", Usage: "`PORT` of a MySQL-protocol server", DefaultText: "3306", Category: databaseCategory},
		databaseFlag("tls", "`MODE` of encryption to a MySQL-protocol server: off, preferred, required or skip-verify (default off)"),
		databaseFlag("engine-options", "`TEXT` to append to CREATE TABLE"),
	}
}

// resolveMySQL fills the defaults of a MySQL-protocol server.
func (conn *Connection) resolveMySQL(c *cli.Context, p *Process) error {
	if conn.DBMS != "mysql" {
		return nil
	}
	if conn.Private.Program != "" {
		for _, flag := range []string{"dsn", "socket", "host", "port"} {
			if c.IsSet(flag) {
				return Usagef("--server starts a server, and --%s names one that runs; give one of them", flag)
			}
		}
		conn.User = "root"
		return nil
	}
	if conn.DSN.IsSet() {
		for _, flag := range []string{"socket", "host", "port", "user", "database"} {
			if c.IsSet(flag) {
				return Usagef("--dsn and --%s both say where to connect; give one of them", flag)
			}
		}
		return conn.showDSN(c, p)
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
func (conn *Connection) showDSN(c *cli.Context, p *Process) error {
	// The driver's own check: the parser's errors quote what may be the password.
	if err := (mysql.Config{DSN: conn.DSN.Reveal()}).Validate(); err != nil {
		return err
	}
	shown, secret := redactDSN(conn.DSN.Reveal())
	if secret {
		warnOfPassword(c, p)
	}
	conn.DSNShown = shown
	return nil
}

func openMySQL(ctx context.Context, c Connection) (drivers.Server, error) {
	return asServer(mysql.Open(ctx, mysql.Config{
		DSN: c.DSN.Reveal(), Socket: c.Socket, Host: c.Host, Port: c.Port, User: c.User, Password: c.Password,
		Database: c.Database, CreateDatabase: c.CreateDatabase && !c.MustExist, TLS: c.TLS,
		Engine: c.Engine, EngineOptions: c.EngineOptions, UniqueChecksOff: c.UniqueChecksOff,
		ConnectTimeout: time.Duration(c.ConnectTimeout), StatementTimeout: time.Duration(c.StatementTimeout),
	}))
}
