package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

// OpenDeleter opens a connection for one client's deletes.
func (s *Server) OpenDeleter(ctx context.Context, table string) (ibench.Deleter, error) {
	l, err := s.open(ctx, table, s.statementTimeout)
	if err != nil {
		return nil, err
	}
	d := &deleter{link: l, transactional: s.engine.transactional, args: []driver.NamedValue{{Ordinal: 1}, {Ordinal: 2}}}
	if d.lowest, err = l.prepare("SELECT MIN(transactionid) FROM " + table); err != nil {
		_ = l.Close() // the error to report is the one above
		return nil, err
	}
	// The original's form since 2024-04: by key order with a limit, so that
	// the count is exact in spite of gaps in the keys.
	text := "DELETE FROM " + table + " WHERE transactionid >= ? ORDER BY transactionid LIMIT ?"
	stmt, err := l.session.conn.Prepare(text)
	exec, ok := stmt.(driver.StmtExecContext)
	if err != nil || !ok {
		_ = l.Close()
		return nil, drivers.Configf("preparing the deletes from table %s: %w", l.table, l.session.cause(err))
	}
	d.exec = exec
	return d, nil
}

type deleter struct {
	*link
	transactional bool
	lowest        *sqltext.Statement
	exec          driver.StmtExecContext
	args          []driver.NamedValue
	// from is the key at which the next Delete begins.
	from int64
}

// FindLowest asks for the smallest key.
func (d *deleter) FindLowest(context.Context) error {
	n, ok, err := d.lowest.Number(context.Background())
	if err != nil {
		return d.readError(err, "asking for the smallest key of")
	}
	if ok {
		d.from = n
	}
	return nil
}

// Delete removes rows from the low end of the key.
func (d *deleter) Delete(_ context.Context, n int) (int64, error) {
	doing := fmt.Sprintf("deleting %d rows from table %s", n, d.table)
	d.args[0].Value, d.args[1].Value = d.from, int64(n)
	result, err := d.exec.ExecContext(context.Background(), d.args)
	switch {
	case err != nil && d.aborted.Load():
		return 0, &drivers.Error{Class: drivers.Unknown, Code: "aborted", Err: fmt.Errorf("%s: aborted before the answer came", doing)}
	case err != nil:
		return 0, statementError(d.session.cause(err), doing, d.transactional)
	}
	deleted, err := result.RowsAffected()
	if err != nil {
		return 0, &drivers.Error{Class: drivers.Unknown, Code: "affected rows", Err: fmt.Errorf("%s: %w", doing, err)}
	}
	d.from += deleted
	return deleted, nil
}
