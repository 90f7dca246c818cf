package mysql

import (
	"context"
	"fmt"
	"strings"

	"insertbench/drivers"
	"insertbench/ibench"
)

// columnsDDL are the columns of iibench.py at HEAD (mdcallag/mytools).
const columnsDDL = `transactionid BIGINT NOT NULL AUTO_INCREMENT,
dateandtime DATETIME,
cashregisterid INT NOT NULL,
customerid INT NOT NULL,
productid INT NOT NULL,
price INT NOT NULL,
data VARCHAR(4000),
PRIMARY KEY (transactionid)`

// ListTables gives the benchmark's tables in the database, sorted.
func (s *Server) ListTables(ctx context.Context) ([]string, error) {
	ctx, cancel := s.short(ctx)
	defer cancel()
	const query = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME"
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("listing the tables of database %q at %s: %w", s.cfg.DBName, s.where, err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("listing the tables of database %q at %s: %w", s.cfg.DBName, s.where, err)
		}
		if ibench.IsTableName(name) {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing the tables of database %q at %s: %w", s.cfg.DBName, s.where, err)
	}
	return names, nil
}

// CreateTable makes a table and reads its engine back. A server that put it
// into another engine than the one asked for has it removed again.
func (s *Server) CreateTable(ctx context.Context, t ibench.Table) error {
	if err := ibench.CheckTableName(t.Name); err != nil {
		return err
	}
	var ddl strings.Builder
	fmt.Fprintf(&ddl, "CREATE TABLE %s (\n%s", t.Name, columnsDDL)
	for _, x := range t.Indexes {
		ddl.WriteString(",\nKEY " + indexDDL(t.Name, x, t.Partitions))
	}
	fmt.Fprintf(&ddl, "\n) ENGINE=%s %s%s", s.engine.name, s.options, partitionDDL(t))
	if err := s.longExec(ctx, ddl.String()); err != nil {
		if isNumber(err, errTableExists) {
			return drivers.Configf("table %s exists already: --drop removes it first, or name another database", s.table(t.Name))
		}
		return drivers.Configf("creating table %s with ENGINE=%s: %w", s.table(t.Name), strings.TrimSpace(s.engine.name+" "+s.options), err)
	}
	got, err := s.engineOf(ctx, t.Name)
	if err != nil {
		return err
	}
	if s.engine.is(got.name) {
		return nil
	}
	if err := s.DropTable(ctx, t.Name); err != nil {
		return err
	}
	return drivers.Configf("the server made table %s with engine %s where %s was asked for: see enforce_storage_engine, sql_mode NO_ENGINE_SUBSTITUTION and --engine-options", s.table(t.Name), got.name, s.engine.name)
}

// engineOf is the engine that a table is in.
func (s *Server) engineOf(ctx context.Context, table string) (engine, error) {
	ctx, cancel := s.short(ctx)
	defer cancel()
	var e engine
	var transactions string
	err := s.db.QueryRowContext(ctx, "SELECT t.ENGINE, COALESCE(e.TRANSACTIONS, 'NO') FROM information_schema.TABLES t LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE "+
		"WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = '"+table+"' AND t.ENGINE IS NOT NULL").Scan(&e.name, &transactions)
	if err != nil {
		return engine{}, fmt.Errorf("reading back the engine of table %s: %w", s.table(table), err)
	}
	e.transactional = transactions == "YES"
	return e, nil
}

// CreateIndexes builds the indexes: MyRocks one ALTER each, every other engine
// one ALTER for all, as the original's scripts do.
func (s *Server) CreateIndexes(ctx context.Context, table string, indexes []ibench.Index) error {
	if err := ibench.CheckTableName(table); err != nil {
		return err
	}
	if len(indexes) == 0 {
		return nil
	}
	partitions := 0
	if indexes[0].Family != "" {
		var err error
		if partitions, err = s.partitions(ctx, table); err != nil {
			return err
		}
	}
	parts := make([]string, len(indexes))
	for i, x := range indexes {
		parts[i] = "ADD INDEX " + indexDDL(table, x, partitions)
	}
	if !s.engine.is(rocksdb) {
		parts = []string{strings.Join(parts, ", ")}
	}
	for _, part := range parts {
		if err := s.longExec(ctx, "ALTER TABLE "+table+" "+part); err != nil {
			return fmt.Errorf("building secondary indexes on table %s: %w", s.table(table), err)
		}
	}
	return nil
}

// DropTable removes one of the benchmark's tables.
func (s *Server) DropTable(ctx context.Context, table string) error {
	if err := ibench.CheckTableName(table); err != nil {
		return err
	}
	if err := s.longExec(ctx, "DROP TABLE "+table); err != nil {
		if isNumber(err, errUnknownTable) {
			return drivers.Configf("table %s doesn't exist: there is nothing to drop", s.table(table))
		}
		return fmt.Errorf("dropping table %s: %w", s.table(table), err)
	}
	return nil
}

func (s *Server) longExec(ctx context.Context, statement string) error {
	return s.long(ctx, func(ctx context.Context) error {
		_, err := s.db.ExecContext(ctx, statement)
		return err
	})
}

func indexName(table string, x ibench.Index) string { return table + "_" + x.Name }
