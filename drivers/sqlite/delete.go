package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

// OpenDeleter opens a connection for one client's deletes, which take their
// turns with the inserts.
func (s *Server) OpenDeleter(ctx context.Context, table string) (ibench.Deleter, error) {
	l, err := s.link(ctx, table)
	if err != nil {
		return nil, err
	}
	d := &deleter{link: l, turn: s.turn, args: []driver.NamedValue{{Ordinal: 1}, {Ordinal: 2}}}
	if d.lowest, err = l.prepare("SELECT MIN(transactionid) FROM "+table, "preparing the deletes from"); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	// SQLite has DELETE ... LIMIT only where it is built with it.
	text := "DELETE FROM " + table + " WHERE transactionid IN (SELECT transactionid FROM " + table + " WHERE transactionid >= ? ORDER BY transactionid LIMIT ?)"
	if d.stmt, err = l.conn.Prepare(text); err != nil {
		return nil, errors.Join(l.failed(err, "preparing the deletes from"), d.lowest.Close(), l.Close())
	}
	return d, nil
}

type deleter struct {
	*link
	turn   chan struct{}
	lowest *sqltext.Statement
	stmt   driver.Stmt
	args   []driver.NamedValue
	// from is the key at which the next Delete begins.
	from int64
}

// FindLowest asks for the smallest key.
func (d *deleter) FindLowest(context.Context) error {
	n, ok, err := d.lowest.Number(d.context())
	if err != nil {
		return d.failed(err, "asking for the smallest key of")
	}
	if ok {
		d.from = n
	}
	return nil
}

// Delete removes rows from the low end of the key.
func (d *deleter) Delete(_ context.Context, n int) (int64, error) {
	doing := fmt.Sprintf("deleting %d rows from table %s", n, d.table)
	exec, ok := d.stmt.(driver.StmtExecContext)
	if !ok {
		return 0, &drivers.Error{Class: drivers.Fatal, Code: "driver", Err: errors.New(doing + ": the driver can't run a prepared statement")}
	}
	aborted := &drivers.Error{Class: drivers.Unknown, Code: "aborted", Err: fmt.Errorf("%s: aborted before it ended", doing)}
	select {
	case d.turn <- struct{}{}:
	case <-d.aborted:
		return 0, aborted
	}
	d.args[0].Value, d.args[1].Value = d.from, int64(n)
	result, err := exec.ExecContext(d.context(), d.args)
	<-d.turn
	if err != nil {
		if d.context().Err() != nil {
			return 0, aborted
		}
		return 0, statementError(err, doing)
	}
	deleted, err := result.RowsAffected()
	if err != nil {
		return 0, &drivers.Error{Class: drivers.Unknown, Code: "affected rows", Err: fmt.Errorf("%s: %w", doing, err)}
	}
	d.from += deleted
	return deleted, nil
}

// Close ends the statements and the connection.
func (d *deleter) Close() error {
	var errs []error
	if d.stmt != nil {
		errs = append(errs, d.lowest.Close(), d.stmt.Close())
		d.stmt = nil
	}
	return errors.Join(append(errs, d.link.Close())...)
}

// Settle moves the log into the file and empties it, and gathers statistics.
// What had not ended at the limit is rolled back, and noted.
func (s *Server) Settle(ctx context.Context, tables []string, limit time.Duration) (ibench.Settled, error) {
	var out ibench.Settled
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cutOff := func(err error, doing string) bool {
		late := err != nil && bounded.Err() != nil && ctx.Err() == nil
		if late {
			out.Unverified = append(out.Unverified, doing+" had not ended when the time was up")
		}
		return late
	}
	err := s.checkpoint(bounded, &out)
	if cutOff(err, "checkpointing the log") {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	err = s.analyze(bounded, tables, &out)
	if cutOff(err, "analyzing the tables") {
		return out, nil
	}
	return out, err
}

func (s *Server) checkpoint(ctx context.Context, out *ibench.Settled) error {
	var busy, log, moved int64
	drivers.WaitingFor(ctx, "checkpointing the log")
	if err := s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil {
		return fmt.Errorf("checkpointing SQLite file %s: %w", s.path, err)
	}
	out.Actions = append(out.Actions, "checkpointed the log with TRUNCATE")
	if busy == 0 && log == moved {
		out.Verified = append(out.Verified, "no page is left in the log")
	} else {
		out.Unverified = append(out.Unverified, fmt.Sprintf("%d of %d pages of the log were moved; another connection reads or writes", moved, log))
	}
	return nil
}

func (s *Server) analyze(ctx context.Context, tables []string, out *ibench.Settled) error {
	// All of an index is read unless the sample is bounded (pragma.html#pragma_analysis_limit).
	statements := []string{"PRAGMA analysis_limit=1000"}
	for _, table := range tables {
		if err := ibench.CheckTableName(table); err != nil {
			return err
		}
		statements = append(statements, "ANALYZE "+table)
	}
	drivers.WaitingFor(ctx, "analyzing the tables")
	if err := s.write(ctx, "analyzing the tables of SQLite file "+s.path, statements); err != nil {
		return err
	}
	out.Actions = append(out.Actions, "analyzed each table with a limit of 1000 rows")
	return nil
}
