package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// flushVariables are what Settle may change.
func flushVariables(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.Query("SHOW GLOBAL VARIABLES WHERE Variable_name LIKE 'innodb_max_dirty_pages_pct%' OR Variable_name = 'innodb_idle_flush_pct'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		out[name] = value
	}
	return out
}

// dirty fills a table of a private database and opens it.
func dirty(t *testing.T, socket, engine, name string) *mysql.Server {
	t.Helper()
	db, err := mysql.Open(t.Context(), mysql.Config{Socket: socket, User: "root", Database: name, CreateDatabase: true, Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.CreateTable(t.Context(), ibench.Table{Name: "pi1", Indexes: ibench.Indexes}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(t.Context(), "pi1")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
	var row ibench.Row
	for i := range int64(20_000) {
		rows.At(i, &row)
		in.Append(&row)
		if i%1000 == 999 {
			if err := in.Insert(t.Context()); err != nil {
				t.Fatal(err)
			}
			in.Reset()
		}
	}
	return db
}

// TestSettleRestores: InnoDB's variables are what they were, whether the
// dirty pages were written, the time was up, or the run was interrupted.
func TestSettleRestores(t *testing.T) {
	s := servertest.PrivateMariaDB(t)
	admin, err := sql.Open("mysql", "root@unix("+s.Socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, statement := range []string{"SET GLOBAL innodb_max_dirty_pages_pct = 83", "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 7"} {
		if _, err := admin.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	before := flushVariables(t, admin)
	for i, c := range []struct {
		name      string
		limit     time.Duration
		interrupt bool
	}{
		{"to its end", time.Minute, false}, {"until the time is up", time.Nanosecond, false}, {"interrupted", time.Minute, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := dirty(t, s.Socket, "innodb", fmt.Sprintf("settle%d", i))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.interrupt {
				go func() { // once the variables are changed
					for flushVariables(t, admin)["innodb_max_dirty_pages_pct"] == before["innodb_max_dirty_pages_pct"] && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			watched, waiting := drivers.WithWaiting(ctx)
			got, err := db.Settle(watched, []string{"pi1"}, c.limit)
			if err != nil && !c.interrupt {
				t.Errorf("Settle gave %+v, %v", got, err)
			}
			if !c.interrupt && c.limit == time.Minute && (len(got.Verified) != 1 || len(got.Unverified) != 0) {
				t.Errorf("Settle gave %+v, want it verified", got)
			}
			if text := waiting.Text(); c.limit == time.Minute && !c.interrupt && !strings.HasSuffix(text, " dirty pages in InnoDB's buffer pool") {
				t.Errorf("at last it waited for %q", text)
			}
			if c.limit == time.Nanosecond && len(got.Verified)+len(got.Unverified) != 1 {
				t.Errorf("Settle gave %+v, want one word on how it ended", got)
			}
			if diff := cmp.Diff(before, flushVariables(t, admin)); diff != "" {
				t.Errorf("variables (-before +after):\n%s", diff)
			}
		})
	}
}

// TestSettleWithoutPrivilege says that it couldn't, and changes nothing.
func TestSettleWithoutPrivilege(t *testing.T) {
	s := servertest.PrivateMariaDB(t)
	dirty(t, s.Socket, "innodb", "settle")
	admin, err := sql.Open("mysql", "root@unix("+s.Socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, statement := range []string{"CREATE USER poor@localhost", "GRANT ALL ON settle.* TO poor@localhost"} {
		if _, err := admin.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for engine, word := range map[string]string{"innodb": "grant", "rocksdb": "memtables"} {
		db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "poor", Database: "settle", Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if engine == "rocksdb" {
			if err := db.CreateTable(t.Context(), ibench.Table{Name: "pi2"}); err != nil {
				t.Fatal(err)
			}
		}
		table := map[string]string{"innodb": "pi1", "rocksdb": "pi2"}[engine]
		got, err := db.Settle(t.Context(), []string{table}, time.Minute)
		if err != nil || len(got.Unverified) != 1 || !strings.Contains(got.Unverified[0], word) {
			t.Errorf("%s: Settle gave %+v, %v", engine, got, err)
		}
	}
}
