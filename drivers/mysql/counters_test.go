package mysql_test

import (
	"maps"
	"slices"
	"testing"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// TestCountersOfMariaDB reads every counter of both engines from a server, and
// sees that inserting moves the log by what it was given at least. Names are
// the server's own, so a misspelt one is missing.
func TestCountersOfMariaDB(t *testing.T) {
	s := servertest.MariaDB(t)
	a := openAdmin(t, "root@unix("+s.Socket+")/")
	for engine, c := range map[string]struct {
		log string // counts the bytes of what is logged
	}{
		"innodb": {log: "innodb_redo_bytes"}, "rocksdb": {log: "rocksdb_wal_bytes"}, "blackhole": {},
	} {
		t.Run(engine, func(t *testing.T) {
			a.exec(t, "CREATE DATABASE counters")
			t.Cleanup(func() { a.exec(t, "DROP DATABASE counters") })
			db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "root", Database: "counters", Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			before := counters(t, db)
			if engine == "blackhole" {
				if len(before) != 0 {
					t.Errorf("an engine without counters has %d", len(before))
				}
				return
			}
			const rows, dataBytes = 1000, 2000
			insertData(t, db, rows, dataBytes)
			after := counters(t, db)
			for _, name := range slices.Sorted(maps.Keys(after)) {
				if after[name] == nil {
					t.Errorf("the server has no counter %s", name)
				}
			}
			if moved := *after[c.log] - *before[c.log]; moved < rows*dataBytes {
				t.Errorf("%s moved by %.0f for %d bytes of data", c.log, moved, rows*dataBytes)
			}
		})
	}
}

// TestCountersOfMySQL: MySQL has the history's length in another place.
func TestCountersOfMySQL(t *testing.T) {
	address := servertest.MySQL(t)
	a := openAdmin(t, "root@tcp("+address+")/")
	a.exec(t, "CREATE DATABASE counters")
	t.Cleanup(func() { a.exec(t, "DROP DATABASE counters") })
	db, err := mysql.Open(t.Context(), mysql.Config{DSN: "root@tcp(" + address + ")/counters", Engine: "innodb"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	got := counters(t, db)
	for _, name := range []string{"innodb_pages_read", "innodb_redo_bytes", "innodb_history_length"} {
		if got[name] == nil {
			t.Errorf("the server has no counter %s", name)
		}
	}
}

func counters(t *testing.T, db *mysql.Server) map[string]*float64 {
	t.Helper()
	list, err := drivers.Counting(db).Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]*float64{}
	for _, c := range list {
		values[c.Name] = c.Value
	}
	return values
}

// insertData fills a new table with rows of random text of one length.
func insertData(t *testing.T, db *mysql.Server, rows int64, dataBytes int) {
	t.Helper()
	table := ibench.TableName(0)
	if err := db.CreateTable(t.Context(), ibench.Table{Name: table}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	spec := ibench.DefaultRowSpec()
	spec.DataLengthMin, spec.DataLengthMax, spec.DataRandomPct = dataBytes, dataBytes, 100
	source := ibench.NewRows(1, 0, spec)
	var row ibench.Row
	for i := range rows {
		source.At(i, &row)
		in.Append(&row)
	}
	if err := in.Insert(t.Context()); err != nil {
		t.Fatal(err)
	}
}
