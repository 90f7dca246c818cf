package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

var (
	_ ibench.Reader           = (*Server)(nil)
	_ ibench.DeletingDatabase = (*Server)(nil)
	_ ibench.Settler          = (*Server)(nil)
)

// link is one worker's connection.
type link struct {
	session *session
	// table is the table's name and address, for messages.
	table   string
	aborted atomic.Bool
}

// open opens a connection for a worker. deadline bounds each of its
// statements; 0 is none.
func (s *Server) open(ctx context.Context, table string, deadline time.Duration) (*link, error) {
	if err := ibench.CheckTableName(table); err != nil {
		return nil, err
	}
	cfg := s.cfg.Clone()
	cfg.ReadTimeout = deadline
	conn, err := connect(ctx, cfg)
	if err != nil {
		return nil, connectError(err, s.where, s.cfg)
	}
	return &link{session: conn, table: s.table(table)}, nil
}

// prepare prepares a statement; one that can't be is an error of kind drivers.ErrConfig.
func (l *link) prepare(text string) (*sqltext.Statement, error) {
	stmt, err := sqltext.Prepare(l.session.conn, text)
	if err != nil {
		return nil, drivers.Configf("preparing a statement for table %s (%s): %w", l.table, text, l.session.cause(err))
	}
	return stmt, nil
}

// Abort closes the socket under a running statement.
func (l *link) Abort() {
	l.aborted.Store(true)
	// An error here means that it is closed already, which is what is wanted.
	_ = l.session.socket.Close()
}

// Close ends the connection, and the server with it what was prepared. The
// goodbye can't be sent on a connection that was lost, which isn't an error.
func (l *link) Close() error {
	validator, ok := l.session.conn.(driver.Validator)
	lost := ok && !validator.IsValid()
	err := l.session.conn.Close()
	if err == nil || lost || l.aborted.Load() || errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return fmt.Errorf("closing the connection to table %s: %w", l.table, err)
}

// readError classes the failure of a statement that changes nothing.
func (l *link) readError(err error, doing string) *drivers.Error {
	err = l.session.cause(err)
	doing += " table " + l.table
	var server *mysql.MySQLError
	switch {
	case l.aborted.Load():
		return &drivers.Error{Class: drivers.Unknown, Code: "aborted", Err: fmt.Errorf("%s: aborted before the answer came", doing)}
	case !errors.As(err, &server):
		word, advice := lostWord(err)
		return &drivers.Error{Class: drivers.Unknown, Code: word, Err: fmt.Errorf("%s: %s: %w (%s)", doing, word, err, advice)}
	}
	out := &drivers.Error{Class: drivers.Fatal, Code: strconv.Itoa(int(server.Number)), Err: fmt.Errorf("%s: %w", doing, err)}
	if server.Number == errDeadlock || server.Number == errLockWaitTimeout {
		out.Class = drivers.Retryable
	}
	return out
}

// hinted is a table with the index that a query must use.
func hinted(table string, index int) string {
	name := "PRIMARY"
	if index != ibench.PrimaryKey {
		name = indexName(table, ibench.Indexes[index])
	}
	return table + " FORCE INDEX (" + name + ")"
}

// OpenQuerier opens a connection for one reader. Statements are prepared when
// they are first used, since a table may lack an index.
func (s *Server) OpenQuerier(ctx context.Context, table string, _, rows int) (ibench.Querier, error) {
	l, err := s.open(ctx, table, s.statementTimeout)
	if err != nil {
		return nil, err
	}
	if s.inKernel {
		if err := l.session.block(s.statementTimeout); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return &querier{link: l, name: table, rows: rows}, nil
}

type querier struct {
	*link
	name   string
	rows   int
	ranges [3]*sqltext.Statement
	points *sqltext.Statement
}

// Range reads a secondary index.
func (q *querier) Range(_ context.Context, index int, from int64, dst []ibench.Entry) ([]ibench.Entry, error) {
	if q.ranges[index] == nil {
		stmt, err := q.prepare(sqltext.RangeText(hinted(q.name, index), ibench.Indexes[index], q.rows))
		if err != nil {
			return dst, &drivers.Error{Class: drivers.Fatal, Code: "prepare", Err: err}
		}
		q.ranges[index] = stmt
	}
	// Watching a context costs more CPU than asking: Abort ends the query.
	dst, err := q.ranges[index].Range(context.Background(), from, dst)
	if err != nil {
		return dst, q.readError(err, "querying index "+ibench.Indexes[index].Name+" of")
	}
	return dst, nil
}

// Points reads rows by their keys.
func (q *querier) Points(_ context.Context, numbers []int64, dst []ibench.PointRow) ([]ibench.PointRow, error) {
	if q.points == nil {
		stmt, err := q.prepare(sqltext.PointText(hinted(q.name, ibench.PrimaryKey), q.rows))
		if err != nil {
			return dst, &drivers.Error{Class: drivers.Fatal, Code: "prepare", Err: err}
		}
		q.points = stmt
	}
	dst, err := q.points.Points(context.Background(), numbers, dst)
	if err != nil {
		return dst, q.readError(err, "querying the primary key of")
	}
	return dst, nil
}

// NumbersByClient is false: the database makes the keys.
func (s *Server) NumbersByClient() bool { return false }

// OpenScanner opens a connection for scans.
func (s *Server) OpenScanner(ctx context.Context, table string) (ibench.Scanner, error) {
	l, err := s.open(ctx, table, 0)
	if err != nil {
		return nil, err
	}
	return &scanner{link: l, name: table}, nil
}

type scanner struct {
	*link
	name string
}

// Scan counts what it reads of an index.
func (c *scanner) Scan(_ context.Context, index int) (int64, error) {
	stmt, err := c.prepare(sqltext.ScanText(hinted(c.name, index), index))
	if err != nil {
		return 0, &drivers.Error{Class: drivers.Fatal, Code: "prepare", Err: err}
	}
	n, _, err := stmt.Number(context.Background())
	if err != nil {
		return 0, c.readError(err, "scanning")
	}
	return n, stmt.Close()
}

// Extent reads the table's size, its ends and its indexes back.
func (s *Server) Extent(ctx context.Context, table string) (ibench.Extent, error) {
	var x ibench.Extent
	if err := ibench.CheckTableName(table); err != nil {
		return x, err
	}
	var low, high int64
	err := s.db.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(MIN(transactionid), 1), COALESCE(MAX(transactionid), 1) FROM "+table).Scan(&x.Rows, &low, &high)
	if isNumber(err, errUnknownColumn) {
		return x, drivers.Configf("table %s isn't one that ibench load made: it has no column transactionid; name another database with --database", s.table(table))
	}
	if err != nil {
		return x, fmt.Errorf("reading the extent of table %s: %w", s.table(table), err)
	}
	x.Lowest, x.Highest = low-1, high-1
	for _, index := range ibench.Indexes {
		var n int
		err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '"+
			table+"' AND INDEX_NAME = '"+indexName(table, index)+"'").Scan(&n)
		if err != nil {
			return x, fmt.Errorf("reading the indexes of table %s: %w", s.table(table), err)
		}
		if n > 0 {
			x.Indexes = append(x.Indexes, index.Name)
		}
	}
	return x, nil
}
