package mysql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"insertbench/drivers"
)

// historyMetric is InnoDB's history length where SHOW GLOBAL STATUS lacks it,
// as in MySQL: the row of information_schema.INNODB_METRICS.
const historyMetric = "trx_rseg_history_len"

// EngineCounters are the counters of the engines, read with SHOW GLOBAL
// STATUS. What they mean is from MySQL's "Server Status Variables", MariaDB's
// "InnoDB Status Variables" and RocksDB's statistics.h.
var EngineCounters = []drivers.EngineCounters{
	{Engine: innodb, Counters: []drivers.Counter{
		{Name: "innodb_pages_read", Unit: "pages", Meaning: "pages read into the buffer pool from files", Sources: []string{"Innodb_pages_read"}},
		{Name: "innodb_pages_written", Unit: "pages", Meaning: "pages written back to files", Sources: []string{"Innodb_pages_written"}},
		{Name: "innodb_pages_created", Unit: "pages", Meaning: "pages made new, by splits and growth", Sources: []string{"Innodb_pages_created"}},
		{Name: "innodb_doublewrite_pages", Unit: "pages", Meaning: "pages written to the doublewrite buffer first, so twice", Sources: []string{"Innodb_dblwr_pages_written"}},
		{Name: "innodb_redo_bytes", Unit: "B", Meaning: "written to the redo log", Sources: []string{"Innodb_os_log_written"}},
		{Name: "innodb_log_waits", Unit: "waits", Meaning: "waits for space in the log buffer", Sources: []string{"Innodb_log_waits"}},
		{Name: "innodb_fsyncs", Unit: "fsyncs", Meaning: "fsync calls", Sources: []string{"Innodb_data_fsyncs"}},
		{Name: "innodb_pool_requests", Unit: "requests", Meaning: "pages asked of the buffer pool", Sources: []string{"Innodb_buffer_pool_read_requests"}},
		{Name: "innodb_pool_misses", Unit: "requests", Meaning: "pages asked of the buffer pool that had to be read", Sources: []string{"Innodb_buffer_pool_reads"}},
		{Name: "innodb_pool_waits", Unit: "waits", Meaning: "waits for a clean page, as none was free", Sources: []string{"Innodb_buffer_pool_wait_free"}},
		{Name: "innodb_row_lock_wait_ms", Unit: "ms", Meaning: "time waited for row locks", Sources: []string{"Innodb_row_lock_time"}},
		{Name: "innodb_history_length", Unit: "transactions", Meaning: "undo of committed transactions that purge hasn't removed yet", Level: true, Sources: []string{"Innodb_history_list_length", historyMetric}},
		{Name: "innodb_dirty_pages", Unit: "pages", Meaning: "pages changed in the buffer pool and not written back yet", Level: true, Sources: []string{"Innodb_buffer_pool_pages_dirty"}},
		{Name: "innodb_checkpoint_age_bytes", Unit: "B", Meaning: "redo log since the last checkpoint", Level: true, Sources: []string{"Innodb_checkpoint_age"}},
	}},
	{Engine: rocksdb, Counters: []drivers.Counter{
		{Name: "rocksdb_flushed_bytes", Unit: "B", Meaning: "written by flushes of memtables to level 0", Sources: []string{"Rocksdb_flush_write_bytes"}},
		{Name: "rocksdb_compaction_read_bytes", Unit: "B", Meaning: "read by compaction", Sources: []string{"Rocksdb_compact_read_bytes"}},
		{Name: "rocksdb_compaction_written_bytes", Unit: "B", Meaning: "written by compaction", Sources: []string{"Rocksdb_compact_write_bytes"}},
		{Name: "rocksdb_wal_bytes", Unit: "B", Meaning: "written to the write-ahead log", Sources: []string{"Rocksdb_wal_bytes"}},
		{Name: "rocksdb_wal_syncs", Unit: "fsyncs", Meaning: "syncs of the write-ahead log", Sources: []string{"Rocksdb_wal_synced"}},
		{Name: "rocksdb_stall_us", Unit: "us", Meaning: "time that writers were held up", Sources: []string{"Rocksdb_stall_micros"}},
		{Name: "rocksdb_stall_stops", Unit: "stalls", Meaning: "times that writes were stopped", Sources: []string{"Rocksdb_stall_total_stops"}},
		{Name: "rocksdb_stall_slowdowns", Unit: "stalls", Meaning: "times that writes were slowed down", Sources: []string{"Rocksdb_stall_total_slowdowns"}},
		{Name: "rocksdb_cache_hits", Unit: "blocks", Meaning: "blocks found in the block cache", Sources: []string{"Rocksdb_block_cache_hit"}},
		{Name: "rocksdb_cache_misses", Unit: "blocks", Meaning: "blocks not found in the block cache", Sources: []string{"Rocksdb_block_cache_miss"}},
		{Name: "rocksdb_bloom_useful", Unit: "checks", Meaning: "reads that a bloom filter spared", Sources: []string{"Rocksdb_bloom_filter_useful"}},
		{Name: "rocksdb_memtable_unflushed_bytes", Unit: "B", Meaning: "in memtables and not flushed yet", Level: true, Sources: []string{"Rocksdb_memtable_unflushed"}},
	}},
}

// Counters reads the counters of the engine in use; an engine without a table
// of its own has none.
func (s *Server) Counters(ctx context.Context) ([]drivers.Counter, error) {
	for _, e := range EngineCounters {
		if !s.engine.is(e.Engine) {
			continue
		}
		status, err := s.pairs(ctx, "SHOW GLOBAL STATUS")
		if err != nil {
			return nil, err
		}
		if _, has := status["innodb_history_list_length"]; s.engine.is(innodb) && !has {
			// It needs a right that an account may lack; then the length isn't known.
			more, _ := s.pairs(ctx, fmt.Sprintf("SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '%s' AND STATUS = 'enabled'", historyMetric))
			status[historyMetric] = more[historyMetric]
		}
		return e.Read(func(source string) (float64, bool) {
			v, err := strconv.ParseFloat(status[strings.ToLower(source)], 64)
			return v, err == nil
		}), nil
	}
	return nil, nil
}
