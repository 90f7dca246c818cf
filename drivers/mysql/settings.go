package mysql

import (
	"context"
	"fmt"

	"insertbench/drivers"
	"insertbench/ibench"
)

// commonSettings decide what a number means, whatever the engine.
var commonSettings = []string{
	"version", "version_comment", "version_compile_machine", "default_storage_engine",
	"transaction_isolation", "tx_isolation", "autocommit", "sql_mode",
	"log_bin", "sql_log_bin", "sync_binlog", "binlog_format", "binlog_row_image", "gtid_mode", "binlog_commit_wait_count",
	"binlog_group_commit_sync_delay", "max_allowed_packet", "character_set_server", "collation_server", "character_set_database",
	"unique_checks", "foreign_key_checks", "lock_wait_timeout", "thread_handling", "performance_schema",
	"general_log", "slow_query_log", "query_cache_type", "flush", "read_only", "super_read_only",
}

// engineSettings are those of one engine; names that a server doesn't have are
// left out, so forks and versions can share a list.
var engineSettings = map[string][]string{
	innodb: {
		"innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_doublewrite", "innodb_buffer_pool_size",
		"innodb_buffer_pool_instances", "innodb_log_file_size", "innodb_log_files_in_group", "innodb_redo_log_capacity",
		"innodb_log_buffer_size", "innodb_page_size", "innodb_io_capacity", "innodb_io_capacity_max", "innodb_change_buffering",
		"innodb_file_per_table", "innodb_checksum_algorithm", "innodb_use_native_aio", "innodb_autoinc_lock_mode",
		"innodb_flush_neighbors", "innodb_adaptive_hash_index", "innodb_read_io_threads", "innodb_write_io_threads",
		"innodb_purge_threads", "innodb_lock_wait_timeout", "innodb_default_row_format",
	},
	rocksdb: {
		"rocksdb_flush_log_at_trx_commit", "rocksdb_write_disable_wal", "rocksdb_block_cache_size", "rocksdb_block_size",
		"rocksdb_db_write_buffer_size", "rocksdb_max_background_jobs", "rocksdb_max_total_wal_size", "rocksdb_bytes_per_sync",
		"rocksdb_wal_bytes_per_sync", "rocksdb_use_direct_reads", "rocksdb_use_direct_io_for_flush_and_compaction", "rocksdb_use_fsync",
		"rocksdb_bulk_load", "rocksdb_default_cf_options", "rocksdb_override_cf_options", "rocksdb_lock_wait_timeout",
		"rocksdb_deadlock_detect", "rocksdb_enable_2pc", "rocksdb_compaction_sequential_deletes", "rocksdb_rate_limiter_bytes_per_sec",
	},
	"TokuDB": {
		"tokudb_commit_sync", "tokudb_fsync_log_period", "tokudb_cache_size", "tokudb_row_format", "tokudb_directio",
		"tokudb_checkpointing_period", "tokudb_block_size", "tokudb_read_block_size",
	},
	"MyISAM": {"key_buffer_size", "delay_key_write", "concurrent_insert", "myisam_use_mmap", "bulk_insert_buffer_size"},
	"Aria":   {"aria_pagecache_buffer_size", "aria_group_commit", "aria_checkpoint_interval", "aria_log_file_size", "aria_sync_log_dir"},
	memory:   {"max_heap_table_size"},
}

// Settings reads the settings back as this session sees them.
func (s *Server) Settings(ctx context.Context) ([]drivers.Setting, error) {
	vars, err := s.pairs(ctx, "SHOW VARIABLES")
	if err != nil {
		return nil, err
	}
	var out []drivers.Setting
	add := func(names []string) {
		for _, name := range names {
			if value, ok := vars[name]; ok {
				out = append(out, drivers.Setting{Name: name, Value: value})
			}
		}
	}
	add(commonSettings)
	for name, names := range engineSettings {
		if s.engine.is(name) {
			add(names)
		}
	}
	return out, nil
}

// SizeBytes is data and indexes of the benchmark's tables as the server sees
// them: InnoDB's files where they can be asked for, else its own estimate,
// which for RocksDB leaves out what is still in memory.
func (s *Server) SizeBytes(ctx context.Context) (int64, error) {
	return s.sizeBytes(ctx, ibench.IsTableName)
}

// sizeBytes adds up the tables whose names are wanted.
func (s *Server) sizeBytes(ctx context.Context, wanted func(name string) bool) (int64, error) {
	ctx, cancel := s.short(ctx)
	defer cancel()
	doing := fmt.Sprintf("asking for the size of the tables of database %q at %s", s.cfg.DBName, s.where)
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	defer conn.Close()
	// MySQL 8 and later answer from a cache of up to a day. MariaDB has no
	// such variable, and there its error is the right answer.
	_, _ = conn.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0")
	files := s.innodbFiles(ctx, conn)
	rows, err := conn.QueryContext(ctx, "SELECT TABLE_NAME, COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	defer rows.Close()
	var total int64
	for rows.Next() {
		var name string
		var sizeBytes int64
		if err := rows.Scan(&name, &sizeBytes); err != nil {
			return 0, fmt.Errorf("%s: %w", doing, err)
		}
		if !wanted(name) {
			continue
		}
		if allocated, ok := files[name]; ok {
			sizeBytes = allocated
		}
		total += sizeBytes
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	return total, nil
}
