package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"insertbench/drivers"
	"insertbench/drivers/drivertest"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// Lock wait timeouts of one second, so that a conflict shows soon.
var quickTimeouts = []string{"innodb_lock_wait_timeout", "rocksdb_lock_wait_timeout"}

func TestConformanceMariaDB(t *testing.T) {
	s := servertest.MariaDB(t)
	for _, engine := range []struct{ name, durability string }{
		{"InnoDB", ""}, {"ROCKSDB", ""}, {"BLACKHOLE", "keeps nothing"}, {"Aria", ""},
	} {
		t.Run(engine.name, func(t *testing.T) {
			config := mysql.Config{Socket: s.Socket, User: "root", Database: "conformance_" + strings.ToLower(engine.name), CreateDatabase: true, Engine: strings.ToLower(engine.name)}
			want := drivers.Identity{DBMS: "mysql", Product: "MariaDB", Engine: engine.name, Durability: engine.durability, Transport: "unix socket " + s.Socket}
			conformance(t, "root@unix("+s.Socket+")/", config, want)
		})
	}
}

func TestConformanceMySQL(t *testing.T) {
	address := servertest.MySQL(t)
	config := mysql.Config{DSN: "root@tcp(" + address + ")/conformance_mysql", CreateDatabase: true, Engine: "innodb"}
	want := drivers.Identity{DBMS: "mysql", Product: "MySQL", Engine: "InnoDB", Transport: "tcp " + address}
	conformance(t, "root@tcp("+address+")/", config, want)
}

// admin reaches the server by the stock driver, beside the code under test.
type admin struct {
	db       *sql.DB
	database string
}

func conformance(t *testing.T, dsn string, config mysql.Config, want drivers.Identity) {
	database := config.Database
	if database == "" {
		database = "conformance_mysql"
	}
	a := openAdmin(t, dsn)
	a.database = database
	a.exec(t, "DROP DATABASE IF EXISTS "+database)
	a.exec(t, "CREATE DATABASE "+database)
	t.Cleanup(func() { a.exec(t, "DROP DATABASE "+database) })
	suite := drivertest.Suite{
		Open: func(t testing.TB) ibench.Database {
			db, err := mysql.Open(context.Background(), config)
			if err != nil {
				t.Fatal(err)
			}
			return db
		},
		Want:         want,
		KeepsNothing: want.Engine == "BLACKHOLE",
		ReadIndexes:  a.readIndexes,
		MakeOther:    a.makeOther,
		CountOther:   a.countOther,
		Block:        a.block,
		Waiting:      a.waiting,
		Kill:         a.kill,
		HugeBatch:    100_000,
		Settles:      want.Engine == "InnoDB" || want.Engine == "ROCKSDB",
	}
	if !suite.KeepsNothing {
		suite.ReadRows = a.readRows
	}
	if want.Engine == "InnoDB" || want.Engine == "ROCKSDB" {
		suite.Conflict = a.conflict
	}
	drivertest.Run(t, suite)
}

func openAdmin(t *testing.T, dsn string) admin {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(-1) // or the suite takes them for goroutines left behind
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return admin{db: db}
}

func (a admin) exec(t testing.TB, query string) {
	t.Helper()
	if _, err := a.db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func (a admin) name(table string) string { return a.database + "." + table }

func (a admin) makeOther(t testing.TB, table string) {
	a.exec(t, "CREATE TABLE "+a.name(table)+" (x INT) ENGINE=InnoDB")
	a.exec(t, "INSERT INTO "+a.name(table)+" VALUES (1)")
}

func (a admin) countOther(t testing.TB, table string) int {
	t.Helper()
	var n int
	if err := a.db.QueryRow("SELECT COUNT(*) FROM " + a.name(table)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (a admin) readRows(t testing.TB, _ ibench.Database, table string) []ibench.Row {
	t.Helper()
	rows, err := a.db.Query("SELECT TIMESTAMPDIFF(SECOND, '1970-01-01', dateandtime), cashregisterid, customerid, productid, price, data FROM " + a.name(table) + " ORDER BY transactionid")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []ibench.Row
	for rows.Next() {
		var r ibench.Row
		if err := rows.Scan(&r.Seconds, &r.CashRegisterID, &r.CustomerID, &r.ProductID, &r.Price, &r.Data); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func (a admin) readIndexes(t testing.TB, _ ibench.Database, table string) []ibench.Index {
	t.Helper()
	rows, err := a.db.Query("SELECT INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME <> 'PRIMARY' AND NON_UNIQUE = 1 ORDER BY INDEX_NAME, SEQ_IN_INDEX", a.database, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := []ibench.Index{}
	for rows.Next() {
		var index, column string
		if err := rows.Scan(&index, &column); err != nil {
			t.Fatal(err)
		}
		name, ok := strings.CutPrefix(index, table+"_")
		if !ok {
			t.Errorf("index %q doesn't begin with its table's name", index)
		}
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, ibench.Index{Name: name})
		}
		out[len(out)-1].Columns = append(out[len(out)-1].Columns, column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// hold runs statements on a connection of its own, which release closes.
func (a admin) hold(t testing.TB, statements ...string) (release func()) {
	t.Helper()
	conn, err := a.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return func() {
		for _, statement := range []string{"ROLLBACK", "UNLOCK TABLES"} {
			if _, err := conn.ExecContext(context.Background(), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (a admin) block(t testing.TB, table string) (release func()) {
	t.Helper()
	return a.hold(t, "LOCK TABLES "+a.name(table)+" READ")
}

// inserting finds the connection that is inserting into the table.
func (a admin) inserting(t testing.TB, table string) (id int64, ok bool) {
	t.Helper()
	err := a.db.QueryRow("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ? AND INFO LIKE ?", a.database, "INSERT INTO "+table+" %").Scan(&id)
	if err != nil && err != sql.ErrNoRows {
		t.Fatal(err)
	}
	return id, err == nil
}

func (a admin) waiting(t testing.TB, table string) {
	t.Helper()
	for range 1000 {
		if _, ok := a.inserting(t, table); ok {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the insert never reached the server")
}

func (a admin) kill(t testing.TB, table string) {
	t.Helper()
	id, ok := a.inserting(t, table)
	if !ok {
		t.Fatal("no insert to kill")
	}
	a.exec(t, fmt.Sprintf("KILL %d", id))
}

// conflict holds the lock on the place that the next row goes to: the end of
// the index in InnoDB, the next key in RocksDB, which has no gap locks.
func (a admin) conflict(t testing.TB, table string) (release func()) {
	t.Helper()
	var restore []string
	for _, name := range quickTimeouts {
		var old int
		if err := a.db.QueryRow("SELECT @@GLOBAL." + name).Scan(&old); err != nil {
			continue // an engine that this server doesn't have
		}
		a.exec(t, "SET GLOBAL "+name+" = 1")
		restore = append(restore, fmt.Sprintf("SET GLOBAL %s = %d", name, old))
	}
	unlock := a.hold(t, "BEGIN",
		"SELECT * FROM "+a.name(table)+" WHERE transactionid = 1 FOR UPDATE",
		"SELECT * FROM "+a.name(table)+" WHERE transactionid > 0 FOR UPDATE")
	return func() {
		unlock()
		for _, statement := range restore {
			a.exec(t, statement)
		}
	}
}
