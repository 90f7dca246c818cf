package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

// CheckBatch compares the longest such statement with the server's
// max_allowed_packet.
func (s *Server) CheckBatch(ctx context.Context, rows, dataBytes int) error {
	limit, err := s.maxPacket(ctx)
	if err != nil {
		return err
	}
	// The table with the longest name that anybody will use, one byte for the
	// command, and the driver's rule that a packet stays below the limit.
	need := sqltext.MaxBytes(ibench.TableName(999_999), rows, dataBytes) + 2
	if need > limit {
		return drivers.Configf("a statement of %d rows with up to %d bytes of data each can take %d bytes, above the server's max_allowed_packet of %d: lower --rows-per-commit or raise max_allowed_packet", rows, dataBytes, need, limit)
	}
	return nil
}

// maxPacket is the server's max_allowed_packet.
func (s *Server) maxPacket(ctx context.Context) (limit int64, err error) {
	ctx, cancel := s.short(ctx)
	defer cancel()
	if err := s.db.QueryRowContext(ctx, "SELECT @@global.max_allowed_packet").Scan(&limit); err != nil {
		return 0, fmt.Errorf("reading max_allowed_packet of the server at %s: %w", s.where, err)
	}
	return limit, nil
}

// Sums counts and adds up the table's rows. It has no deadline.
func (s *Server) Sums(ctx context.Context, table string) (ibench.Sums, bool, error) {
	var sums ibench.Sums
	if err := ibench.CheckTableName(table); err != nil {
		return sums, false, err
	}
	e, err := s.engineOf(ctx, table)
	if err != nil {
		return sums, false, err
	}
	err = s.long(ctx, func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, sqltext.Sums(table)).
			Scan(&sums.Rows, &sums.CashRegisterID, &sums.CustomerID, &sums.ProductID, &sums.Price, &sums.DataBytes)
	})
	if err != nil {
		return ibench.Sums{}, false, fmt.Errorf("adding up the rows of table %s: %w", s.table(table), err)
	}
	return sums, e.keepsNothing(), nil
}

// OpenInserter opens a connection for one worker. Statements on it have the
// statement deadline; ctx isn't watched while one runs, Abort ends it.
func (s *Server) OpenInserter(ctx context.Context, table string) (ibench.Inserter, error) {
	return s.openInserter(ctx, table, false)
}

func (s *Server) openInserter(ctx context.Context, table string, bulk bool) (ibench.Inserter, error) {
	if err := ibench.CheckTableName(table); err != nil {
		return nil, err
	}
	conn, err := connect(ctx, s.cfg)
	if err != nil {
		return nil, connectError(err, s.where, s.cfg)
	}
	in := &inserter{session: conn, text: sqltext.NewInsert(table), table: s.table(table), transactional: s.engine.transactional, bulkLoad: bulk}
	if err := in.setOptions(s); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

type inserter struct {
	session *session
	text    *sqltext.Insert
	// table is the table's name and address, for messages.
	table         string
	transactional bool
	bulkLoad      bool
	// lost is set once the connection can't be used.
	lost    bool
	aborted atomic.Bool
}

func (in *inserter) Append(row *ibench.Row) { in.text.Append(row) }
func (in *inserter) Reset()                 { in.text.Reset() }

// Insert sends the statement as one COM_QUERY. The context given to the driver
// can't be cancelled: watching one costs more CPU than building the statement.
func (in *inserter) Insert(context.Context) error {
	if in.lost {
		return &drivers.Error{Class: drivers.Fatal, Code: "not connected",
			Err: fmt.Errorf("%s: not sent: the connection was lost before", in.doing())}
	}
	text, err := in.text.Text()
	if err != nil {
		return &drivers.Error{Class: drivers.Fatal, Code: "unsafe data", Err: err}
	}
	result, err := in.session.exec.ExecContext(context.Background(), text, nil)
	if err != nil {
		return in.failed(err)
	}
	affected, err := result.RowsAffected()
	if err == nil && affected == int64(in.text.Rows()) {
		return nil
	}
	return &drivers.Error{Class: drivers.Unknown, Code: "affected rows",
		Err: fmt.Errorf("%s: the server acknowledged %d rows where %d were sent: look for a trigger or a plugin that changes inserts", in.doing(), affected, in.text.Rows())}
}

func (in *inserter) failed(err error) error {
	if in.aborted.Load() {
		in.lost = true
		return &drivers.Error{Class: drivers.Unknown, Code: "aborted",
			Err: fmt.Errorf("%s: aborted before the answer came, whether the rows were kept isn't known", in.doing())}
	}
	out := statementError(in.session.cause(err), in.doing(), in.transactional)
	validator, ok := in.session.conn.(driver.Validator)
	in.lost = ok && !validator.IsValid()
	return out
}

func (in *inserter) doing() string {
	return fmt.Sprintf("inserting %d rows into table %s", in.text.Rows(), in.table)
}

// Abort closes the socket under a running statement.
func (in *inserter) Abort() {
	in.aborted.Store(true)
	// An error here means that it is closed already, which is what is wanted.
	_ = in.session.socket.Close()
}

// Close ends the connection. The goodbye can't be sent on a connection that
// was lost or aborted, which isn't an error.
func (in *inserter) Close() error {
	err := in.session.conn.Close()
	if err == nil || in.lost || in.aborted.Load() || errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return fmt.Errorf("closing the connection to table %s: %w", in.table, err)
}

// OpenLong opens a connection for transactions that stay open.
func (s *Server) OpenLong(ctx context.Context, table string) (ibench.LongTransaction, error) {
	if !s.engine.transactional {
		return nil, drivers.Configf("engine %s has no transactions that could be held open", s.engine.name)
	}
	l, err := sqltext.OpenLong(ctx, s.db, table)
	if err != nil {
		return nil, err
	}
	return l, nil
}
