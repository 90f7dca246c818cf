package mysql_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
	"insertbench/internal/step"
	"insertbench/iostat"
	"insertbench/results"
)

// asked is a server that the test asks itself, right before and right after
// the program reads its counters.
type asked struct {
	*mysql.Server
	t     *testing.T
	admin admin
	// readings are, for each reading of the counters, what the test read
	// before and after it.
	readings *[][2]map[string]float64
	// flush replaces settling where it isn't empty.
	flush string
}

func (a asked) Counters(ctx context.Context) ([]drivers.Counter, error) {
	before := a.status()
	list, err := a.Server.Counters(ctx)
	*a.readings = append(*a.readings, [2]map[string]float64{before, a.status()})
	return list, err
}

func (a asked) Settle(ctx context.Context, tables []string, limit time.Duration) (ibench.Settled, error) {
	if a.flush == "" {
		return a.Server.Settle(ctx, tables, limit)
	}
	a.admin.exec(a.t, a.flush)
	return ibench.Settled{}, nil
}

// status is what the server says by SHOW GLOBAL STATUS, and what InnoDB counts
// by itself in information_schema under names of its own.
func (a asked) status() map[string]float64 {
	out := map[string]float64{}
	for _, query := range []string{"SHOW GLOBAL STATUS", "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE ENABLED = 1"} {
		rows, err := a.admin.db.Query(query)
		if err != nil {
			a.t.Fatal(err)
		}
		for rows.Next() {
			var name, value string
			if err := rows.Scan(&name, &value); err != nil {
				a.t.Fatal(err)
			}
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				out[name] = v
			}
		}
		if err := rows.Err(); err != nil {
			a.t.Fatal(err)
		}
	}
	return out
}

// moving are the counters that InnoDB's threads move by themselves (page
// cleaner, purge, checkpoints) and those of RocksDB's cache, which its
// statistics read through. All others stand still while no client asks.
var moving = []string{
	"innodb_pages_read", "innodb_pages_written", "innodb_doublewrite_pages", "innodb_redo_bytes", "innodb_fsyncs", "innodb_pool_requests", "innodb_pool_misses",
	"innodb_history_length", "innodb_dirty_pages", "innodb_checkpoint_age_bytes", "rocksdb_cache_hits", "rocksdb_cache_misses",
}

// alsoAs are names that the server gives a counter elsewhere.
var alsoAs = map[string]string{
	"innodb_pages_created": "buffer_pages_created", "innodb_pages_written": "buffer_pages_written", "innodb_pool_requests": "buffer_pool_read_requests",
	"innodb_doublewrite_pages": "innodb_dblwr_pages_written", "innodb_fsyncs": "os_data_fsyncs", "innodb_history_length": "trx_rseg_history_len",
	"innodb_redo_bytes": "Innodb_lsn_current", // a log sequence number is a byte of the redo log
}

// Rows of the load, the bytes of each one's data, and its statements.
const (
	countedRows, countedData = 20_000, 500
	countedStatements        = countedRows / 100
	countedBytes             = countedRows * countedData
)

// TestCountersOfSteps compares what a load and a settle say of the engine with
// what the test reads before and after, and with the files.
func TestCountersOfSteps(t *testing.T) {
	load := ibench.DefaultWrite()
	load.Name, load.Do, load.Rows, load.Readers, load.Indexes = "load", ibench.ActionLoad, countedRows, 0, len(ibench.Indexes)
	settle := ibench.Step{Name: "settle", Do: ibench.ActionSettle, LimitSeconds: 60}
	t.Run("innodb", func(t *testing.T) {
		t.Parallel()
		c := newCounted(t, "innodb", "")
		loaded := c.step(t, load)
		atLeast(t, loaded, "innodb_redo_bytes", countedBytes)
		// At least a page for 16 KiB of data, and an fsync of the redo log per commit.
		atLeast(t, loaded, "innodb_pages_created", countedBytes/16384)
		atLeast(t, loaded, "innodb_fsyncs", countedStatements)
		c.step(t, settle)
	})
	t.Run("rocksdb", func(t *testing.T) {
		t.Parallel()
		c := newCounted(t, "rocksdb", "SET GLOBAL rocksdb_force_flush_memtable_now = 1")
		logs := c.filesSize(t, "*.log")
		loaded := c.step(t, load)
		atLeast(t, loaded, "rocksdb_wal_bytes", countedBytes)
		// The file has 7 bytes more for each part of a record in a block of 32 KiB.
		about(t, loaded, "rocksdb_wal_bytes", c.filesSize(t, "*.log")-logs)
		if got := *loaded["rocksdb_wal_syncs"].Value; got != countedStatements {
			t.Errorf("%.0f syncs of the log, want one for each of %d statements", got, countedStatements)
		}
		tables := c.filesSize(t, "*.sst")
		flushed := c.step(t, settle)
		about(t, flushed, "rocksdb_flushed_bytes", c.filesSize(t, "*.sst")-tables)
		for _, name := range []string{"rocksdb_compaction_read_bytes", "rocksdb_compaction_written_bytes"} {
			if got := *flushed[name].Value; got != 0 {
				t.Errorf("%s moved by %.0f without a compaction", name, got)
			}
		}
	})
}

func atLeast(t *testing.T, m map[string]results.Metric, name string, want float64) {
	t.Helper()
	if got := *m[name].Value; got < want {
		t.Errorf("%s moved by %.0f, want %.0f at least", name, got, want)
	}
}

// about: a counter moved by what files grew by, but for their headers.
func about(t *testing.T, m map[string]results.Metric, name string, grown float64) {
	t.Helper()
	if got := *m[name].Value; math.Abs(got-grown) > grown/1000 || grown == 0 {
		t.Errorf("%s moved by %.0f, where the files grew by %.0f bytes", name, got, grown)
	}
}

// counted is a bench on a server that the test asks itself.
type counted struct {
	asked
	bench   *ibench.Bench
	engine  string
	dataDir string
}

func newCounted(t *testing.T, engine, flush string) *counted {
	t.Helper()
	s := servertest.PrivateMariaDB(t)
	db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "root", Database: "counted", CreateDatabase: true, Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	a := asked{Server: db, t: t, admin: openAdmin(t, "root@unix("+s.Socket+")/"), readings: new([][2]map[string]float64), flush: flush}
	meter, err := step.NewMeter(iostat.Root{}, step.Target{Server: a})
	if err != nil {
		t.Fatal(err)
	}
	w, err := results.Create(t.TempDir(), results.Run{Workload: "ibench", Plan: "test", StartedUTC: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	config := ibench.DefaultConfig()
	config.Clients, config.Tables, config.Rows = 1, 1, countedRows
	config.DataLengthMin, config.DataLengthMax = countedData, countedData
	return &counted{asked: a, bench: &ibench.Bench{Config: config, DB: a, Meter: meter, Writer: w}, engine: engine, dataDir: s.DataDir}
}

// filesSize is how many bytes the files with a pattern have in RocksDB's folder.
func (c *counted) filesSize(t *testing.T, pattern string) float64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.dataDir, "#rocksdb", pattern))
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	return float64(total)
}

// step runs a step and compares each of its counters with the test's readings
// around those of the step: it moved by no less than from the second of the
// start to the first of the end, and by no more than from the first of all to
// the last, which are the same but for the counters that move.
func (c *counted) step(t *testing.T, s ibench.Step) map[string]results.Metric {
	t.Helper()
	*c.readings = nil
	done, err := c.bench.Do(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(*c.readings) != 2 {
		t.Fatalf("the counters were read %d times, want once at each end", len(*c.readings))
	}
	start, end := (*c.readings)[0], (*c.readings)[1]
	for _, e := range mysql.EngineCounters {
		if !strings.EqualFold(e.Engine, c.engine) {
			continue
		}
		for _, x := range e.Counters {
			got := done[0].Metrics[x.Name].Value
			if got == nil {
				t.Errorf("%s: there is no %s", s.Name, x.Name)
				continue
			}
			names := x.Sources[:1]
			if other := alsoAs[x.Name]; other != "" {
				names = append(slices.Clip(names), other)
			}
			for _, name := range names {
				if _, has := end[1][name]; !has {
					t.Errorf("the server has no %s", name)
				}
				low, high := end[0][name]-start[1][name], end[1][name]-start[0][name]
				if x.Level {
					low, high = min(end[0][name], end[1][name]), max(end[0][name], end[1][name])
				}
				if *got < low || *got > high || low != high && !slices.Contains(moving, x.Name) {
					t.Errorf("%s: %s is %.0f, where %s is from %.0f to %.0f", s.Name, x.Name, *got, name, low, high)
				}
			}
		}
	}
	return done[0].Metrics
}
