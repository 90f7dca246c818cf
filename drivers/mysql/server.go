package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"insertbench/drivers"
	"insertbench/ibench"
)

// Server is an open connection for everything but inserts, which have
// connections of their own. It implements ibench.Database.
type Server struct {
	db  *sql.DB
	cfg *mysql.Config // with the statement deadlines, for inserters
	// where is the server's address as shown to the user.
	where            string
	engine           engine
	options          string
	statementTimeout time.Duration
	uniqueChecksOff  bool
	// inKernel says that connections that query wait outside the runtime's poller.
	inKernel bool
	identity drivers.Identity
	place    drivers.Place
}

var _ ibench.Database = (*Server)(nil)

// What the server can do beyond ibench.Database: without these lines a method
// that no longer fits would make its tests skip instead of fail.
var (
	_ ibench.Shaper       = (*Server)(nil)
	_ ibench.Scripter     = (*Server)(nil)
	_ ibench.LongDatabase = (*Server)(nil)
	_ ibench.BulkLoader   = (*Server)(nil)
	_ drivers.Counting    = (*Server)(nil)
)

// Open connects, makes the database where Config allows it, finds the engine
// and reads the identity back. Errors are of kind drivers.ErrConnect or
// drivers.ErrConfig and never hold a password.
func Open(ctx context.Context, c Config) (*Server, error) {
	cfg, err := c.driverConfig()
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, where: cfg.Addr, options: c.EngineOptions,
		statementTimeout: orDefault(c.StatementTimeout, defaultStatementTimeout),
		uniqueChecksOff:  c.UniqueChecksOff,
	}
	if err := s.reach(ctx, c.CreateDatabase); err != nil {
		return nil, err
	}
	if s.db, err = pool(cfg); err != nil {
		return nil, err
	}
	cfg.ReadTimeout, cfg.WriteTimeout = s.statementTimeout, s.statementTimeout
	if err := s.identify(ctx, c.Engine); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// reach logs in once, where the reasons of a failure are still told apart,
// and makes the database if it may.
func (s *Server) reach(ctx context.Context, create bool) error {
	conn, err := connect(ctx, s.cfg)
	if err == nil {
		return conn.conn.Close()
	}
	var server *mysql.MySQLError
	if !create || !errors.As(err, &server) || server.Number != errNoDatabase {
		return connectError(err, s.where, s.cfg)
	}
	without := s.cfg.Clone()
	without.DBName = ""
	if conn, err = connect(ctx, without); err != nil {
		return connectError(err, s.where, s.cfg)
	}
	_, err = conn.exec.ExecContext(ctx, "CREATE DATABASE "+quoteName(s.cfg.DBName), nil)
	if isNumber(err, errDatabaseExists) {
		err = nil
	}
	if err != nil {
		err = drivers.Connectf("creating database %q on the server at %s: %w", s.cfg.DBName, s.where, err)
	}
	return errors.Join(err, conn.conn.Close())
}

// pool is database/sql with one connection at rest, which is opened again where
// the server has closed it for being idle during a long load. Index builds side
// by side take more for their time.
func pool(cfg *mysql.Config) (*sql.DB, error) {
	own := cfg.Clone()
	own.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(own)
	if err != nil {
		return nil, drivers.Configf("setting up the MySQL connection: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(1)
	return db, nil
}

// Identity says who answered, as read at Open.
func (s *Server) Identity() drivers.Identity { return s.identity }

// Place is where the server says it runs, as read at Open.
func (s *Server) Place() drivers.Place { return s.place }

// Close ends the connection. It is safe to call twice.
func (s *Server) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the connection to MySQL at %s: %w", s.where, err)
	}
	return nil
}

// short bounds a statement that isn't expected to take long.
func (s *Server) short(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.statementTimeout)
}

// pairs reads a result of names and values, such as SHOW VARIABLES.
func (s *Server) pairs(ctx context.Context, query string) (map[string]string, error) {
	ctx, cancel := s.short(ctx)
	defer cancel()
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("asking the server at %s (%s): %w", s.where, query, err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("asking the server at %s (%s): %w", s.where, query, err)
		}
		out[strings.ToLower(name)] = value
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("asking the server at %s (%s): %w", s.where, query, err)
	}
	return out, nil
}

// table is the table's name with its database, for messages.
func (s *Server) table(name string) string { return s.cfg.DBName + "." + name + " at " + s.where }

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func isNumber(err error, number uint16) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && server.Number == number
}
