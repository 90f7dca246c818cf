package server

import (
	"fmt"
	"strconv"
	"strings"
)

// oplogSizeMB is the published setting, in mongod's megabytes (1,048,576 bytes).
const oplogSizeMB = 4000

// mongodTemplate writes a mongod.conf. What isn't named here is the server's default. The settings with numbers are those of the
// published MongoRocks 3.4 runs.
//
//   - storage.journal.enabled true, the default, written down because the results depend on it; 6.1 removed the
//     option and always has a journal.
//   - operationProfiling.slowOpThresholdMs 2000: at the default of 100 a stalling server spends its
//     time on writing its log.
//   - storage.syncPeriodSecs 600 for MongoRocks, as published. WiredTiger keeps its 60 s, because its checkpoints are
//     part of its costs.
//   - replication.oplogSizeMB 4000, only for a master: a standalone has no oplog.
func mongodTemplate(id Identity, engine string, cacheBytes int64) (string, error) {
	name, cache, err := mongodEngine(engine, cacheBytes)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "storage:\n  engine: %s\n", name)
	if name == "rocksdb" {
		b.WriteString("  syncPeriodSecs: 600\n")
	}
	if !id.atLeast(6, 1, 0) {
		b.WriteString("  journal:\n    enabled: true\n")
	}
	b.WriteString(cache)
	b.WriteString("operationProfiling:\n  slowOpThresholdMs: 2000\n")
	if id.hasMaster() {
		fmt.Fprintf(&b, "replication:\n  oplogSizeMB: %d\n", oplogSizeMB)
	}
	return b.String(), nil
}

// mongodEngine is the engine's name in storage.engine and the lines that size its cache, if cacheBytes isn't 0.
//
// WiredTiger takes a fraction of a GB and at least a quarter. Its cache alone doesn't bound its memory: with
// eviction_dirty_trigger at 80 or more, RSS comes near cacheSizeGB × (100 + eviction_dirty_trigger) ÷ 100.
// MongoRocks takes whole GB; a fraction is rounded up. mmapv1 has no cache of its own.
func mongodEngine(engine string, cacheBytes int64) (name, cache string, err error) {
	const gb = 1 << 30
	switch engine {
	case "", "wiredtiger":
		name = "wiredTiger"
		if cacheBytes > 0 {
			size := strconv.FormatFloat(max(0.25, float64(cacheBytes)/gb), 'f', -1, 64)
			cache = "  wiredTiger:\n    engineConfig:\n      cacheSizeGB: " + size + "\n"
		}
	case "rocksdb", "mongorocks":
		name = "rocksdb"
		if cacheBytes > 0 {
			cache = fmt.Sprintf("  rocksdb:\n    cacheSizeGB: %d\n", (cacheBytes+gb-1)/gb)
		}
	case "mmapv1":
		name = "mmapv1"
		if cacheBytes > 0 {
			return "", "", fmt.Errorf("mmapv1 has no cache to size: it uses the kernel's; leave the cache size out")
		}
	case "inmemory":
		name = "inMemory"
		if cacheBytes > 0 {
			size := strconv.FormatFloat(max(0.25, float64(cacheBytes)/gb), 'f', -1, 64)
			cache = "  inMemory:\n    engineConfig:\n      inMemorySizeGB: " + size + "\n"
		}
	default:
		return "", "", fmt.Errorf("no configuration for mongod's engine %q: wiredTiger, rocksdb, mmapv1 or inMemory, or give a configuration file", engine)
	}
	return name, cache, nil
}

// hasMaster reports whether mongod still has --master, which 4.0 removed.
func (id Identity) hasMaster() bool { return !id.atLeast(4, 0, 0) }
