//go:build unix

package ibench_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"insertbench/drivers/fake"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/load"
	"insertbench/internal/server/servertest"
	"insertbench/internal/step"
	"insertbench/iostat"
	"insertbench/results"
)

// BenchmarkPacedStarts prints how long after its intended start a statement of
// one of 16 writers at 1,000 rows a second is answered by the fake database,
// which takes no time: the 50th and the 99th percentile and the longest, in
// milliseconds. The 99th is to stay within 2.
func BenchmarkPacedStarts(b *testing.B) {
	db, err := fake.Open(context.Background(), fake.Config{})
	if err != nil {
		b.Fatal(err)
	}
	c := ibench.DefaultConfig()
	c.Clients, c.Rows, c.RowsPerCommit = 16, 1<<40, 10
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		b.Fatal(err)
	}
	run := load.Run{Ops: []string{"insert"}, Punctual: true, Limit: 2 * time.Second}
	for client := range c.Clients {
		in, err := db.OpenInserter(context.Background(), "pi1")
		if err != nil {
			b.Fatal(err)
		}
		run.Workers = append(run.Workers, load.Worker{Task: ibench.NewInsertTask(c, client, in), Pacer: load.Constant{PerSecond: 1000, Batch: 10}})
	}
	for range b.N {
		res, err := run.Do(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		h := res.Ops[0].Response
		b.ReportMetric(float64(h.ValueAtPercentile(50))/1e3, "p50-ms")
		b.ReportMetric(float64(h.ValueAtPercentile(99))/1e3, "p99-ms")
		b.ReportMetric(float64(res.Ops[0].MaxResponseUS)/1e3, "max-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkClientMemory prints the memory that a client costs with InnoDB, its
// connections, histograms and samples included, in KiB: heap and stacks beside
// those before the step, for each of 32 clients of 100 rows a statement. One
// case only inserts; in the other a client is a writer, a deleter and a reader.
// Each is measured after 2 seconds and after 10; it is to stay at or under 300,
// whatever the rows and the time.
func BenchmarkClientMemory(b *testing.B) {
	insert := ibench.DefaultWrite()
	insert.Readers = 0
	all := ibench.DefaultWrite()
	all.Deletes = true
	b.Run("insert", func(b *testing.B) { benchmarkMemory(b, insert) })
	b.Run("insert, delete, query", func(b *testing.B) { benchmarkMemory(b, all) })
}

func benchmarkMemory(b *testing.B, s ibench.Step) {
	my := servertest.MariaDB(b)
	db, err := mysql.Open(context.Background(), mysql.Config{Socket: my.Socket, User: "root", Database: "clientmemory", CreateDatabase: true, Engine: "InnoDB"})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	c := ibench.DefaultConfig()
	c.Clients, c.Tables, c.Rows = 32, 32, 100_000 // deletes need a table per client
	for i := range c.Tables {                     // left by an earlier run of this benchmark, or not there
		_ = db.DropTable(context.Background(), ibench.TableName(i))
	}
	m, err := step.NewMeter(iostat.Root{}, step.Target{Server: db})
	if err != nil {
		b.Fatal(err)
	}
	w, err := results.Create(b.TempDir(), results.Run{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	bench := &ibench.Bench{Config: c, DB: db, Meter: m, Writer: w}
	fill := ibench.DefaultWrite()
	fill.Name, fill.Do, fill.Rows, fill.Readers, fill.Indexes = "load", ibench.ActionLoad, c.Rows, 0, len(ibench.Indexes)
	if _, err := bench.Do(b.Context(), fill); err != nil {
		b.Fatal(err)
	}
	s.RowsPerCommit, s.Seconds = 100, 11
	if err := s.Validate(c); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		before := memory()
		bench.Progress = func(ibench.Goal) func(ibench.Progressed) {
			seconds := 0
			return func(ibench.Progressed) {
				if seconds++; seconds == 2 || seconds == 10 {
					b.ReportMetric((float64(memory())-float64(before))/1024/float64(c.Clients), fmt.Sprintf("KiB/client-at-%ds", seconds))
				}
			}
		}
		if _, err := bench.Do(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// memory is what lives on the heap after a collection, and the stacks.
func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
