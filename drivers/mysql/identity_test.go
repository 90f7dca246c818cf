package mysql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Values read from the servers named: MariaDB 10.11.19 and MySQL 9.7.4 of
// Debian; the others from their release notes.
func TestProduct(t *testing.T) {
	for _, test := range []struct{ version, comment, uuid, want string }{
		{"10.11.19-MariaDB-0+deb12u1", "Debian 12", "", "MariaDB"},
		{"9.7.4-2", "(Debian)", "34ff10f7-ed11-11f1-8c1a-02fc00000001", "MySQL"},
		{"8.0.36", "MySQL Community Server - GPL", "u", "MySQL"},
		{"8.0.35-27", "Percona Server (GPL), Release 27, Revision 2f8eeab", "u", "Percona Server"},
		{"5.7.25-TiDB-v7.5.0", "TiDB Server (Apache License 2.0) Community Edition, MySQL 5.7 compatible", "", "TiDB"},
		{"8.0.11", "", "", "MySQL-compatible"},
	} {
		if got := product(map[string]string{"version": test.version, "version_comment": test.comment, "server_uuid": test.uuid}); got != test.want {
			t.Errorf("%s, %s: got %q, want %q", test.version, test.comment, got, test.want)
		}
	}
}

func TestDurability(t *testing.T) {
	vars := func(pairs ...string) map[string]string {
		out := map[string]string{"log_bin": "OFF", "sql_log_bin": "ON", "sync_binlog": "0", "innodb_flush_log_at_trx_commit": "1", "rocksdb_flush_log_at_trx_commit": "2"}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = pairs[i+1]
		}
		return out
	}
	for _, test := range []struct {
		engine string
		vars   map[string]string
		want   string
	}{
		{"InnoDB", vars(), "flush at commit 1, binlog off"},
		{"InnoDB", vars("log_bin", "ON", "sync_binlog", "1"), "flush at commit 1, binlog on with sync_binlog 1"},
		{"InnoDB", vars("log_bin", "1", "sql_log_bin", "0"), "flush at commit 1, binlog off for this session"},
		{"ROCKSDB", vars(), "flush at commit 2, binlog off"},
		{"ROCKSDB", vars("rocksdb_write_disable_wal", "ON"), "write-ahead log off, binlog off"},
		{"TokuDB", vars(), "flush at commit unknown, binlog off"},
		{"MEMORY", vars(), "in memory only"},
		{"BLACKHOLE", vars("log_bin", "ON"), "keeps nothing"},
	} {
		if got := durability(engine{name: test.engine}, test.vars); got != test.want {
			t.Errorf("%s: got %q, want %q", test.engine, got, test.want)
		}
	}
}

func TestLogDirs(t *testing.T) {
	for _, test := range []struct {
		name string
		vars map[string]string
		want []string
	}{
		{"all inside", map[string]string{"datadir": "/data/m/", "innodb_log_group_home_dir": "./", "rocksdb_datadir": "./.rocksdb", "aria_log_dir_path": "/data/m/", "rocksdb_wal_dir": ""}, nil},
		{"outside", map[string]string{"datadir": "/data/m/", "innodb_log_group_home_dir": "/redo/", "rocksdb_wal_dir": "/wal", "log_bin_basename": "/binlog/mysql-bin"}, []string{"/redo", "/wal", "/binlog"}},
		{"same twice", map[string]string{"datadir": "/data/m", "innodb_log_group_home_dir": "/redo", "innodb_undo_directory": "/redo/"}, []string{"/redo"}},
		{"beside", map[string]string{"datadir": "/data/m", "innodb_log_group_home_dir": "../m2"}, []string{"/data/m2"}},
	} {
		if diff := cmp.Diff(test.want, logDirs(test.vars)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
