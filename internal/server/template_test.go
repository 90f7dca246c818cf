package server

import (
	"strings"
	"testing"
)

func TestTemplates(t *testing.T) {
	mariadb, mysql9, percona := Identity{MariaDB, "10.11.19-MariaDB"}, Identity{MySQL, "9.4.0"}, Identity{PerconaMySQL, "8.0.36-28"}
	for name, c := range map[string]struct {
		id      Identity
		engine  string
		cache   int64
		has     []string
		without []string
	}{
		// The log is a quarter of the cache: 4096M / 4 = 1024M.
		"InnoDB in MySQL":       {mysql9, "", 4 << 30, []string{"innodb_buffer_pool_size=4096M", "innodb_redo_log_capacity=1024M", "skip_log_bin"}, []string{"innodb_log_file_size"}},
		"InnoDB in MariaDB":     {mariadb, "InnoDB", 4 << 30, []string{"innodb_log_file_size=1024M"}, []string{"skip_log_bin", "redo_log"}},
		"two log files":         {Identity{MySQL, "5.7.44"}, "innodb", 4 << 30, []string{"innodb_log_file_size=512M"}, []string{"skip_log_bin"}},
		"the smallest log":      {mariadb, "innodb", 64 << 20, []string{"innodb_log_file_size=96M"}, nil},
		"the largest log":       {mariadb, "innodb", 256 << 30, []string{"innodb_log_file_size=16384M"}, nil},
		"the default cache":     {mariadb, "innodb", 0, []string{"O_DIRECT"}, []string{"buffer_pool", "log_file"}},
		"MyRocks in MariaDB":    {mariadb, "rocksdb", 1 << 30, []string{"plugin_load_add=ha_rocksdb\n", "rocksdb_block_cache_size=1024M", "innodb_buffer_pool_size=64M"}, nil},
		"MyRocks in Percona":    {percona, "myrocks", 0, []string{"plugin_load_add=rocksdb=ha_rocksdb.so"}, []string{"block_cache_size"}},
		"MyRocks built in":      {Identity{MySQL, "5.6.35"}, "rocksdb", 0, []string{"rocksdb_flush_log_at_trx_commit=1"}, []string{"plugin_load"}},
		"TokuDB":                {mariadb, "tokudb", 1 << 30, []string{"plugin_load_add=ha_tokudb", "tokudb_cache_size=1024M"}, nil},
		"WiredTiger":            {Identity{Mongod, "7.0.5"}, "", 3 << 29, []string{"engine: wiredTiger", "cacheSizeGB: 1.5\n", "slowOpThresholdMs: 2000"}, []string{"journal", "syncPeriodSecs", "oplog"}},
		"WiredTiger's smallest": {Identity{Mongod, "4.4.0"}, "wiredTiger", 1 << 20, []string{"cacheSizeGB: 0.25\n", "journal"}, []string{"oplog"}},
		// 1.5 GB, rounded up.
		"MongoRocks": {Identity{Mongod, "3.4.24"}, "mongorocks", 3 << 29, []string{"engine: rocksdb", "cacheSizeGB: 2\n", "syncPeriodSecs: 600", "oplogSizeMB: 4000"}, nil},
		"mmapv1":     {Identity{Mongod, "3.4.24"}, "mmapv1", 0, []string{"engine: mmapv1"}, []string{"cache"}},
		"in memory":  {Identity{PerconaMongo, "6.0.4-3"}, "inMemory", 1 << 30, []string{"engine: inMemory", "inMemorySizeGB: 1\n"}, nil},
	} {
		text, err := Template(c.id, c.engine, c.cache)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range c.has {
			if !strings.Contains(text, s) {
				t.Errorf("%s: no %q in\n%s", name, s, text)
			}
		}
		for _, s := range c.without {
			if strings.Contains(text, s) {
				t.Errorf("%s: %q in\n%s", name, s, text)
			}
		}
	}
	for _, c := range []struct {
		engine string
		cache  int64
	}{{"innodb", 0}, {"mmapv1", 1}, {"wiredTiger", -1}} {
		if _, err := Template(Identity{Mongod, "3.4.24"}, c.engine, c.cache); err == nil {
			t.Errorf("engine %s with a cache of %d is accepted", c.engine, c.cache)
		}
	}
}
