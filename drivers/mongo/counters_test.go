package mongo_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
)

func doc(pairs ...any) bson.D {
	var d bson.D
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return d
}

// TestCounters reads serverStatus of servers with each of the engines. Field
// names are those of the manual's serverStatus for 4.4 and 8.0 and, of
// MongoRocks, of mongo-rocks' rocks_server_status.cpp; the numbers are made up.
// What a section lacks has no value.
func TestCounters(t *testing.T) {
	engine := func(name string, sections ...any) bson.D {
		return append(doc("process", "mongod", "storageEngine", doc("name", name)), doc(sections...)...)
	}
	for _, tc := range []struct {
		name   string
		status bson.D
		want   map[string]float64
	}{
		{"WiredTiger 4.4", engine("wiredTiger", "wiredTiger", doc(
			"cache", doc("bytes read into cache", int64(5_000_000_000), "bytes written from cache", int32(7), "pages evicted by application threads", int32(3)),
			"transaction", doc("transaction checkpoints", int32(4), "transaction checkpoint total time (msecs)", int32(1250)))),
			map[string]float64{"wiredtiger_cache_read_bytes": 5e9, "wiredtiger_cache_written_bytes": 7, "wiredtiger_app_evicted_pages": 3, "wiredtiger_checkpoints": 4, "wiredtiger_checkpoint_ms": 1250}},
		{"WiredTiger 8.0", engine("wiredTiger", "wiredTiger", doc("checkpoint", doc("total time (msecs)", 12.5))),
			map[string]float64{"wiredtiger_checkpoint_ms": 12.5}},
		{"MongoRocks", engine("rocksdb", "rocksdb", doc("cur-size-all-mem-tables", "4096",
			"counters", doc("flush-bytes-written", int64(11), "compaction-bytes-written", int64(22), "stall-micros", int64(33), "block-cache-hits", int64(44)))),
			map[string]float64{"rocksdb_memtable_bytes": 4096, "rocksdb_flushed_bytes": 11, "rocksdb_compaction_written_bytes": 22, "rocksdb_stall_us": 33, "rocksdb_cache_hits": 44}},
		{"mmapv1", engine("mmapv1", "backgroundFlushing", doc("flushes", int32(9), "total_ms", int32(120)), "extra_info", doc("page_faults", int32(77)), "mem", doc("mapped", int32(160))),
			map[string]float64{"mmapv1_flushes": 9, "mmapv1_flush_ms": 120, "mmapv1_page_faults": 77, "mmapv1_mapped_mb": 160}},
		{"a section that isn't there", engine("wiredTiger"), nil},
		{"an engine without counters", engine("inMemory"), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := wiretest.Start(t, wiretest.Config{Status: tc.status})
			db, err := mongo.Open(t.Context(), mongo.Config{URI: plainURI(s.Address())})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			got, err := drivers.Counting(db).Counters(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range got {
				want, known := tc.want[c.Name]
				if (c.Value != nil) != known || known && *c.Value != want {
					t.Errorf("%s: %v, want %v (known: %v)", c.Name, c.Value, want, known)
				}
				delete(tc.want, c.Name)
			}
			for name := range tc.want {
				t.Errorf("there is no counter %s", name)
			}
		})
	}
}
