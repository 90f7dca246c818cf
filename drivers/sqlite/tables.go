package sqlite

import (
	"context"
	"fmt"
	"strings"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

// columnsDDL are the columns of the MySQL table. AUTOINCREMENT keeps keys
// growing as in the original, instead of reusing those of removed rows.
const columnsDDL = `transactionid INTEGER PRIMARY KEY AUTOINCREMENT,
dateandtime DATETIME,
cashregisterid INT NOT NULL,
customerid INT NOT NULL,
productid INT NOT NULL,
price INT NOT NULL,
data VARCHAR(4000)`

// ListTables gives the benchmark's tables in the file, sorted.
func (s *Server) ListTables(ctx context.Context) ([]string, error) {
	names, err := s.strings(ctx, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		if ibench.IsTableName(name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// CreateTable makes a table and its indexes, all of it or nothing.
func (s *Server) CreateTable(ctx context.Context, t ibench.Table) error {
	if err := ibench.CheckTableName(t.Name); err != nil {
		return err
	}
	exists, err := s.exists(ctx, t.Name)
	if err != nil {
		return err
	}
	if exists {
		return drivers.Configf("table %s exists already in SQLite file %s: --drop removes it first, or name another file", t.Name, s.path)
	}
	ddl := append([]string{fmt.Sprintf("CREATE TABLE %s (%s)", t.Name, columnsDDL)}, indexDDL(t.Name, t.Indexes)...)
	return s.write(ctx, fmt.Sprintf("creating table %s in SQLite file %s", t.Name, s.path), ddl)
}

// CreateIndexes builds the indexes one by one, all of them or none.
func (s *Server) CreateIndexes(ctx context.Context, table string, indexes []ibench.Index) error {
	if err := ibench.CheckTableName(table); err != nil {
		return err
	}
	return s.write(ctx, fmt.Sprintf("building secondary indexes on table %s in SQLite file %s", table, s.path), indexDDL(table, indexes))
}

// DropTable removes one of the benchmark's tables.
func (s *Server) DropTable(ctx context.Context, table string) error {
	if err := ibench.CheckTableName(table); err != nil {
		return err
	}
	exists, err := s.exists(ctx, table)
	if err != nil {
		return err
	}
	if !exists {
		return drivers.Configf("table %s doesn't exist in SQLite file %s: there is nothing to drop", table, s.path)
	}
	return s.write(ctx, fmt.Sprintf("dropping table %s in SQLite file %s", table, s.path), []string{"DROP TABLE " + table})
}

// exists is whether a table or view of that name is there.
func (s *Server) exists(ctx context.Context, table string) (bool, error) {
	names, err := s.strings(ctx, "SELECT name FROM sqlite_master WHERE name = '"+table+"'")
	return len(names) > 0, err
}

func indexDDL(table string, indexes []ibench.Index) []string {
	var out []string
	for _, x := range indexes {
		out = append(out, fmt.Sprintf("CREATE INDEX %s_%s ON %s (%s)", table, x.Name, table, strings.Join(x.Columns, ", ")))
	}
	return out
}

// write runs statements in one transaction, when it is this connection's turn.
func (s *Server) write(ctx context.Context, doing string, statements []string) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			_ = tx.Rollback() // the statement's error says more
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Sums counts and adds up the table's rows. In WAL mode it reads beside a
// writer without waiting.
func (s *Server) Sums(ctx context.Context, table string) (ibench.Sums, bool, error) {
	var sums ibench.Sums
	if err := ibench.CheckTableName(table); err != nil {
		return sums, false, err
	}
	err := s.db.QueryRowContext(ctx, sqltext.Sums(table)).
		Scan(&sums.Rows, &sums.CashRegisterID, &sums.CustomerID, &sums.ProductID, &sums.Price, &sums.DataBytes)
	if err != nil {
		return ibench.Sums{}, false, fmt.Errorf("adding up the rows of table %s in SQLite file %s: %w", table, s.path, err)
	}
	return sums, false, nil
}
