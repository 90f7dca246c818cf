package server_test

import (
	"context"
	"database/sql"
	"testing"

	"insertbench/internal/server"
	"insertbench/internal/server/servertest"
)

// A restarted server is another process on the same data, also where the
// folder is a temporary one; a stopped one is not restarted.
func TestRestart(t *testing.T) {
	s, err := server.Start(t.Context(), server.Config{Program: servertest.MariaDBProgram(t), Engine: "innodb"})
	if err != nil {
		t.Fatal(err)
	}
	query := func(text string) int {
		t.Helper()
		db, err := sql.Open("mysql", "root@unix("+s.Socket+")/")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var n int
		if err := db.QueryRow(text).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	exec := func(text string) {
		t.Helper()
		db, err := sql.Open("mysql", "root@unix("+s.Socket+")/")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE DATABASE d")
	exec("CREATE TABLE d.t (a INT) ENGINE=InnoDB")
	exec("INSERT INTO d.t VALUES (7)")
	pid := s.PID
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.PID == pid {
		t.Errorf("the pid is %d before and after", pid)
	}
	if got := query("SELECT a FROM d.t"); got != 7 {
		t.Errorf("the table holds %d after the restart, want 7", got)
	}
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if err := s.Restart(t.Context()); err == nil {
		t.Error("a stopped server was restarted")
	}
}
