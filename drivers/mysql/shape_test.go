package mysql_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// TestShapes makes tables in pieces and indexes in families, and reads both
// back from the server.
func TestShapes(t *testing.T) {
	s := servertest.MariaDB(t)
	a := openAdmin(t, "root@unix("+s.Socket+")/")
	side, err := sql.Open("mysql", "root@unix("+s.Socket+")/shapes")
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	for _, engine := range []string{"innodb", "rocksdb"} {
		t.Run(engine, func(t *testing.T) {
			a.exec(t, "CREATE DATABASE shapes")
			t.Cleanup(func() { a.exec(t, "DROP DATABASE shapes") })
			db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "root", Database: "shapes", Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			table := ibench.Table{Name: "pi1", Partitions: 3, PartitionRows: 400}
			list := ibench.Config{SecondaryIndexes: 3, Shape: ibench.Shape{ColumnFamilies: true}}.SecondaryIndexList()
			if engine == "rocksdb" {
				table.Indexes = list[:1]
			} else if err := db.CheckShape(ibench.Table{Name: "pi1", Indexes: list}); !errors.Is(err, drivers.ErrConfig) {
				t.Errorf("families of InnoDB gave %v", err)
			}
			if err := db.CheckShape(table); err != nil {
				t.Fatal(err)
			}
			// "p0_cfname=xms;" has 14 characters, from p10 on 15: 10 × 14 + 61 × 15
			// are 1,055.
			if many := (ibench.Table{Indexes: table.Indexes, Partitions: 71}); engine == "rocksdb" && !errors.Is(db.CheckShape(many), drivers.ErrConfig) {
				t.Error("families of 71 partitions were not refused")
			}
			if err := db.CreateTable(t.Context(), table); err != nil {
				t.Fatal(err)
			}
			if engine == "rocksdb" {
				if err := db.CreateIndexes(t.Context(), "pi1", list[1:]); err != nil {
					t.Fatal(err)
				}
				got := column(t, side, "SELECT DISTINCT CONCAT(INDEX_NAME, ' ', CF) FROM information_schema.ROCKSDB_DDL WHERE TABLE_SCHEMA = 'shapes' ORDER BY 1")
				want := []string{"pi1_marketsegment xms", "pi1_pdc xpdc", "pi1_registersegment xrs", "PRIMARY default"}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("families (-want +got):\n%s", diff)
				}
			}
			got := column(t, side, "SELECT CONCAT(PARTITION_NAME, ' ', PARTITION_DESCRIPTION) FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = 'shapes' ORDER BY PARTITION_ORDINAL_POSITION")
			if diff := cmp.Diff([]string{"p0 400", "p1 800", "p2 MAXVALUE"}, got); diff != "" {
				t.Errorf("partitions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScripts: several statements, with comments and quoted semicolons; an
// error in any of them is told.
func TestScripts(t *testing.T) {
	s := servertest.MariaDB(t)
	a := openAdmin(t, "root@unix("+s.Socket+")/")
	a.exec(t, "CREATE DATABASE scripts")
	t.Cleanup(func() { a.exec(t, "DROP DATABASE scripts") })
	side, err := sql.Open("mysql", "root@unix("+s.Socket+")/scripts")
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "root", Database: "scripts"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	text := "-- made for a test; with semicolons\nCREATE TABLE notes (text VARCHAR(20));\nINSERT INTO notes VALUES ('a;b'), ('c');\nSELECT * FROM notes; /* the end; */ UPDATE notes SET text = 'd' WHERE text = 'c';\n-- last\n"
	if err := db.RunScript(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a;b", "d"}, column(t, side, "SELECT text FROM notes ORDER BY text")); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	err = db.RunScript(t.Context(), "INSERT INTO notes VALUES ('e');\nSELECT nonsense;\nINSERT INTO notes VALUES ('f');")
	if !errors.Is(err, drivers.ErrConfig) || !strings.HasPrefix(err.Error(), "statement 2 failed") || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a bad second statement gave %v", err)
	}
	// What a procedure does is no statement of the text, nor is a comment.
	err = db.RunScript(t.Context(), "CREATE PROCEDURE take() BEGIN INSERT INTO notes VALUES ('g'); INSERT INTO notes VALUES ('h'); END;\n"+
		"CALL take();\n-- a comment;\nCREATE TABEL more (x INT);\nSELECT 1;")
	if err == nil || !strings.HasPrefix(err.Error(), "statement 3 failed") || !strings.Contains(err.Error(), "TABEL") {
		t.Errorf("a bad third statement gave %v", err)
	}
	// A script may take longer than a statement of the benchmark.
	patient, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "root", Database: "scripts", StatementTimeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	if err := patient.RunScript(t.Context(), "DO SLEEP(1.5)"); err != nil {
		t.Errorf("a script of 1.5 s gave %v", err)
	}
}

func column(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
