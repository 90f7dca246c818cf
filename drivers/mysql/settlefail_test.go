package mysql_test

import (
	"database/sql"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers/mysql"
	"insertbench/internal/server/servertest"
)

// TestSettleRestoresAfterFailure: the server ends the connection while Settle
// waits for dirty pages, and lets nobody in until the restoring was refused
// too. Settle fails, and InnoDB's variables are what they were.
func TestSettleRestoresAfterFailure(t *testing.T) {
	s := servertest.PrivateMariaDB(t)
	a := openAdmin(t, "root@unix("+s.Socket+")/")
	dirty(t, s.Socket, "innodb", "settle")
	a.exec(t, "CREATE USER settler@localhost")
	a.exec(t, "GRANT ALL ON *.* TO settler@localhost")
	a.exec(t, "SET GLOBAL innodb_max_dirty_pages_pct = 83")
	a.exec(t, "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 7")
	before := flushVariables(t, a.db)
	db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "settler", Database: "settle", Engine: "innodb"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()

	ended, dirtied := make(chan struct{}), make(chan struct{})
	go func() { // so that there is something to wait for
		defer close(dirtied)
		for {
			select {
			case <-ended:
				return
			default:
				if _, err := a.db.Exec("UPDATE settle.pi1 SET price = price + 1"); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	go func() {
		defer close(ended)
		if _, err := db.Settle(t.Context(), []string{"pi1"}, time.Minute); err == nil {
			t.Error("Settle didn't fail")
		}
	}()
	awaitBefore(t, ended, func() bool { return flushVariables(t, a.db)["innodb_max_dirty_pages_pct"] == "0.000000" })
	a.exec(t, "ALTER USER settler@localhost ACCOUNT LOCK")
	refused := refusals(t, a.db)
	a.exec(t, "KILL USER settler@localhost")
	awaitBefore(t, ended, func() bool { return refusals(t, a.db) >= refused+2 })
	a.exec(t, "ALTER USER settler@localhost ACCOUNT UNLOCK")
	<-ended
	<-dirtied
	if diff := cmp.Diff(before, flushVariables(t, a.db)); diff != "" {
		t.Errorf("variables (-before +after):\n%s", diff)
	}
}

// awaitBefore waits for what must come before ended.
func awaitBefore(t *testing.T, ended <-chan struct{}, ready func() bool) {
	t.Helper()
	for !ready() {
		select {
		case <-ended:
			t.Error("Settle ended too early")
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// refusals counts logins that the server refused.
func refusals(t *testing.T, db *sql.DB) int {
	t.Helper()
	var name, value string
	if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Aborted_connects'").Scan(&name, &value); err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
