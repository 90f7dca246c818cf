package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"

	"modernc.org/sqlite"

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
	conn driver.Conn
	// table is the table's name and file, for messages.
	table   string
	once    sync.Once
	aborted chan struct{}
}

func (s *Server) link(ctx context.Context, table string) (*link, error) {
	if err := ibench.CheckTableName(table); err != nil {
		return nil, err
	}
	conn, err := s.connector.Connect(ctx)
	if err != nil {
		return nil, openError(err, s.path)
	}
	return &link{conn: conn, table: table + " in SQLite file " + s.path, aborted: make(chan struct{})}, nil
}

// context is ended by Abort, which interrupts a statement.
func (l *link) context() context.Context { return abortContext{context.Background(), l.aborted} }

// Abort interrupts a running statement, and one that waits for its turn.
func (l *link) Abort() { l.once.Do(func() { close(l.aborted) }) }

// Close ends the connection. It is safe to call twice.
func (l *link) Close() error {
	if l.conn == nil {
		return nil
	}
	err := l.conn.Close()
	l.conn = nil
	if err != nil {
		return fmt.Errorf("closing the connection to table %s: %w", l.table, err)
	}
	return nil
}

// failed classes the failure of a statement that changes nothing.
func (l *link) failed(err error, doing string) *drivers.Error {
	doing += " table " + l.table
	select {
	case <-l.aborted:
		return &drivers.Error{Class: drivers.Unknown, Code: "aborted", Err: fmt.Errorf("%s: aborted before it ended", doing)}
	default:
	}
	out := &drivers.Error{Class: drivers.Fatal, Code: "error", Err: fmt.Errorf("%s: %w", doing, err)}
	var e *sqlite.Error
	if errors.As(err, &e) {
		out.Code = codeName(e.Code())
	}
	return out
}

func (l *link) prepare(text, doing string) (*sqltext.Statement, error) {
	stmt, err := sqltext.Prepare(l.conn, text)
	if err != nil {
		return nil, l.failed(err, doing)
	}
	return stmt, nil
}

// hinted is a table with the index that a query must use.
func hinted(table string, index int) string {
	if index == ibench.PrimaryKey {
		return table + " NOT INDEXED"
	}
	return table + " INDEXED BY " + table + "_" + ibench.Indexes[index].Name
}

// OpenQuerier opens a connection for one reader. Statements are prepared when
// they are first used, since a table may lack an index. In WAL mode it reads
// beside a writer without waiting.
func (s *Server) OpenQuerier(ctx context.Context, table string, _, rows int) (ibench.Querier, error) {
	l, err := s.link(ctx, table)
	if err != nil {
		return nil, err
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
	doing := "querying index " + ibench.Indexes[index].Name + " of"
	if q.ranges[index] == nil {
		stmt, err := q.prepare(sqltext.RangeText(hinted(q.name, index), ibench.Indexes[index], q.rows), doing)
		if err != nil {
			return dst, err
		}
		q.ranges[index] = stmt
	}
	dst, err := q.ranges[index].Range(q.context(), from, dst)
	if err != nil {
		return dst, q.failed(err, doing)
	}
	return dst, nil
}

// Points reads rows by their keys.
func (q *querier) Points(_ context.Context, numbers []int64, dst []ibench.PointRow) ([]ibench.PointRow, error) {
	const doing = "querying the primary key of"
	if q.points == nil {
		// NOT INDEXED leaves the primary key to be used, which is the row id.
		stmt, err := q.prepare(sqltext.PointText(hinted(q.name, ibench.PrimaryKey), q.rows), doing)
		if err != nil {
			return dst, err
		}
		q.points = stmt
	}
	dst, err := q.points.Points(q.context(), numbers, dst)
	if err != nil {
		return dst, q.failed(err, doing)
	}
	return dst, nil
}

// Close ends the statements and the connection.
func (q *querier) Close() error {
	err := closeStatements(append(q.ranges[:], q.points)...)
	q.ranges, q.points = [3]*sqltext.Statement{}, nil
	return errors.Join(err, q.link.Close())
}

func closeStatements(list ...*sqltext.Statement) error {
	var errs []error
	for _, stmt := range list {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// NumbersByClient is false: the database makes the keys.
func (s *Server) NumbersByClient() bool { return false }

// OpenScanner opens a connection for scans.
func (s *Server) OpenScanner(ctx context.Context, table string) (ibench.Scanner, error) {
	l, err := s.link(ctx, table)
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
	stmt, err := c.prepare(sqltext.ScanText(hinted(c.name, index), index), "scanning")
	if err != nil {
		return 0, err
	}
	n, _, err := stmt.Number(c.context())
	if err != nil {
		return 0, errors.Join(c.failed(err, "scanning"), stmt.Close())
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
	if err != nil && strings.Contains(err.Error(), "no such column") {
		return x, drivers.Configf("table %s in SQLite file %s isn't one that ibench load made: it has no column transactionid; name another file with --path", table, s.path)
	}
	if err != nil {
		return x, fmt.Errorf("reading the extent of table %s in SQLite file %s: %w", table, s.path, err)
	}
	x.Lowest, x.Highest = low-1, high-1
	names, err := s.strings(ctx, "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = '"+table+"'")
	if err != nil {
		return x, err
	}
	for _, index := range ibench.Indexes {
		for _, name := range names {
			if strings.EqualFold(name, table+"_"+index.Name) {
				x.Indexes = append(x.Indexes, index.Name)
			}
		}
	}
	return x, nil
}
