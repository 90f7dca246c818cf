package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

// TestExplain asks SQLite how it runs the texts that querier and scanner
// send: ranges and scans of a secondary index read that index alone, in its
// order; points and the scan of the rows read the table by its key. The words
// are those of sqlite.org/eqp.html.
func TestExplain(t *testing.T) {
	s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "explain.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateTable(t.Context(), ibench.Table{Name: "pi1", Indexes: ibench.Indexes}); err != nil {
		t.Fatal(err)
	}
	explain := func(query string, args ...any) string {
		t.Helper()
		rows, err := s.db.Query("EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		var details []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			details = append(details, detail)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return strings.Join(details, "; ") // a sort would be a line more
	}
	for i, x := range ibench.Indexes {
		want := "SEARCH pi1 USING COVERING INDEX pi1_" + x.Name + " (" + x.Columns[0] + ">?)"
		if got := explain(sqltext.RangeText(hinted("pi1", i), x, 10), 1); got != want {
			t.Errorf("range of %s: %q, want %q", x.Name, got, want)
		}
		if got := explain(sqltext.ScanText(hinted("pi1", i), i)); got != want {
			t.Errorf("scan of %s: %q, want %q", x.Name, got, want)
		}
	}
	if got, want := explain(sqltext.PointText(hinted("pi1", ibench.PrimaryKey), 3), 1, 2, 3), "SEARCH pi1 USING INTEGER PRIMARY KEY (rowid=?)"; got != want {
		t.Errorf("points: %q, want %q", got, want)
	}
	if got, want := explain(sqltext.ScanText(hinted("pi1", ibench.PrimaryKey), ibench.PrimaryKey)), "SCAN pi1"; got != want {
		t.Errorf("scan of the rows: %q, want %q", got, want)
	}
}
