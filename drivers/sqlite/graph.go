package sqlite

import (
	"context"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// Graph is an open SQLite file as LinkBench's database. Its writers take turns
// as inserters do.
type Graph struct{ *Server }

var (
	_ linkbench.Database = Graph{}
	_ linkbench.Resumer  = Graph{}
)

// Graph is the file as LinkBench's database. Closing either closes both.
func (s *Server) Graph() Graph { return Graph{s} }

// graphDDL are the original's MySQL tables. Links and counts are stored in the
// order of their primary keys, as InnoDB does. AUTOINCREMENT keeps the ids of
// removed nodes from being given again, by any process.
var graphDDL = []string{
	`CREATE TABLE nodetable (
id INTEGER PRIMARY KEY AUTOINCREMENT,
type INTEGER NOT NULL,
version INTEGER NOT NULL,
time INTEGER NOT NULL,
data BLOB NOT NULL)`,
	`CREATE TABLE linktable (
id1 INTEGER NOT NULL DEFAULT 0,
id2 INTEGER NOT NULL DEFAULT 0,
link_type INTEGER NOT NULL DEFAULT 0,
visibility INTEGER NOT NULL DEFAULT 0,
data BLOB NOT NULL DEFAULT X'',
time INTEGER NOT NULL DEFAULT 0,
version INTEGER NOT NULL DEFAULT 0,
PRIMARY KEY (link_type, id1, id2)) WITHOUT ROWID`,
	`CREATE TABLE counttable (
id INTEGER NOT NULL DEFAULT 0,
link_type INTEGER NOT NULL DEFAULT 0,
count INTEGER NOT NULL DEFAULT 0,
time INTEGER NOT NULL DEFAULT 0,
version INTEGER NOT NULL DEFAULT 0,
PRIMARY KEY (id, link_type)) WITHOUT ROWID`,
}

// indexColumns are those of the link table's secondary index.
var indexColumns = map[linkbench.Index]string{
	linkbench.IndexCovering: "id1, link_type, visibility, time, id2, version, data",
	linkbench.IndexShort:    "id1, link_type, visibility, time",
}

// ListTables gives the names of LinkBench's tables in the file.
func (g Graph) ListTables(ctx context.Context) ([]string, error) {
	names, err := g.strings(ctx, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		if sqltext.IsGraphTable(strings.ToLower(name)) {
			out = append(out, name)
		}
	}
	return out, nil
}

// CreateTables makes the three tables, all of them or none.
func (g Graph) CreateTables(ctx context.Context, l linkbench.Layout) error {
	switch {
	case l.Partitions > 0:
		return drivers.Configf("SQLite has no partitions: leave them out")
	case l.KeyBlockKB > 0:
		return drivers.Configf("SQLite has no compressed tables: leave the key block size out")
	case l.ColumnFamilies:
		return drivers.Configf("column families are MyRocks's, and SQLite has none: leave them out")
	}
	existing, err := g.ListTables(ctx)
	if err != nil {
		return err
	}
	if len(existing) > 0 {
		return drivers.Configf("table %s exists already in SQLite file %s: --drop removes LinkBench's tables first, or name another file", strings.Join(existing, ", "), g.path)
	}
	statements := append([]string(nil), graphDDL...)
	if l.FirstNewNode > 0 {
		statements = append(statements, fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES ('nodetable', %d)", l.FirstNewNode-1))
	}
	return g.write(ctx, "creating LinkBench's tables in SQLite file "+g.path, statements)
}

// CreateIndex builds the link table's secondary index.
func (g Graph) CreateIndex(ctx context.Context, l linkbench.Layout) error {
	columns, ok := indexColumns[l.Index]
	if !ok {
		return drivers.Configf("index %q of the link table isn't known: use covering or short", l.Index)
	}
	drivers.WaitingFor(ctx, "building index id1_type")
	return g.write(ctx, "building index id1_type in SQLite file "+g.path, []string{"CREATE INDEX id1_type ON linktable (" + columns + ")"})
}

// HasIndex looks for the link table's secondary index.
func (g Graph) HasIndex(ctx context.Context, l linkbench.Layout) (bool, error) {
	names, err := g.strings(ctx, "SELECT name FROM pragma_index_info('id1_type') ORDER BY seqno")
	if err != nil {
		return false, fmt.Errorf("looking for index id1_type in SQLite file %s: %w", g.path, err)
	}
	got := strings.Join(names, ", ")
	if len(names) > 0 && got != indexColumns[l.Index] {
		return false, drivers.Configf("index id1_type in SQLite file %s has the columns %s, and index %s has %s", g.path, got, l.Index, indexColumns[l.Index])
	}
	return len(names) > 0, nil
}

// DropTables removes those of LinkBench's tables that exist.
func (g Graph) DropTables(ctx context.Context) error {
	existing, err := g.ListTables(ctx)
	if err != nil || len(existing) == 0 {
		return err
	}
	for i, name := range existing {
		existing[i] = "DROP TABLE " + name
	}
	return g.write(ctx, "dropping LinkBench's tables in SQLite file "+g.path, existing)
}

// CheckBatch compares the longest such statement with SQLite's limit for the
// text of a statement.
func (g Graph) CheckBatch(ctx context.Context, rows, payloadBytes int) error {
	conn, err := g.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("reading the limits of SQLite file %s: %w", g.path, err)
	}
	defer conn.Close()
	limit, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_SQL_LENGTH, -1)
	if err != nil {
		return fmt.Errorf("reading the limits of SQLite file %s: %w", g.path, err)
	}
	if need := sqltext.MaxBatchBytes(rows, payloadBytes, 2); need > int64(limit) {
		return drivers.Configf("a bulk insert of %d rows with %d bytes of payload can take a statement of %d bytes, above SQLite's limit of %d: use fewer rows (bulk_insert_count)", rows, payloadBytes, need, limit)
	}
	return nil
}

// TableRows counts all rows.
func (g Graph) TableRows(ctx context.Context) (r linkbench.Rows, err error) {
	err = g.db.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM nodetable), (SELECT COUNT(*) FROM linktable), (SELECT COUNT(*) FROM counttable)").
		Scan(&r.Nodes, &r.Links, &r.Counts)
	if err != nil {
		return r, fmt.Errorf("counting the rows of LinkBench's tables in SQLite file %s: %w", g.path, err)
	}
	return r, nil
}

// SumNodes sums up nodes.
func (g Graph) SumNodes(ctx context.Context, from, to int64) (n linkbench.NodeSums, err error) {
	if err = g.db.QueryRowContext(ctx, sqltext.SumNodesText, from, to).Scan(&n.Rows, &n.DataBytes); err != nil {
		return n, fmt.Errorf("adding up nodes %d to %d in SQLite file %s: %w", from, to-1, g.path, err)
	}
	return n, nil
}

// SumLinks visits a sum for each id1 that has links of the type.
func (g Graph) SumLinks(ctx context.Context, linkType, from, to int64, visit func(linkbench.LinkSums) error) error {
	doing := fmt.Sprintf("adding up links of ids %d to %d in SQLite file %s", from, to-1, g.path)
	return g.each(ctx, doing, sqltext.SumLinksText("linktable NOT INDEXED"), linkType, from, to, func(scan func(...any) error) error {
		var s linkbench.LinkSums
		if err := scan(&s.ID1, &s.Links, &s.Visible, &s.SumID2, &s.DataBytes); err != nil {
			return err
		}
		return visit(s)
	})
}

// ScanCounts visits the count rows of the type.
func (g Graph) ScanCounts(ctx context.Context, linkType, from, to int64, visit func(graph.Count) error) error {
	doing := fmt.Sprintf("reading counts of ids %d to %d in SQLite file %s", from, to-1, g.path)
	return g.each(ctx, doing, sqltext.ScanCountsText, linkType, from, to, func(scan func(...any) error) error {
		var c graph.Count
		if err := scan(&c.ID, &c.Type, &c.Count, &c.TimeMS, &c.Version); err != nil {
			return err
		}
		return visit(c)
	})
}

func (g Graph) each(ctx context.Context, doing, query string, linkType, from, to int64, row func(scan func(...any) error) error) error {
	rows, err := g.db.QueryContext(ctx, query, linkType, from, to)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
