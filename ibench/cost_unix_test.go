//go:build unix

package ibench_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/load"
	"insertbench/internal/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// BenchmarkClientCost prints what a row costs the client over one connection
// and the unix socket into BLACKHOLE, in nanoseconds: generating and encoding
// alone (build), sending a statement that was built before (send), and the
// whole load; CPU of this process, and wall time, in which the server's work
// dominates. The three are measured in turn, many times, and the medians
// printed. whole/floor, CPU, is to stay at or under 1.5, allocs/row at 0.
func BenchmarkClientCost(b *testing.B) {
	my := servertest.MariaDB(b)
	for _, perCommit := range []int{1000, 100} {
		b.Run(fmt.Sprintf("rows-per-commit=%d", perCommit), func(b *testing.B) {
			ctx := context.Background()
			db, err := mysql.Open(ctx, mysql.Config{Socket: my.Socket, User: "root", CreateDatabase: true, Engine: "BLACKHOLE"})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			c := ibench.DefaultConfig()
			c.RowsPerCommit = perCommit
			c.Rows = 100_000
			_ = db.DropTable(ctx, ibench.TableName(0)) // left by an earlier run of this benchmark, or not there
			if err := db.CreateTable(ctx, ibench.Table{Name: ibench.TableName(0), Indexes: ibench.Indexes}); err != nil {
				b.Fatal(err)
			}
			var cost clientCost
			b.ResetTimer()
			for range b.N {
				cost.round(b, db, c)
			}
			b.ReportMetric(0, "ns/op")
			for i, part := range []string{"build", "send", "whole"} {
				b.ReportMetric(median(cost.cpu[i]), part+"-cpu-ns/row")
				b.ReportMetric(median(cost.wall[i]), part+"-wall-ns/row")
			}
			b.ReportMetric(median(cost.cpuRatio), "whole/floor")
			b.ReportMetric(median(cost.wallRatio), "whole/floor-wall")
			b.ReportMetric(median(cost.allocs), "allocs/row")
		})
	}
}

// clientCost has one value a round; cpu and wall are of build, send and whole.
type clientCost struct {
	cpu, wall                   [3][]float64
	cpuRatio, wallRatio, allocs []float64
}

func (k *clientCost) round(b *testing.B, db *mysql.Server, c ibench.Config) {
	ctx := context.Background()
	inserter, err := db.OpenInserter(ctx, ibench.TableName(0))
	if err != nil {
		b.Fatal(err)
	}
	defer inserter.Close()
	task := ibench.NewInsertTask(c, 0, inserter)
	task.Next() // the buffers grow once
	statements := c.Rows / int64(c.RowsPerCommit)
	var before, after runtime.MemStats
	parts := [3]func(){
		func() {
			for range statements {
				task.Next()
			}
		},
		func() {
			for range statements {
				if err := inserter.Insert(ctx); err != nil {
					b.Fatal(err)
				}
			}
		},
		func() {
			runtime.ReadMemStats(&before)
			run := load.Run{Ops: []string{"insert"}, Workers: []load.Worker{{Task: task}}}
			if _, err := run.Do(ctx); err != nil {
				b.Fatal(err)
			}
			runtime.ReadMemStats(&after)
		},
	}
	var cpu, wall [3]float64
	for i, part := range parts {
		beginCPU, begin := cpuTime(b), time.Now()
		part()
		wall[i] = float64(time.Since(begin)) / float64(c.Rows)
		cpu[i] = float64(cpuTime(b)-beginCPU) / float64(c.Rows)
		k.cpu[i], k.wall[i] = append(k.cpu[i], cpu[i]), append(k.wall[i], wall[i])
	}
	k.cpuRatio = append(k.cpuRatio, cpu[2]/(cpu[0]+cpu[1]))
	k.wallRatio = append(k.wallRatio, wall[2]/(wall[0]+wall[1]))
	k.allocs = append(k.allocs, float64(after.Mallocs-before.Mallocs)/float64(c.Rows))
}

// cpuTime is the user and system time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
