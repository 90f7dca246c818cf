package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

// CheckBatch compares the longest such statement with SQLite's limit for the
// text of a statement.
func (s *Server) CheckBatch(ctx context.Context, rows, dataBytes int) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("reading the limits of SQLite file %s: %w", s.path, err)
	}
	defer conn.Close()
	limit, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_SQL_LENGTH, -1)
	if err != nil {
		return fmt.Errorf("reading the limits of SQLite file %s: %w", s.path, err)
	}
	need := sqltext.MaxBytes(ibench.TableName(999_999), rows, dataBytes)
	if need > int64(limit) {
		return drivers.Configf("a statement of %d rows with up to %d bytes of data each can take %d bytes, above SQLite's limit of %d: lower --rows-per-commit", rows, dataBytes, need, limit)
	}
	return nil
}

// OpenInserter opens a connection for one worker. ctx isn't watched while a
// statement runs, Abort ends it.
func (s *Server) OpenInserter(ctx context.Context, table string) (ibench.Inserter, error) {
	if err := ibench.CheckTableName(table); err != nil {
		return nil, err
	}
	conn, err := s.connector.Connect(ctx)
	if err != nil {
		return nil, openError(err, s.path)
	}
	exec, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver can't take a statement as text"), conn.Close())
	}
	in := &inserter{conn: conn, exec: exec, turn: s.turn, text: sqltext.NewInsert(table), table: table + " in SQLite file " + s.path, aborted: make(chan struct{})}
	return in, nil
}

type inserter struct {
	conn driver.Conn
	exec driver.ExecerContext
	turn chan struct{}
	text *sqltext.Insert
	// table is the table's name and file, for messages.
	table   string
	once    sync.Once
	aborted chan struct{}
}

func (in *inserter) Append(row *ibench.Row) { in.text.Append(row) }
func (in *inserter) Reset()                 { in.text.Reset() }

// Insert waits for its turn and runs the statement.
func (in *inserter) Insert(context.Context) error {
	text, err := in.text.Text()
	if err != nil {
		return &drivers.Error{Class: drivers.Fatal, Code: "unsafe data", Err: err}
	}
	if in.isAborted() {
		return in.abortedError()
	}
	select {
	case in.turn <- struct{}{}:
	case <-in.aborted:
		return in.abortedError()
	}
	result, err := in.exec.ExecContext(abortContext{context.Background(), in.aborted}, text, nil)
	<-in.turn
	if in.isAborted() && err != nil {
		return in.abortedError()
	}
	if err != nil {
		return statementError(err, in.doing())
	}
	affected, err := result.RowsAffected()
	if err == nil && affected == int64(in.text.Rows()) {
		return nil
	}
	return &drivers.Error{Class: drivers.Unknown, Code: "affected rows",
		Err: fmt.Errorf("%s: SQLite acknowledged %d rows where %d were sent: look for a trigger on the table", in.doing(), affected, in.text.Rows())}
}

func (in *inserter) doing() string {
	return fmt.Sprintf("inserting %d rows into table %s", in.text.Rows(), in.table)
}

func (in *inserter) isAborted() bool {
	select {
	case <-in.aborted:
		return true
	default:
		return false
	}
}

func (in *inserter) abortedError() error {
	return &drivers.Error{Class: drivers.Unknown, Code: "aborted",
		Err: fmt.Errorf("%s: aborted before it ended, whether the rows were kept isn't known", in.doing())}
}

// Abort interrupts a running statement, and one that waits for its turn.
func (in *inserter) Abort() { in.once.Do(func() { close(in.aborted) }) }

// Close ends the connection. It is safe to call twice.
func (in *inserter) Close() error {
	if in.conn == nil {
		return nil
	}
	err := in.conn.Close()
	in.conn = nil
	if err != nil {
		return fmt.Errorf("closing the connection to table %s: %w", in.table, err)
	}
	return nil
}

// abortContext is done when the inserter is aborted, which is how the driver
// is told to interrupt a statement.
type abortContext struct {
	context.Context
	aborted chan struct{}
}

func (c abortContext) Done() <-chan struct{} { return c.aborted }

func (c abortContext) Err() error {
	select {
	case <-c.aborted:
		return context.Canceled
	default:
		return nil
	}
}

// statementError classes the failure of an INSERT. SQLite rolls a failed
// statement back, but an I/O error while the log is written can leave a commit
// that the next one to open the file will find.
func statementError(err error, doing string) *drivers.Error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return &drivers.Error{Class: drivers.Unknown, Code: "no answer", Err: fmt.Errorf("%s: %w", doing, err)}
	}
	out := &drivers.Error{Class: drivers.Fatal, Code: codeName(e.Code()), Err: fmt.Errorf("%s: %w", doing, err)}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		out.Class = drivers.Retryable
		out.Err = fmt.Errorf("%s: another process writes to the file (%w)", doing, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_INTERRUPT:
		out.Class = drivers.Unknown
	case sqlite3.SQLITE_FULL:
		out.Err = fmt.Errorf("%s: the disk or the file's quota is full: free some space or use another --path (%w)", doing, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		out.Err = fmt.Errorf("%s: the file can't be written: check its permissions and those of its directory (%w)", doing, err)
	}
	return out
}

// codeName is SQLite's name for a result code, which the driver's table has in
// parentheses; the number where it has none.
func codeName(code int) string {
	for _, c := range []int{code, code & 0xff} {
		text := sqlite.ErrorCodeString[c]
		if open := strings.LastIndexByte(text, '('); open >= 0 && strings.HasSuffix(text, ")") {
			return text[open+1 : len(text)-1]
		}
	}
	return strconv.Itoa(code)
}

// openError turns a failure to open the file into a sentence.
func openError(err error, path string) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return drivers.Connectf("opening SQLite file %s: %w", path, err)
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB:
		return drivers.Configf("opening SQLite file %s: it exists and isn't an SQLite database: name another file with --path", path)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return drivers.Configf("opening SQLite file %s: it can't be opened for writing: check the permissions of the file and its directory (%w)", path, err)
	case sqlite3.SQLITE_FULL:
		return drivers.Configf("opening SQLite file %s: the disk is full: free some space or use another --path (%w)", path, err)
	case sqlite3.SQLITE_BUSY:
		return drivers.Configf("opening SQLite file %s: another process holds a lock on it: end that process or name another file (%w)", path, err)
	default:
		return drivers.Configf("opening SQLite file %s: %w", path, err)
	}
}
