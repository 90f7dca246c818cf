package mysql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// TestSessionOptions: what the server was sent on inserters' connections, by
// its own log of statements. A bulk load is its inserter's alone.
func TestSessionOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "general.log")
	s := servertest.PrivateMariaDB(t, "--general-log=1", "--general-log-file="+file)
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const unique, begin, end = "SET SESSION unique_checks = 0", "SET SESSION rocksdb_bulk_load = 1", "SET SESSION rocksdb_bulk_load = 0"
	for i, off := range []bool{false, true} {
		db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "root", Database: "options", CreateDatabase: true, Engine: "rocksdb", UniqueChecksOff: off})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if i == 0 {
			if err := db.CreateTable(t.Context(), ibench.Table{Name: "pi1"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, bulk := range []bool{false, true} {
			before := read()
			open := db.OpenInserter
			if bulk {
				open = db.OpenBulkInserter
			}
			in, err := open(t.Context(), "pi1")
			if err != nil {
				t.Fatal(err)
			}
			last := in.(ibench.Finisher)
			if last.NeedsFinish() != bulk {
				t.Errorf("bulk %v: a last step is needed: %v", bulk, last.NeedsFinish())
			}
			if bulk {
				if err := last.Finish(t.Context()); err != nil {
					t.Error(err)
				}
			}
			sent := strings.TrimPrefix(read(), before)
			for statement, want := range map[string]bool{unique: off, begin: bulk, end: bulk} {
				if strings.Contains(sent, statement) != want {
					t.Errorf("unique checks off %v, bulk %v: %q was sent: %v\n%s", off, bulk, statement, !want, sent)
				}
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
