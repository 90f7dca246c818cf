package mysql

import (
	"database/sql"
	"strings"
	"testing"

	"insertbench/drivers/sqltext"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// explain is the one line that the server has for a query, by column. MySQL 9 gives
// a tree if it isn't asked for the table.
func explain(t *testing.T, db *sql.DB, query string, args ...any) map[string]string {
	t.Helper()
	rows, err := db.Query("EXPLAIN FORMAT=TRADITIONAL "+query, args...)
	if err != nil {
		t.Fatalf("EXPLAIN %s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	lines := 0
	for rows.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			out[name] = cells[i].String
		}
		lines++
	}
	if err := rows.Err(); err != nil || lines != 1 {
		t.Fatalf("EXPLAIN %s gave %d lines, %v", query, lines, err)
	}
	return out
}

// TestExplain asks servers how they run the texts that querier and scanner
// send: ranges and scans of a secondary index read that index alone, in its
// order; points and the scan of the rows read the primary key.
func TestExplain(t *testing.T) {
	for _, engine := range []string{"innodb", "rocksdb"} {
		t.Run("MariaDB "+engine, func(t *testing.T) {
			s := servertest.MariaDB(t)
			explainAll(t, "explain_"+engine, Config{Socket: s.Socket, User: "root", Database: "explain_" + engine, CreateDatabase: true, Engine: engine})
		})
	}
	t.Run("MySQL innodb", func(t *testing.T) {
		explainAll(t, "explain_innodb", Config{DSN: "root@tcp(" + servertest.MySQL(t) + ")/explain_innodb", CreateDatabase: true, Engine: "innodb"})
	})
}

func explainAll(t *testing.T, database string, config Config) {
	s, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.db.Exec("DROP DATABASE " + database); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	fill(t, s, "pi1")
	for i, x := range ibench.Indexes {
		key := indexName("pi1", x)
		for name, line := range map[string]map[string]string{
			"range": explain(t, s.db, sqltext.RangeText(hinted("pi1", i), x, 10), 1),
			"scan":  explain(t, s.db, sqltext.ScanText(hinted("pi1", i), i)),
		} {
			extra := line["Extra"]
			covered := strings.Contains(extra, "Using index") && !strings.Contains(extra, "Using index condition")
			if line["key"] != key || !covered || strings.Contains(extra, "filesort") {
				t.Errorf("%s of %s: %v, want its index %s alone and no sort", name, x.Name, line, key)
			}
		}
	}
	points := explain(t, s.db, sqltext.PointText(hinted("pi1", ibench.PrimaryKey), 3), 5, 50, 500)
	if points["key"] != "PRIMARY" || points["type"] != "range" {
		t.Errorf("points: %v, want ranges of the primary key", points)
	}
	// The rows are in the primary key: reading all of them has no key to name.
	if scan := explain(t, s.db, sqltext.ScanText(hinted("pi1", ibench.PrimaryKey), ibench.PrimaryKey)); scan["type"] != "ALL" && scan["key"] != "PRIMARY" {
		t.Errorf("scan of the rows: %v, want the primary key", scan)
	}
}

// fill makes a table with all indexes and a thousand rows.
func fill(t *testing.T, s *Server, table string) {
	t.Helper()
	if err := s.CreateTable(t.Context(), ibench.Table{Name: table, Indexes: ibench.Indexes}); err != nil {
		t.Fatal(err)
	}
	in, err := s.OpenInserter(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
	var row ibench.Row
	for i := range int64(1000) {
		rows.At(i, &row)
		in.Append(&row)
	}
	if err := in.Insert(t.Context()); err != nil {
		t.Fatal(err)
	}
}
