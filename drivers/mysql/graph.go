package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-sql-driver/mysql"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
)

// Graph is an open connection as LinkBench's database. Tables, columns and
// keys are the original's, so a graph that either has loaded can be used by
// the other.
type Graph struct {
	*Server
	// isolation is that of the clients, read back from one of them.
	isolation string
}

var (
	_ linkbench.Database = (*Graph)(nil)
	_ linkbench.Resumer  = (*Graph)(nil)
)

// Graph is the connection as LinkBench's database. Closing either closes both.
func (s *Server) Graph() *Graph { return &Graph{Server: s} }

// Settings are the server's, and the isolation level of the clients once there
// was one, which isn't the session's that the others are read from.
func (g *Graph) Settings(ctx context.Context) ([]drivers.Setting, error) {
	settings, err := g.Server.Settings(ctx)
	if err == nil && g.isolation != "" {
		settings = append(settings, drivers.Setting{Name: "transaction_isolation of LinkBench's connections", Value: g.isolation})
	}
	return settings, err
}

// SizeBytes is data and indexes of LinkBench's tables by the server's own
// estimate, which for InnoDB and RocksDB lags behind.
func (g *Graph) SizeBytes(ctx context.Context) (int64, error) {
	return g.sizeBytes(ctx, sqltext.IsGraphTable)
}

// graphSQLMode makes a statement's text mean the same on every server.
const graphSQLMode = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"

// isolationFor is the level that LinkBench runs an engine with: READ COMMITTED
// for MyRocks, which has no gap locks, and REPEATABLE READ for all others, as
// the original's documentation says.
func isolationFor(e engine) string {
	if e.is(rocksdb) {
		return "READ-COMMITTED"
	}
	return "REPEATABLE-READ"
}

// graphLink is a connection to LinkBench's tables.
type graphLink struct {
	link
	// tail is what messages end with: the database and its address.
	tail string
	// fills is whether bulk inserts leave rows alone that exist, which then
	// aren't among those affected.
	fills bool
}

// graphMode says what a connection is for.
type graphMode struct {
	// manyStatements lets a packet hold several, and turns autocommit off.
	manyStatements bool
	// foundRows has UPDATE count the rows that it found, not those it changed.
	foundRows bool
}

// openGraph opens a connection whose character set is binary: payloads are
// bytes, and pass into the original's latin1 columns and back as they are.
func (g *Graph) openGraph(ctx context.Context, mode graphMode) (*graphLink, error) {
	if !g.engine.transactional {
		return nil, drivers.Configf("engine %s of the server at %s has no transactions, and LinkBench's counts can't be kept without: use another --engine", g.engine.name, g.where)
	}
	cfg := g.cfg.Clone()
	cfg.MultiStatements = mode.manyStatements
	cfg.ClientFoundRows = mode.foundRows
	conn, err := connect(ctx, cfg)
	if err != nil {
		return nil, connectError(err, g.where, g.cfg)
	}
	l := &graphLink{link: link{session: conn, table: g.cfg.DBName}, tail: " in database " + g.cfg.DBName + " at " + g.where}
	setup := []string{
		"SET NAMES binary", "SET SESSION sql_mode = '" + graphSQLMode + "'",
		"SET SESSION TRANSACTION ISOLATION LEVEL " + strings.ReplaceAll(isolationFor(g.engine), "-", " "),
	}
	if mode.manyStatements {
		setup = append(setup, "SET SESSION autocommit = 0")
	}
	if err := l.setUp(setup); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := g.readIsolation(l); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if g.inKernel {
		if err := conn.block(g.statementTimeout); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

func (l *graphLink) setUp(statements []string) error {
	for _, text := range statements {
		if _, err := l.session.exec.ExecContext(context.Background(), text, nil); err != nil {
			return drivers.Configf("setting up a connection%s (%s): %w", l.tail, text, l.session.cause(err))
		}
	}
	return nil
}

// readIsolation reads the connection's level back. MariaDB before 11.1 knows it
// by its old name only.
func (g *Graph) readIsolation(l *graphLink) error {
	got, err := l.word("SELECT @@session.transaction_isolation")
	if isNumber(err, errUnknownVariable) {
		got, err = l.word("SELECT @@session.tx_isolation")
	}
	if err != nil {
		return fmt.Errorf("reading back the isolation level%s: %w", l.tail, l.session.cause(err))
	}
	if want := isolationFor(g.engine); got != want {
		return drivers.Configf("the server at %s set isolation level %s where %s was asked for", g.where, got, want)
	}
	g.isolation = got
	return nil
}

// word is the result of a query of one string.
func (l *graphLink) word(query string) (string, error) {
	queryer, ok := l.session.conn.(driver.QueryerContext)
	if !ok {
		return "", errors.New("the MySQL driver can't query by text")
	}
	rows, err := queryer.QueryContext(context.Background(), query, nil)
	if err != nil {
		return "", err
	}
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the result is empty")
		}
		return "", errors.Join(err, rows.Close())
	}
	text, _ := row[0].([]byte)
	return string(text), rows.Close()
}

// failed classes the failure of a statement; changes is whether it would have
// changed something.
func (l *graphLink) failed(err error, doing string, changes bool) *drivers.Error {
	doing += l.tail
	switch {
	case l.aborted.Load():
		return &drivers.Error{Class: drivers.Unknown, Code: "aborted", Err: fmt.Errorf("%s: aborted before the answer came", doing)}
	case errors.Is(err, driver.ErrBadConn):
		// The driver says so only of what it didn't send.
		return &drivers.Error{Class: drivers.Fatal, Code: "not connected", Err: fmt.Errorf("%s: not sent: the connection was lost before", doing)}
	case errors.Is(err, mysql.ErrPktTooLarge):
		return &drivers.Error{Class: drivers.Fatal, Code: "statement too long",
			Err: fmt.Errorf("%s: the statement is above max_allowed_packet and wasn't sent: use fewer rows (bulk_insert_count) or raise max_allowed_packet", doing)}
	}
	out := statementError(l.session.cause(err), doing, true)
	if !changes && out.Class == drivers.Unknown {
		word, advice := lostWord(err)
		var server *mysql.MySQLError
		if !errors.As(err, &server) {
			out.Err = fmt.Errorf("%s: %s: %w (%s)", doing, word, l.session.cause(err), advice)
		}
	}
	return out
}
