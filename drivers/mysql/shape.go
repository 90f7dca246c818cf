package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"insertbench/drivers"
	"insertbench/ibench"
)

// maxIndexComment is how many characters a server keeps of an index's comment.
const maxIndexComment = 1024

// CheckShape refuses column families of another engine than MyRocks, and of
// more partitions than an index's comment can name.
func (s *Server) CheckShape(t ibench.Table) error {
	for _, x := range t.Indexes {
		if x.Family != "" && !s.engine.is(rocksdb) {
			return drivers.Configf("--column-families are MyRocks's, and engine %s has none", s.engine.name)
		}
		if n := len(familyComment(x.Family, t.Partitions)); n > maxIndexComment {
			return drivers.Configf("--column-families with --partitions=%d take a comment of %d characters, of which a server keeps %d: make fewer partitions", t.Partitions, n, maxIndexComment)
		}
	}
	return nil
}

// familyComment is what MyRocks reads an index's column family from. Of a
// table in pieces it takes it for each of them by name, and no other.
func familyComment(family string, partitions int) string {
	if family == "" || partitions == 0 {
		return family
	}
	parts := make([]string, partitions)
	for p := range parts {
		parts[p] = fmt.Sprintf("p%d_cfname=%s", p, family)
	}
	return strings.Join(parts, ";")
}

// partitions is how many pieces a table is in, 0 for one that isn't split.
func (s *Server) partitions(ctx context.Context, table string) (n int, err error) {
	ctx, cancel := s.short(ctx)
	defer cancel()
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(PARTITION_NAME) FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '"+table+"'").Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting the partitions of table %s: %w", s.table(table), err)
	}
	return n, nil
}

// partitionDDL is the clause that splits a table as np.sh's tables are
// (iibench.py, mdcallag/mytools); empty for one in one piece.
func partitionDDL(t ibench.Table) string {
	if t.Partitions == 0 {
		return ""
	}
	var parts []string
	for p := range t.Partitions - 1 {
		parts = append(parts, fmt.Sprintf("PARTITION p%d VALUES LESS THAN (%d)", p, int64(p+1)*t.PartitionRows))
	}
	parts = append(parts, fmt.Sprintf("PARTITION p%d VALUES LESS THAN MAXVALUE", t.Partitions-1))
	return "\nPARTITION BY RANGE (" + ibench.KeyColumn + ") (\n" + strings.Join(parts, ",\n") + "\n)"
}

// indexDDL is a secondary index in CREATE TABLE and ALTER TABLE.
func indexDDL(table string, x ibench.Index, partitions int) string {
	ddl := fmt.Sprintf("%s (%s)", indexName(table, x), strings.Join(x.Columns, ", "))
	if x.Family != "" {
		ddl += " COMMENT '" + familyComment(x.Family, partitions) + "'"
	}
	return ddl
}

// RunScript runs statements with semicolons between them, in the benchmark's
// database, on a connection of their own. They have no deadline. The error of
// one that fails says which it is, counted from 1.
func (s *Server) RunScript(ctx context.Context, text string) error {
	cfg := s.cfg.Clone()
	cfg.MultiStatements = true
	cfg.ReadTimeout = 0
	conn, err := connect(ctx, cfg)
	if err != nil {
		return connectError(err, s.where, s.cfg)
	}
	defer conn.conn.Close()
	before, known := conn.questions(ctx)
	err = s.long(ctx, func(ctx context.Context) error {
		_, err := conn.exec.ExecContext(ctx, text, nil)
		return err
	})
	if err == nil {
		return nil
	}
	which := "a statement"
	if after, ok := conn.questions(ctx); ok && known {
		// The question itself is counted too.
		which = fmt.Sprintf("statement %d", after-before-1)
	}
	return drivers.Configf("%s failed at %s: %w", which, s.where, conn.cause(err))
}

// questions is how many statements the server has had on this connection,
// each of several sent at once counted, and this one.
func (s *session) questions(ctx context.Context) (n int64, ok bool) {
	query, ok := s.conn.(driver.QueryerContext)
	if !ok {
		return 0, false
	}
	rows, err := query.QueryContext(ctx, "SHOW SESSION STATUS LIKE 'Questions'", nil)
	if err != nil {
		return 0, false
	}
	defer rows.Close()
	row := make([]driver.Value, 2) // name, value
	if len(rows.Columns()) != len(row) || rows.Next(row) != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(fmt.Sprintf("%s", row[1]), 10, 64)
	return n, err == nil
}
