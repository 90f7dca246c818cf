package server

import (
	"fmt"
	"strings"
)

// Template is our configuration for a server: the option file's text. engine is
// innodb, rocksdb (or myrocks), wiredTiger, rocksdb (or mongorocks) for mongod, or any other by
// name; "" is the product's default. cacheBytes sizes the engine's cache; 0 leaves the server's default.
//
// A MySQL server flushes every commit, and its binary log is off. mongod journals and is a replica-less master
// where there is such a thing (before 4.0), a standalone elsewhere. What is set and why is in the functions below.
func Template(id Identity, engine string, cacheBytes int64) (string, error) {
	if cacheBytes < 0 {
		return "", fmt.Errorf("a cache of %d bytes: it must be 0 (the server's default) or more", cacheBytes)
	}
	engine = strings.ToLower(engine)
	if id.isMongo() {
		return mongodTemplate(id, engine, cacheBytes)
	}
	return mysqlTemplate(id, engine, cacheBytes)
}

// mysqlTemplate writes a my.cnf.
//
//   - max_allowed_packet 64 MB holds the largest statement that we send, and MariaDB's default of 16 MB doesn't.
//   - max_connections: one per client and a few for looking in from outside.
//   - skip_log_bin where the binary log is on by default (MySQL from 8.0).
func mysqlTemplate(id Identity, engine string, cacheBytes int64) (string, error) {
	o := options{}
	o.add("max_allowed_packet", "64M")
	o.add("max_connections", "1000")
	o.add("character_set_server", "utf8mb4")
	if id.Product != MariaDB && id.atLeast(8, 0, 0) {
		o = append(o, "skip_log_bin")
	}
	switch engine {
	case "", "innodb":
		innodb(&o, id, cacheBytes)
	case "rocksdb", "myrocks":
		myrocks(&o, id, cacheBytes)
	default:
		other(&o, id, engine, cacheBytes)
	}
	return "[mysqld]\n" + strings.Join(o, "\n") + "\n", nil
}

// innodb gives InnoDB its buffer pool and a log of a quarter of it, between 96 MB (MariaDB's default) and
// 16 GB, so that checkpoints aren't forced by the log's size alone.
//
//   - innodb_flush_method O_DIRECT: pages are cached once, in the buffer pool, not in the kernel too.
//   - innodb_io_capacity 2000: the default of 200 is for a spinning disk.
//   - innodb_flush_log_at_trx_commit 1: the default, written down because the results depend on it.
func innodb(o *options, id Identity, cacheBytes int64) {
	o.add("innodb_flush_method", "O_DIRECT")
	o.add("innodb_flush_log_at_trx_commit", "1")
	o.add("innodb_io_capacity", "2000")
	o.add("innodb_io_capacity_max", "4000")
	if cacheBytes == 0 {
		return
	}
	o.add("innodb_buffer_pool_size", mebibytes(cacheBytes))
	logBytes := min(max(cacheBytes/4, 96<<20), 16<<30)
	switch {
	case id.Product != MariaDB && id.atLeast(8, 0, 30):
		o.add("innodb_redo_log_capacity", mebibytes(logBytes))
	case id.Product == MariaDB && id.atLeast(10, 5, 0):
		o.add("innodb_log_file_size", mebibytes(logBytes)) // one file
	default:
		o.add("innodb_log_file_size", mebibytes(logBytes/2)) // two files
	}
}

// smallInnoDB is the buffer pool of a server whose data is in another engine: the data dictionary and little else.
const smallInnoDB = "64M"

// myrocks gives RocksDB its block cache.
//
//   - Bloom filters of 10 bits and level sizes that follow the data, as MyRocks is run in production: without
//     them each read looks into each level, and space amplification is above its 1.1.
//   - rocksdb_flush_log_at_trx_commit 1: the default, written down because the results depend on it.
//   - The plugin is loaded where RocksDB is one (MariaDB, Percona Server).
func myrocks(o *options, id Identity, cacheBytes int64) {
	switch id.Product {
	case MariaDB:
		o.add("plugin_load_add", "ha_rocksdb")
	case PerconaMySQL:
		o.add("plugin_load_add", "rocksdb=ha_rocksdb.so")
	}
	o.add("innodb_buffer_pool_size", smallInnoDB)
	o.add("rocksdb_flush_log_at_trx_commit", "1")
	o.add("rocksdb_default_cf_options", "write_buffer_size=64m;target_file_size_base=64m;max_bytes_for_level_base=512m;"+
		"level_compaction_dynamic_level_bytes=true;"+
		"block_based_table_factory={cache_index_and_filter_blocks=1;filter_policy=bloomfilter:10:false;whole_key_filtering=1}")
	if cacheBytes > 0 {
		o.add("rocksdb_block_cache_size", mebibytes(cacheBytes))
	}
}

// other is for an engine we have no settings for: its plugin is loaded where MariaDB keeps it in one, and the cache size goes where
// it is known.
func other(o *options, id Identity, engine string, cacheBytes int64) {
	cache := map[string]string{"tokudb": "tokudb_cache_size", "myisam": "key_buffer_size", "aria": "aria_pagecache_buffer_size"}
	builtIn := map[string]bool{"myisam": true, "aria": true, "memory": true, "heap": true, "csv": true}
	if id.Product == MariaDB && !builtIn[engine] {
		o.add("plugin_load_add", "ha_"+engine)
	}
	o.add("innodb_buffer_pool_size", smallInnoDB)
	if name := cache[engine]; name != "" && cacheBytes > 0 {
		o.add(name, mebibytes(cacheBytes))
	}
}

// options are the lines of an option file.
type options []string

func (o *options) add(name, value string) { *o = append(*o, name+"="+value) }

// mebibytes is a size as MySQL's option files take it, at least 1M.
func mebibytes(n int64) string { return fmt.Sprintf("%dM", max(1, n>>20)) }
