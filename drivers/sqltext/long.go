package sqltext

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"insertbench/ibench"
)

// Long is a connection that reads a table in transactions that stay open. It
// implements ibench.LongTransaction for databases of database/sql.
type Long struct {
	conn  *sql.Conn
	tx    *sql.Tx
	table string
	after int64 // the last key read
}

// OpenLong takes a connection of the pool for itself.
func OpenLong(ctx context.Context, db *sql.DB, table string) (*Long, error) {
	if err := ibench.CheckTableName(table); err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &Long{conn: conn, table: table}, nil
}

// Begin begins a transaction in the database's usual isolation.
func (l *Long) Begin(ctx context.Context) (err error) {
	l.tx, err = l.conn.BeginTx(ctx, nil)
	return err
}

// Page reads the next rows by key.
func (l *Long) Page(ctx context.Context, limit int) (n int, err error) {
	rows, err := l.tx.QueryContext(ctx, fmt.Sprintf("SELECT %[1]s, productid, data FROM %[2]s WHERE %[1]s > %[3]d ORDER BY %[1]s LIMIT %[4]d", ibench.KeyColumn, l.table, l.after, limit))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var product int64
	var data sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&l.after, &product, &data); err != nil {
			return n, err
		}
		n++
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	if n < limit {
		l.after = 0
	}
	return n, nil
}

// Commit ends the transaction.
func (l *Long) Commit() error { return l.tx.Commit() }

// Close rolls back what is open and gives the connection up.
func (l *Long) Close() error {
	if l.tx != nil {
		// It may be over, or its connection gone, which is as good.
		_ = l.tx.Rollback()
	}
	if err := l.conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}
