package mysql_test

import (
	"database/sql"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers/mysql"
	"insertbench/ibench"
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

// TestSettleConnectionLost cuts the connection right as Settle changes a
// variable. That is told as what it is: not as a privilege that is missing,
// and not as a settle that ended.
func TestSettleConnectionLost(t *testing.T) {
	s := servertest.PrivateMariaDB(t)
	a := openAdmin(t, "root@unix("+s.Socket+")/")
	for engine, change := range map[string]string{
		"innodb": "SET GLOBAL innodb_max_dirty_pages_pct = 0", "rocksdb": "SET GLOBAL rocksdb_force_flush_memtable_now = 1",
	} {
		t.Run(engine, func(t *testing.T) {
			database := "lost_" + engine
			dirty(t, s.Socket, engine, database)
			before := flushVariables(t, a.db)
			db, err := mysql.Open(t.Context(), mysql.Config{DSN: "root@tcp(" + cutAt(t, s.Addr(), change) + ")/" + database, Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			got, err := db.Settle(t.Context(), []string{"pi1"}, time.Minute)
			if err == nil || strings.Contains(err.Error(), "grant") || strings.Contains(err.Error(), "by hand") {
				t.Errorf("Settle gave %v, want the lost connection", err)
			}
			if diff := cmp.Diff(ibench.Settled{Actions: []string{"analyzed pi1"}}, got); diff != "" {
				t.Errorf("Settle (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, flushVariables(t, a.db)); diff != "" {
				t.Errorf("variables (-before +after):\n%s", diff)
			}
		})
	}
}

// cutAt gives the address of a proxy that closes a connection instead of
// handing on a message with a text.
func cutAt(t *testing.T, upstream, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", upstream)
			if err != nil {
				client.Close()
				continue
			}
			running.Go(func() {
				_, _ = io.Copy(client, server) // it ends with either of the two
				client.Close()
			})
			running.Go(func() {
				defer server.Close()
				message := make([]byte, 64<<10)
				for {
					n, err := client.Read(message)
					if err != nil || strings.Contains(string(message[:n]), text) {
						return
					}
					if _, err := server.Write(message[:n]); err != nil {
						return
					}
				}
			})
		}
	})
	return l.Addr().String()
}
