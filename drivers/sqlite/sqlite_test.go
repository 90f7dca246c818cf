package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"insertbench/drivers"
	"insertbench/drivers/drivertest"
	"insertbench/drivers/sqlite"
	"insertbench/ibench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file is an SQLite file reached by database/sql, beside the code under test.
type file struct{ path string }

func TestConformance(t *testing.T) {
	// A name with characters that mean something in a URI.
	f := file{filepath.Join(t.TempDir(), "a b%20?c#d.db")}
	drivertest.Run(t, drivertest.Suite{
		Open: func(t testing.TB) ibench.Database { return f.open(t) },
		Want: drivers.Identity{
			DBMS: "sqlite", Product: "SQLite", Engine: "SQLite",
			Durability: "journal wal, synchronous FULL", Transport: "embedded", Embedded: true,
		},
		ReadRows:    f.readRows,
		ReadIndexes: f.readIndexes,
		MakeOther:   f.makeOther,
		CountOther:  f.countOther,
		Block:       f.block,
		// A statement that waits for the file's lock shows nowhere. If the
		// abort comes before the wait, it has to end the statement all the same.
		Waiting:   func(testing.TB, string) { time.Sleep(50 * time.Millisecond) },
		HugeBatch: 1_000_000,
		Settles:   true,
	})
	if _, err := os.Stat(f.path); err != nil {
		t.Errorf("the file isn't where it was asked for: %v", err)
	}
}

func (f file) open(t testing.TB) *sqlite.Server {
	t.Helper()
	db, err := sqlite.Open(context.Background(), sqlite.Config{Path: f.path})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// with runs a function on a connection of its own.
func (f file) with(t testing.TB, do func(db *sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(f.path))
	if err == nil {
		err = errors.Join(do(db), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (f file) makeOther(t testing.TB, name string) {
	f.with(t, func(db *sql.DB) error {
		_, err := db.Exec("CREATE TABLE " + name + " (x INT); INSERT INTO " + name + " VALUES (1)")
		return err
	})
}

func (f file) countOther(t testing.TB, name string) (n int) {
	f.with(t, func(db *sql.DB) error { return db.QueryRow("SELECT COUNT(*) FROM " + name).Scan(&n) })
	return n
}

func (f file) readRows(t testing.TB, _ ibench.Database, table string) (out []ibench.Row) {
	f.with(t, func(db *sql.DB) error {
		rows, err := db.Query("SELECT CAST(strftime('%s', dateandtime) AS INT), cashregisterid, customerid, productid, price, CAST(data AS BLOB) FROM " + table + " ORDER BY transactionid")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r ibench.Row
			if err := rows.Scan(&r.Seconds, &r.CashRegisterID, &r.CustomerID, &r.ProductID, &r.Price, &r.Data); err != nil {
				return err
			}
			out = append(out, r)
		}
		return rows.Err()
	})
	return out
}

func (f file) readIndexes(t testing.TB, _ ibench.Database, table string) (out []ibench.Index) {
	f.with(t, func(db *sql.DB) error {
		rows, err := db.Query("SELECT m.name, i.name FROM sqlite_master m, pragma_index_info(m.name) i WHERE m.type = 'index' AND m.tbl_name = ? ORDER BY m.name, i.seqno", table)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var index, column string
			if err := rows.Scan(&index, &column); err != nil {
				return err
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
		return rows.Err()
	})
	return out
}

// block holds the write lock as another process would.
func (f file) block(t testing.TB, _ string) (release func()) {
	t.Helper()
	done, held := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.with(t, func(db *sql.DB) error {
			conn, err := db.Conn(context.Background())
			if err != nil {
				return err
			}
			_, err = conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
			close(held)
			<-done
			_, rollback := conn.ExecContext(context.Background(), "ROLLBACK")
			return errors.Join(err, rollback, conn.Close())
		})
	}()
	<-held
	return func() { close(done); <-ended }
}

// A lock that another process doesn't give back in time can be tried again.
func TestBusyIsRetryable(t *testing.T) {
	f := file{filepath.Join(t.TempDir(), "busy.db")}
	db, err := sqlite.Open(context.Background(), sqlite.Config{Path: f.path, LockTimeout: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(context.Background(), "pi1")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	in.Append(&ibench.Row{Data: []byte("a")})
	release := f.block(t, "pi1")
	err = in.Insert(context.Background())
	if drivers.ClassOf(err) != drivers.Retryable || drivers.CodeOf(err) != "SQLITE_BUSY" {
		t.Errorf("got %v with class %v and code %q, want a retryable SQLITE_BUSY", err, drivers.ClassOf(err), drivers.CodeOf(err))
	}
	// Reading goes on beside a writer.
	if _, _, err := db.Sums(context.Background(), "pi1"); err != nil {
		t.Errorf("Sums beside a writer: %v", err)
	}
	release()
	if err := in.Insert(context.Background()); err != nil {
		t.Errorf("Insert after the lock was given back: %v", err)
	}
}

func TestFullIsFatal(t *testing.T) {
	f := file{filepath.Join(t.TempDir(), "full.db")}
	db := f.open(t)
	defer db.Close()
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(context.Background(), "pi1")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	sqlite.LimitPages(t, in, 3)
	row := ibench.Row{Data: []byte(strings.Repeat("a", 4000))}
	for range 10 {
		in.Append(&row)
	}
	err = in.Insert(context.Background())
	if drivers.ClassOf(err) != drivers.Fatal || drivers.CodeOf(err) != "SQLITE_FULL" {
		t.Errorf("got %v with class %v and code %q, want a fatal SQLITE_FULL", err, drivers.ClassOf(err), drivers.CodeOf(err))
	}
	if sums, _, err := db.Sums(context.Background(), "pi1"); err != nil || sums.Rows != 0 {
		t.Errorf("the table has %d rows (error %v) after a statement that failed, want 0", sums.Rows, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, path, want string }{
		{"no path", "", "no file was named"},
		{"in memory", ":memory:", "isn't a file's path"},
		{"directory", dir, "isn't a regular file"},
		{"no directory", filepath.Join(dir, "no", "x.db"), "doesn't exist: make it first"},
		{"file as a directory", filepath.Join(text, "x.db"), "opening SQLite file"},
		{"not a database", text, "isn't an SQLite database"},
	} {
		t.Run(test.name, func(t *testing.T) {
			db, err := sqlite.Open(context.Background(), sqlite.Config{Path: test.path})
			if err == nil {
				_ = db.Close()
			}
			if !errors.Is(err, drivers.ErrConfig) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one of kind ErrConfig with %q", err, test.want)
			}
		})
	}
	if got, err := os.ReadFile(text); err != nil || !strings.HasPrefix(string(got), "this is not") {
		t.Error("a file that isn't a database was changed")
	}
}

func TestSizeCountsTheLog(t *testing.T) {
	f := file{filepath.Join(t.TempDir(), "size.db")}
	db := f.open(t)
	defer db.Close()
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	var want int64
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(f.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		want += info.Size()
	}
	if got, err := db.SizeBytes(context.Background()); err != nil || got != want {
		t.Errorf("SizeBytes gave %d and error %v, want %d", got, err, want)
	}
	if place := db.Place(); place.DataDir != filepath.Dir(f.path) || place.Network != "" {
		t.Errorf("Place is %+v, want the file's directory and no network", place)
	}
}
