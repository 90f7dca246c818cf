package mongo

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"insertbench/drivers"

	"go.mongodb.org/mongo-driver/bson"
)

// EngineCounters are the counters of the engines, as paths in serverStatus
// with a slash between the fields. WiredTiger's are named as in the manual's
// serverStatus.wiredTiger (checkpoints moved to a section of their own in
// 8.0); MongoRocks' as in mongo-rocks' rocks_server_status.cpp, which names
// RocksDB's tickers. mmapv1's section dur tells only of the last three
// seconds, so nothing of it can be taken as a difference.
var EngineCounters = []drivers.EngineCounters{
	{Engine: "wiredTiger", Counters: []drivers.Counter{
		{Name: "wiredtiger_cache_read_bytes", Unit: "B", Meaning: "brought into the cache from files", Sources: []string{"wiredTiger/cache/bytes read into cache"}},
		{Name: "wiredtiger_cache_written_bytes", Unit: "B", Meaning: "written out of the cache to files", Sources: []string{"wiredTiger/cache/bytes written from cache"}},
		{Name: "wiredtiger_app_evicted_pages", Unit: "pages", Meaning: "pages that threads of clients had to evict, which holds them up", Sources: []string{"wiredTiger/cache/pages evicted by application threads"}},
		{Name: "wiredtiger_app_evicted_dirty_pages", Unit: "pages", Meaning: "changed pages that threads of clients had to evict", Sources: []string{"wiredTiger/cache/modified pages evicted by application threads"}},
		{Name: "wiredtiger_evicted_dirty_pages", Unit: "pages", Meaning: "changed pages evicted", Sources: []string{"wiredTiger/cache/modified pages evicted"}},
		{Name: "wiredtiger_evicted_clean_pages", Unit: "pages", Meaning: "unchanged pages evicted", Sources: []string{"wiredTiger/cache/unmodified pages evicted"}},
		{Name: "wiredtiger_checkpoints", Unit: "checkpoints", Meaning: "checkpoints made", Sources: []string{
			"wiredTiger/transaction/transaction checkpoints", "wiredTiger/checkpoint/checkpoints"}},
		{Name: "wiredtiger_checkpoint_ms", Unit: "ms", Meaning: "time in checkpoints", Sources: []string{
			"wiredTiger/transaction/transaction checkpoint total time (msecs)", "wiredTiger/checkpoint/total time (msecs)"}},
		{Name: "wiredtiger_journal_bytes", Unit: "B", Meaning: "written to the journal", Sources: []string{"wiredTiger/log/log bytes written"}},
		{Name: "wiredtiger_journal_syncs", Unit: "fsyncs", Meaning: "syncs of the journal", Sources: []string{"wiredTiger/log/log sync operations"}},
		{Name: "wiredtiger_cache_dirty_bytes", Unit: "B", Meaning: "changed in the cache and not written yet", Level: true, Sources: []string{"wiredTiger/cache/tracked dirty bytes in the cache"}},
		{Name: "wiredtiger_cache_bytes", Unit: "B", Meaning: "in the cache", Level: true, Sources: []string{"wiredTiger/cache/bytes currently in the cache"}},
	}},
	{Engine: "rocksdb", Counters: []drivers.Counter{
		{Name: "rocksdb_flushed_bytes", Unit: "B", Meaning: "written by flushes of memtables to level 0", Sources: []string{"rocksdb/counters/flush-bytes-written"}},
		{Name: "rocksdb_compaction_read_bytes", Unit: "B", Meaning: "read by compaction", Sources: []string{"rocksdb/counters/compaction-bytes-read"}},
		{Name: "rocksdb_compaction_written_bytes", Unit: "B", Meaning: "written by compaction", Sources: []string{"rocksdb/counters/compaction-bytes-written"}},
		{Name: "rocksdb_wal_bytes", Unit: "B", Meaning: "written to the write-ahead log", Sources: []string{"rocksdb/counters/wal-bytes"}},
		{Name: "rocksdb_stall_us", Unit: "us", Meaning: "time that writers were held up", Sources: []string{"rocksdb/counters/stall-micros"}},
		{Name: "rocksdb_cache_hits", Unit: "blocks", Meaning: "blocks found in the block cache", Sources: []string{"rocksdb/counters/block-cache-hits"}},
		{Name: "rocksdb_cache_misses", Unit: "blocks", Meaning: "blocks not found in the block cache", Sources: []string{"rocksdb/counters/block-cache-misses"}},
		{Name: "rocksdb_bloom_useful", Unit: "checks", Meaning: "reads that a bloom filter spared", Sources: []string{"rocksdb/counters/bloom-filter-useful"}},
		{Name: "rocksdb_memtable_bytes", Unit: "B", Meaning: "in memtables", Level: true, Sources: []string{"rocksdb/cur-size-all-mem-tables"}},
	}},
	{Engine: "mmapv1", Counters: []drivers.Counter{
		{Name: "mmapv1_flushes", Unit: "flushes", Meaning: "times that the mapped files were written back", Sources: []string{"backgroundFlushing/flushes"}},
		{Name: "mmapv1_flush_ms", Unit: "ms", Meaning: "time in those flushes", Sources: []string{"backgroundFlushing/total_ms"}},
		{Name: "mmapv1_page_faults", Unit: "faults", Meaning: "page faults that read from disk", Sources: []string{"extra_info/page_faults"}},
		{Name: "mmapv1_mapped_mb", Unit: "MiB", Meaning: "files mapped into memory", Level: true, Sources: []string{"mem/mapped"}},
	}},
}

// Counters reads the counters of the engine in use; an engine without a table
// of its own has none.
func (s *Server) Counters(ctx context.Context) ([]drivers.Counter, error) {
	for _, e := range EngineCounters {
		if !strings.EqualFold(e.Engine, s.identity.Engine) {
			continue
		}
		status, err := s.readAdmin(ctx, bson.D{{Key: "serverStatus", Value: 1}})
		if err != nil {
			return nil, fmt.Errorf("reading serverStatus: %w", err)
		}
		return e.Read(func(source string) (float64, bool) { return figure(status, strings.Split(source, "/")...) }), nil
	}
	return nil, nil
}

// figure is a number below raw, also one that was written as text, as
// MongoRocks does.
func figure(raw bson.Raw, path ...string) (float64, bool) {
	v, err := raw.LookupErr(path...)
	if err != nil {
		return 0, false
	}
	if f, ok := v.DoubleOK(); ok {
		return f, true
	}
	if n, ok := v.AsInt64OK(); ok {
		return float64(n), true
	}
	if text, ok := v.StringValueOK(); ok {
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil
	}
	return 0, false
}
