//go:build unix

package mysql_test

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"

	"insertbench/drivers/mysql"
	"insertbench/internal/server/servertest"
	"insertbench/internal/step"
	"insertbench/iostat"
	"insertbench/linkbench"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// clientCPU is what this process has used, user and system.
func clientCPU(t testing.TB) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// benchConfig is a MariaDB that leaves flushing to the operating system, so
// that a benchmark of the client's CPU doesn't wait for the disk.
func benchConfig(b *testing.B, engine string) mysql.Config {
	s := servertest.PrivateMariaDB(b, "--innodb-flush-log-at-trx-commit=2", "--loose-rocksdb-flush-log-at-trx-commit=2")
	return mysql.Config{Socket: s.Socket, User: "root", Database: "linkdb0", Engine: engine, CreateDatabase: true}
}

func benchWorkload(b *testing.B, p config.Profile, ids, requests int64) *stream.Workload {
	b.Helper()
	c := config.Default(p)
	c.MaxID1 = ids + 1
	c.Degree.Cap = 1000
	c.Run.Loaders, c.Run.Requesters = 2, 2
	c.Run.RequestsPerRequester = requests / 2
	r, err := c.Resolve()
	if err != nil {
		b.Fatal(err)
	}
	w, err := stream.New(r)
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// BenchmarkGraphLinkText is the cost of generating a link and appending it to
// its statement, and of the second alone.
func BenchmarkGraphLinkText(b *testing.B) {
	s := servertest.MariaDB(b)
	g := graphDatabase(b, mysql.Config{Socket: s.Socket, User: "root", Database: "link_text", CreateDatabase: true}, linkbench.Layout{Index: linkbench.IndexCovering})
	l, err := g.OpenLoader(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	gen := newLinks(benchWorkload(b, config.Demo, 1_000_000, 2))
	rows := make([]graph.Link, 1024)
	for i := range rows {
		rows[i] = *gen.next(b)
		rows[i].Data = slices.Clone(rows[i].Data)
	}
	append1024 := func(link func(i int) *graph.Link) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%1024 == 0 {
					l.Links().Reset()
				}
				l.Links().Append(link(i))
			}
		}
	}
	b.Run("generate and append", append1024(func(int) *graph.Link { return gen.next(b) }))
	b.Run("append", append1024(func(i int) *graph.Link { return &rows[i%1024] }))
}

// links generates without end.
type links struct {
	w     *stream.Workload
	gen   *stream.Links
	cut   *stream.Cutter
	ready bool
}

func newLinks(w *stream.Workload) *links { return &links{w: w, gen: w.Links(), cut: w.Pieces()} }

func (l *links) next(b *testing.B) *graph.Link {
	for {
		if !l.ready {
			p, ok := l.cut.Next()
			if !ok {
				b.Fatal("out of links")
			}
			l.gen.Start(p)
			l.ready = true
		}
		switch l.gen.Next() {
		case stream.RowLink:
			return &l.gen.Link
		case stream.RowEnd:
			l.ready = false
		}
	}
}

// BenchmarkGraphLoad loads links into MariaDB by one connection, 1,024 a
// statement, and tells the client's CPU per link, generating included.
func BenchmarkGraphLoad(b *testing.B) {
	for _, engine := range []string{"innodb", "rocksdb"} {
		b.Run(engine, func(b *testing.B) {
			const statements = 200
			g := graphDatabase(b, benchConfig(b, engine), linkbench.Layout{Index: linkbench.IndexCovering})
			l, err := g.OpenLoader(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			gen := newLinks(benchWorkload(b, config.Demo, 200000, 2))
			var cpu time.Duration
			for i := range statements + 1 {
				if i == 1 { // the first one grows the buffers
					cpu = clientCPU(b)
				}
				for range 1024 {
					l.Links().Append(gen.next(b))
				}
				if err := l.Links().Insert(context.Background()); err != nil {
					b.Fatal(err)
				}
				l.Links().Reset()
			}
			b.ReportMetric(float64((clientCPU(b)-cpu).Nanoseconds())/(statements*1024)/1e3, "cpu_us/link")
		})
	}
}

// BenchmarkGraphRequests compares the client's CPU per request with that of a
// bare prepared point query by the same driver on as many connections,
// alternated; medians are told.
func BenchmarkGraphRequests(b *testing.B) {
	for _, engine := range []string{"innodb", "rocksdb"} {
		for _, p := range []config.Profile{config.P2017, config.P2011} {
			b.Run(engine+"/"+p.String(), func(b *testing.B) { benchmarkRequests(b, engine, p) })
		}
	}
}

// loadedGraph is a graph to send requests to.
func loadedGraph(b *testing.B, cfg mysql.Config, w *stream.Workload) linkbench.Session {
	b.Helper()
	g := graphDatabase(b, cfg, linkbench.Layout{Index: linkbench.IndexCovering, FirstNewNode: w.Config().MaxID1})
	m, err := step.NewMeter(iostat.Root{}, step.Target{Server: g})
	if err != nil {
		b.Fatal(err)
	}
	out, err := results.Create(b.TempDir(), results.Run{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { out.Close() })
	session := linkbench.Session{DB: g, Meter: m, Writer: out}
	if _, _, err := linkbench.Load(b.Context(), w, session); err != nil {
		b.Fatal(err)
	}
	return session
}

func benchmarkRequests(b *testing.B, engine string, p config.Profile) {
	const ids, requests, rounds = 20000, 100_000, 3
	cfg := benchConfig(b, engine)
	w := benchWorkload(b, p, ids, requests)
	session := loadedGraph(b, cfg, w)
	var rowsPerList float64
	var ratios, requestUS, queryUS, perSecond, queriesPerSecond []float64
	for round := range rounds { // of requests of its own: the same adds again would find their links
		cpu, begin := clientCPU(b), time.Now()
		pointQueries(b, cfg, ids, requests)
		queryUS = append(queryUS, us(clientCPU(b)-cpu, requests))
		queriesPerSecond = append(queriesPerSecond, requests/time.Since(begin).Seconds())
		cpu, begin = clientCPU(b), time.Now()
		_, stats, err := linkbench.Requests(b.Context(), w, linkbench.RequestPlan{FirstRequester: 2 * round, AllRequesters: 2 * rounds}, session)
		if err != nil {
			b.Fatal(err)
		}
		requestUS = append(requestUS, us(clientCPU(b)-cpu, requests))
		perSecond = append(perSecond, requests/time.Since(begin).Seconds())
		lists := stats.Ops[graph.ListLinks]
		rowsPerList = float64(lists.Rows) / float64(lists.Done)
		trips := float64(requests)
		for _, o := range stats.Ops {
			trips += float64(o.Switched + 2*o.Retries) // a second packet; a rollback and the whole again
		}
		n := len(queryUS) - 1
		ratios = append(ratios, requestUS[n]/(queryUS[n]*trips/requests))
	}
	b.ReportMetric(rowsPerList, "rows/list")
	b.ReportMetric(median(requestUS), "cpu_us/request")
	b.ReportMetric(median(queryUS), "cpu_us/query")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(perSecond), "requests/s")
	b.ReportMetric(median(queriesPerSecond), "queries/s")
}

// BenchmarkGraphBesideSysbench runs requests and sysbench's oltp_point_select
// against one server in turn, five times, both with two connections, and tells
// the medians.
func BenchmarkGraphBesideSysbench(b *testing.B) {
	for _, engine := range []string{"innodb", "rocksdb"} {
		for _, p := range []config.Profile{config.P2017, config.P2011} {
			b.Run(engine+"/"+p.String(), func(b *testing.B) { graphBesideSysbench(b, engine, p) })
		}
	}
}

func graphBesideSysbench(b *testing.B, engine string, p config.Profile) {
	const ids, requests, rounds, seconds = 20000, 100_000, 5, 4
	cfg := benchConfig(b, engine)
	w := benchWorkload(b, p, ids, requests)
	session := loadedGraph(b, cfg, w)
	sysbench := servertest.PrepareSysbench(b, cfg.Socket, cfg.Database, engine, ids, 2)
	var theirs, theirCPU, ours, ourCPU, ratio []float64
	for round := range rounds {
		perSecond, cpuUS := sysbench.Run(b, seconds)
		theirs, theirCPU = append(theirs, perSecond), append(theirCPU, cpuUS)
		cpu, begin := clientCPU(b), time.Now()
		if _, _, err := linkbench.Requests(b.Context(), w, linkbench.RequestPlan{FirstRequester: 2 * round, AllRequesters: 2 * rounds}, session); err != nil {
			b.Fatal(err)
		}
		ourCPU = append(ourCPU, us(clientCPU(b)-cpu, requests))
		ours = append(ours, requests/time.Since(begin).Seconds())
		ratio = append(ratio, ours[round]/perSecond)
	}
	b.ReportMetric(median(theirs), "sysbench-queries/s")
	b.ReportMetric(median(theirCPU), "sysbench-cpu-us/query")
	b.ReportMetric(median(ours), "requests/s")
	b.ReportMetric(median(ourCPU), "cpu-us/request")
	b.ReportMetric(median(ratio), "requests/queries")
}

func us(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / float64(n) / 1e3 }

func median(v []float64) float64 {
	slices.SortFunc(v, cmp.Compare[float64])
	return v[len(v)/2]
}

// pointQueries reads nodes by two connections, as two requesters do.
func pointQueries(b *testing.B, c mysql.Config, ids int64, queries int) {
	b.Helper()
	var wg sync.WaitGroup
	for i := range int64(2) {
		cfg := gomysql.NewConfig()
		cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "unix", c.Socket, c.User, c.Database
		cfg.ReadTimeout, cfg.WriteTimeout = 10*time.Minute, 10*time.Minute
		connector, err := gomysql.NewConnector(cfg)
		if err != nil {
			b.Fatal(err)
		}
		conn, err := connector.Connect(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		stmt, err := conn.Prepare("SELECT id, type, version, time, data FROM nodetable WHERE id = ?")
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer conn.Close()
			row := make([]driver.Value, 5)
			args := make([]driver.NamedValue, 1)
			for n := range int64(queries / 2) {
				args[0] = driver.NamedValue{Ordinal: 1, Value: 1 + (n*7919+i)%ids}
				rows, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(), args)
				if err == nil {
					err = rows.Next(row)
				}
				if err == nil || errors.Is(err, io.EOF) { // a node may be deleted
					err = rows.Close()
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
