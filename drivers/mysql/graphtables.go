package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
)

// graphTable is one of LinkBench's tables, as in the original's README.md and
// the scripts of mdcallag/mytools.
type graphTable struct {
	name, columns, primary, partition string
	// family is the column family of the primary key in MyRocks.
	family string
}

var graphTables = []graphTable{
	{name: sqltext.LinkTable, primary: "link_type, id1, id2", partition: "id1", family: "cf_link_pk",
		columns: `id1 BIGINT UNSIGNED NOT NULL DEFAULT 0,
id2 BIGINT UNSIGNED NOT NULL DEFAULT 0,
link_type BIGINT UNSIGNED NOT NULL DEFAULT 0,
visibility TINYINT NOT NULL DEFAULT 0,
data VARCHAR(255) NOT NULL DEFAULT '',
time BIGINT UNSIGNED NOT NULL DEFAULT 0,
version INT UNSIGNED NOT NULL DEFAULT 0`},
	{name: sqltext.CountTable, primary: "id, link_type", partition: "id", family: "cf_count_pk",
		columns: `id BIGINT UNSIGNED NOT NULL DEFAULT 0,
link_type BIGINT UNSIGNED NOT NULL DEFAULT 0,
count BIGINT UNSIGNED NOT NULL DEFAULT 0,
time BIGINT UNSIGNED NOT NULL DEFAULT 0,
version BIGINT UNSIGNED NOT NULL DEFAULT 0`},
	{name: sqltext.NodeTable, primary: "id", partition: "id", family: "cf_node_pk",
		columns: `id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
type INT UNSIGNED NOT NULL,
version BIGINT UNSIGNED NOT NULL,
time INT UNSIGNED NOT NULL,
data MEDIUMTEXT NOT NULL`},
}

// indexFamily is the column family of id1_type, in reverse order because lists
// are read newest first.
const indexFamily = "rev:cf_link_id1_type"

var graphIndexColumns = map[linkbench.Index]string{
	linkbench.IndexCovering: "id1, link_type, visibility, time, id2, version, data",
	linkbench.IndexShort:    "id1, link_type, visibility, time",
}

// ddl is the statement that makes the table.
func (t graphTable) ddl(e engine, options string, l linkbench.Layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n%s,\nPRIMARY KEY (%s)", t.name, t.columns, t.primary)
	if l.ColumnFamilies {
		fmt.Fprintf(&b, " COMMENT '%s'", t.family)
	}
	fmt.Fprintf(&b, "\n) ENGINE=%s DEFAULT CHARSET=latin1", e.name)
	if e.is(rocksdb) {
		// Bytes in the order of their values, which MyRocks can read back from
		// a covering index without the row.
		b.WriteString(" DEFAULT COLLATE=latin1_bin")
	}
	if t.name == sqltext.NodeTable && l.FirstNewNode > 0 {
		fmt.Fprintf(&b, " AUTO_INCREMENT=%d", l.FirstNewNode)
	}
	if l.KeyBlockKB > 0 {
		fmt.Fprintf(&b, " ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=%d", l.KeyBlockKB)
	}
	if options != "" {
		b.WriteString(" " + options)
	}
	if l.Partitions > 0 {
		fmt.Fprintf(&b, "\nPARTITION BY KEY (%s) PARTITIONS %d", t.partition, l.Partitions)
	}
	return b.String()
}

// CheckLayout refuses what the engine doesn't have.
func (g *Graph) CheckLayout(l linkbench.Layout) error {
	switch {
	case !g.engine.transactional:
		return drivers.Configf("engine %s of the server at %s has no transactions, and LinkBench's counts can't be kept without: use another --engine", g.engine.name, g.where)
	case l.ColumnFamilies && !g.engine.is(rocksdb):
		return drivers.Configf("column families are MyRocks's, and engine %s has none: leave them out, or use --engine=rocksdb", g.engine.name)
	case l.KeyBlockKB > 0 && !g.engine.is(innodb):
		return drivers.Configf("KEY_BLOCK_SIZE compresses InnoDB's tables, and not those of engine %s: leave it out", g.engine.name)
	}
	return nil
}

// ListTables gives the names of LinkBench's tables in the database. A view
// counts too, since its name is taken.
func (g *Graph) ListTables(ctx context.Context) ([]string, error) {
	ctx, cancel := g.short(ctx)
	defer cancel()
	doing := fmt.Sprintf("listing the tables of database %q at %s", g.cfg.DBName, g.where)
	rows, err := g.db.QueryContext(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		if sqltext.IsGraphTable(name) {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return names, nil
}

// CreateTables makes the three tables and reads their engine back. Where one
// can't be made as asked, none is left.
func (g *Graph) CreateTables(ctx context.Context, l linkbench.Layout) error {
	if err := g.CheckLayout(l); err != nil {
		return err
	}
	existing, err := g.ListTables(ctx)
	if err != nil {
		return err
	}
	if len(existing) > 0 {
		return drivers.Configf("table %s exists already: --drop removes LinkBench's tables first, or name another database", g.table(strings.Join(existing, ", ")))
	}
	var made []string
	for _, t := range graphTables {
		if err = g.createTable(ctx, t, l); err != nil {
			break
		}
		made = append(made, t.name)
	}
	if err != nil && len(made) > 0 {
		err = errors.Join(err, g.drop(ctx, made))
	}
	return err
}

func (g *Graph) createTable(ctx context.Context, t graphTable, l linkbench.Layout) error {
	if err := g.longExec(ctx, t.ddl(g.engine, g.options, l)); err != nil {
		return drivers.Configf("creating table %s with ENGINE=%s: %w", g.table(t.name), strings.TrimSpace(g.engine.name+" "+g.options), err)
	}
	got, err := g.engineOf(ctx, t.name)
	if err != nil {
		return err
	}
	if g.engine.is(got.name) {
		return nil
	}
	return errors.Join(drivers.Configf("the server made table %s with engine %s where %s was asked for: see enforce_storage_engine, sql_mode NO_ENGINE_SUBSTITUTION and --engine-options", g.table(t.name), got.name, g.engine.name),
		g.drop(ctx, []string{t.name}))
}

// CreateIndex builds the link table's secondary index.
func (g *Graph) CreateIndex(ctx context.Context, l linkbench.Layout) error {
	columns, ok := graphIndexColumns[l.Index]
	if !ok {
		return drivers.Configf("index %q of the link table isn't known: use covering or short", l.Index)
	}
	if err := g.CheckLayout(l); err != nil {
		return err
	}
	statement := "ALTER TABLE linktable ADD INDEX " + sqltext.LinkIndex + " (" + columns + ")"
	if l.ColumnFamilies {
		statement += " COMMENT '" + indexFamily + "'"
	}
	drivers.WaitingFor(ctx, "building index %s", sqltext.LinkIndex)
	if err := g.longExec(ctx, statement); err != nil {
		return fmt.Errorf("building index %s of table %s: %w", sqltext.LinkIndex, g.table(sqltext.LinkTable), err)
	}
	return nil
}

// HasIndex looks for the link table's secondary index.
func (g *Graph) HasIndex(ctx context.Context, l linkbench.Layout) (bool, error) {
	ctx, cancel := g.short(ctx)
	defer cancel()
	doing := fmt.Sprintf("looking for index %s of table %s", sqltext.LinkIndex, g.table(sqltext.LinkTable))
	rows, err := g.db.QueryContext(ctx, "SELECT COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '"+
		sqltext.LinkTable+"' AND INDEX_NAME = '"+sqltext.LinkIndex+"' ORDER BY SEQ_IN_INDEX")
	if err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return false, fmt.Errorf("%s: %w", doing, err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	if got := strings.Join(names, ", "); len(names) > 0 && got != graphIndexColumns[l.Index] {
		return false, drivers.Configf("index %s of table %s has the columns %s, and index %s has %s", sqltext.LinkIndex, g.table(sqltext.LinkTable), got, l.Index, graphIndexColumns[l.Index])
	}
	return len(names) > 0, nil
}

// DropTables removes those of LinkBench's tables that exist.
func (g *Graph) DropTables(ctx context.Context) error {
	existing, err := g.ListTables(ctx)
	if err != nil || len(existing) == 0 {
		return err
	}
	slices.Reverse(existing)
	return g.drop(ctx, existing)
}

func (g *Graph) drop(ctx context.Context, tables []string) error {
	names := strings.Join(tables, ", ")
	if err := g.longExec(ctx, "DROP TABLE "+names); err != nil {
		return fmt.Errorf("dropping table %s: %w", g.table(names), err)
	}
	return nil
}

// CheckBatch compares the longest such statement with the server's
// max_allowed_packet.
func (g *Graph) CheckBatch(ctx context.Context, rows, payloadBytes int) error {
	limit, err := g.maxPacket(ctx)
	if err != nil {
		return err
	}
	// A byte may need a backslash. One byte more is the command, and the
	// driver wants a packet to stay below the limit.
	if need := sqltext.MaxBatchBytes(rows, payloadBytes, 2) + 2; need > limit {
		return drivers.Configf("a bulk insert of %d rows with %d bytes of payload can take a statement of %d bytes, above the server's max_allowed_packet of %d: use fewer rows (bulk_insert_count) or raise max_allowed_packet", rows, payloadBytes, need, limit)
	}
	return nil
}
