//go:build unix

package ibench_test

import (
	"context"
	"database/sql/driver"
	"io"
	"math/rand/v2"
	"testing"

	stock "github.com/go-sql-driver/mysql"

	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/load"
	"insertbench/internal/server/servertest"
)

const (
	queriedRows      = 100_000
	queriesPerWarmUp = 2_000
	queriesPerRound  = 10_000
	rowsPerTestRange = 10
)

// BenchmarkQueryCost prints what a query costs the client over the unix socket
// to InnoDB, in microseconds of its CPU: a bare prepared point query through
// the stock driver that reads its row, ours with checks, histograms and clock,
// and a range query of 10 rows. The three are measured in turn, many times,
// and the medians printed. point/bare is to stay at or under 1.15, range-point
// at or under 12. A step runs one kind for minutes, so each turn begins with
// queries that aren't counted: the first 0.2 s after another kind's turn cost
// about 5 µs more for each range query, caches being cold.
func BenchmarkQueryCost(b *testing.B) {
	my := servertest.MariaDB(b)
	ctx := context.Background()
	db, err := mysql.Open(ctx, mysql.Config{Socket: my.Socket, User: "root", Database: "querycost", CreateDatabase: true, Engine: "InnoDB"})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	fillTable(b, db)
	bare := openBare(b, my.Socket)
	defer db.Announce(1)()
	point := openReadTask(b, db, ibench.PointQueries, 1)
	ranges := openReadTask(b, db, ibench.RangeQueries, rowsPerTestRange)
	parts := []func(queries int64){bare, func(n int64) { runQueries(b, point(n)) }, func(n int64) { runQueries(b, ranges(n)) }}
	cost := make([][]float64, len(parts))
	var ratio, more []float64
	b.ResetTimer()
	for range b.N {
		var round [3]float64
		for i, part := range parts {
			part(queriesPerWarmUp)
			begin := cpuTime(b)
			part(queriesPerRound)
			round[i] = float64(cpuTime(b)-begin) / 1e3 / queriesPerRound
			cost[i] = append(cost[i], round[i])
		}
		ratio, more = append(ratio, round[1]/round[0]), append(more, round[2]-round[1])
	}
	b.ReportMetric(0, "ns/op")
	for i, name := range []string{"bare", "point", "range"} {
		b.ReportMetric(median(cost[i]), name+"-cpu-us/query")
	}
	b.ReportMetric(median(ratio), "point/bare")
	b.ReportMetric(median(more), "range-point-us")
}

func fillTable(b *testing.B, db *mysql.Server) {
	b.Helper()
	ctx := context.Background()
	_ = db.DropTable(ctx, "pi1") // left by an earlier run of this benchmark, or not there
	if err := db.CreateTable(ctx, ibench.Table{Name: "pi1", Indexes: ibench.Indexes}); err != nil {
		b.Fatal(err)
	}
	c := ibench.DefaultConfig()
	c.Rows, c.RowsPerCommit = queriedRows, 1000
	in, err := db.OpenInserter(ctx, "pi1")
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	run := load.Run{Ops: []string{"insert"}, Workers: []load.Worker{{Task: ibench.NewInsertTask(c, 0, in)}}}
	if _, err := run.Do(ctx); err != nil {
		b.Fatal(err)
	}
}

func openReadTask(b *testing.B, db *mysql.Server, kind ibench.QueryKind, rows int) func(int64) load.Task {
	b.Helper()
	q, err := db.OpenQuerier(context.Background(), "pi1", 0, rows)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { q.Close() })
	return func(queries int64) load.Task {
		return ibench.NewReadTask(ibench.DefaultConfig(), kind, rows, q, queriedRows, queries)
	}
}

func runQueries(b *testing.B, task load.Task) {
	run := load.Run{Ops: []string{"insert", "query"}, Workers: []load.Worker{{Task: task}}}
	if _, err := run.Do(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// openBare is the least that a prepared point query takes: one key, three
// columns, the row read.
func openBare(b *testing.B, socket string) func(queries int64) {
	b.Helper()
	cfg := stock.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "unix", socket, "root", "querycost"
	connector, err := stock.NewConnector(cfg)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := connector.Connect(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	stmt, err := conn.Prepare("SELECT transactionid, productid, data FROM pi1 FORCE INDEX (PRIMARY) WHERE transactionid IN (?)")
	if err != nil {
		b.Fatal(err)
	}
	args, row := []driver.NamedValue{{Ordinal: 1}}, make([]driver.Value, 3)
	return func(queries int64) {
		for range queries {
			args[0].Value = 1 + rand.Int64N(queriedRows)
			rows, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(), args)
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				err = rows.Next(row)
			}
			if err != io.EOF {
				b.Fatal(err)
			}
			if err := rows.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
