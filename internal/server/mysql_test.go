package server_test

import (
	"testing"

	"insertbench/internal/server"
	"insertbench/internal/server/servertest"
)

func TestMySQLFromNothing(t *testing.T) {
	dir := t.TempDir()
	cfg := server.Config{Program: servertest.MySQLProgram(t), Engine: "innodb", CacheBytes: 512 << 20, DataDir: dir}
	s := start(t, cfg)
	if s.Product != server.MySQL {
		t.Errorf("it is %s %s", s.Product, s.Version)
	}
	for name, want := range map[string]string{
		// 512 MiB of cache; a quarter of it, 128 MiB, is the redo log.
		"innodb_buffer_pool_size": "536870912", "innodb_redo_log_capacity": "134217728", "innodb_flush_method": "O_DIRECT",
		"innodb_flush_log_at_trx_commit": "1", "log_bin": "0", "max_allowed_packet": "67108864",
	} {
		if got := query(t, s, "SELECT @@"+name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	execute(t, s, "CREATE DATABASE ib", "CREATE TABLE ib.t (a INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO ib.t VALUES (41)")
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, start(t, cfg), "SELECT a FROM ib.t"); got != "41" {
		t.Errorf("after a restart it holds %s, want 41", got)
	}
}
