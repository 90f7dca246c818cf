//go:build unix

package ibench_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/load"
	"insertbench/internal/server/servertest"
)

// BenchmarkBesideSysbench runs our point queries and sysbench's
// oltp_point_select against one InnoDB in turn, with as many connections and
// rows, and prints the medians: queries per second, the CPU of the client for
// each in microseconds, and ours divided by sysbench's of the same turn. Sysbench
// is C and checks no row; ours makes each row again from the seed and keeps two
// histograms. -benchtime 5x is five turns.
func BenchmarkBesideSysbench(b *testing.B) {
	for _, threads := range []int{1, 2, 4, 16} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) { besideSysbench(b, threads) })
	}
}

func besideSysbench(b *testing.B, threads int) {
	const seconds = 4
	my := servertest.MariaDB(b)
	db, err := mysql.Open(context.Background(), mysql.Config{Socket: my.Socket, User: "root", CreateDatabase: true,
		Database: fmt.Sprintf("besidesysbench%d", threads), Engine: "InnoDB"})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	sysbench := servertest.PrepareSysbench(b, my.Socket, fmt.Sprintf("besidesysbench%d", threads), "innodb", queriedRows, threads)
	fillTable(b, db)
	defer db.Announce(threads)()
	readers := make([]func(int64) load.Task, threads)
	for i := range readers {
		readers[i] = openReadTask(b, db, ibench.PointQueries, 1)
	}
	var theirs, ours, theirCPU, ourCPU, ratio, cpuRatio []float64
	b.ResetTimer()
	for range b.N {
		perSecond, cpu := sysbench.Run(b, seconds)
		theirs, theirCPU = append(theirs, perSecond), append(theirCPU, cpu)
		ownPerSecond, ownCPU := runReaders(b, readers, seconds*time.Second)
		ours, ourCPU = append(ours, ownPerSecond), append(ourCPU, ownCPU)
		ratio, cpuRatio = append(ratio, ownPerSecond/perSecond), append(cpuRatio, ownCPU/cpu)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(theirs), "sysbench-queries/s")
	b.ReportMetric(median(ours), "queries/s")
	b.ReportMetric(median(ratio), "queries-ratio")
	b.ReportMetric(median(theirCPU), "sysbench-cpu-us/query")
	b.ReportMetric(median(ourCPU), "cpu-us/query")
	b.ReportMetric(median(cpuRatio), "cpu-ratio")
}

// runReaders returns queries per second and the client's CPU for each in microseconds.
func runReaders(b *testing.B, readers []func(int64) load.Task, limit time.Duration) (perSecond, cpuUS float64) {
	b.Helper()
	run := load.Run{Ops: []string{"insert", "query"}, Limit: limit}
	for _, reader := range readers {
		run.Workers = append(run.Workers, load.Worker{Task: reader(1 << 40)})
	}
	cpu, begin := cpuTime(b), time.Now()
	res, err := run.Do(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	elapsed := time.Since(begin)
	var queries int64
	for _, w := range res.Workers {
		queries += w.Ops
	}
	return float64(queries) / elapsed.Seconds(), float64(cpuTime(b)-cpu) / 1e3 / float64(queries)
}
