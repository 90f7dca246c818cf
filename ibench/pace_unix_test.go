//go:build unix

package ibench_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"insertbench/drivers/fake"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/load"
	"insertbench/internal/server/servertest"
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
	run := load.Run{Ops: []string{"insert"}, Limit: 2 * time.Second}
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

// BenchmarkClientMemory prints the memory that a client costs while it inserts
// 100 rows a statement into BLACKHOLE, its connection and histograms included,
// in KiB: heap and stacks with 64 clients less those with none. It is to stay
// at or under 300, whatever the rows and the time.
func BenchmarkClientMemory(b *testing.B) {
	my := servertest.MariaDB(b)
	ctx := context.Background()
	db, err := mysql.Open(ctx, mysql.Config{Socket: my.Socket, User: "root", Database: "clientmemory", CreateDatabase: true, Engine: "BLACKHOLE"})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	_ = db.DropTable(ctx, "pi1") // left by an earlier run of this benchmark, or not there
	if err := db.CreateTable(ctx, ibench.Table{Name: "pi1", Indexes: ibench.Indexes}); err != nil {
		b.Fatal(err)
	}
	c := ibench.DefaultConfig()
	c.Clients, c.Rows = 64, 640_000
	for range b.N {
		before := memory()
		var during uint64
		run := load.Run{Ops: []string{"insert"}}
		for client := range c.Clients {
			in, err := db.OpenInserter(ctx, "pi1")
			if err != nil {
				b.Fatal(err)
			}
			defer in.Close()
			run.Workers = append(run.Workers, load.Worker{Task: ibench.NewInsertTask(c, client, in)})
		}
		run.OnEnd = func() { during = memory() }
		if _, err := run.Do(ctx); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(during-before)/1024/float64(c.Clients), "KiB/client")
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
