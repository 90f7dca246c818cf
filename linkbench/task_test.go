package linkbench

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"insertbench/internal/load"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func workload(t testing.TB, change func(*config.Config)) *stream.Workload {
	t.Helper()
	c := config.Default(config.Demo)
	c.MaxID1 = 601
	c.ChunkIDs, c.PieceLinks = 50, 100
	c.Run.BulkRows = 64
	if change != nil {
		change(&c)
	}
	r, err := c.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	w, err := stream.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// sizes is a loader that notes how many rows each statement has.
type sizes struct {
	nodes, links, counts sizeBatch
}

type sizeBatch struct{ rows, total, largest, empty, statements int }

func (b *sizeBatch) insert() error {
	b.statements++
	b.total += b.rows
	b.largest = max(b.largest, b.rows)
	if b.rows == 0 {
		b.empty++
	}
	return nil
}

type sized[Row any] struct{ *sizeBatch }

func (b sized[Row]) Append(*Row)                  { b.rows++ }
func (b sized[Row]) Insert(context.Context) error { return b.insert() }
func (b sized[Row]) Reset()                       { b.rows = 0 }

func (s *sizes) Nodes() Batch[graph.Node]   { return sized[graph.Node]{&s.nodes} }
func (s *sizes) Links() Batch[graph.Link]   { return sized[graph.Link]{&s.links} }
func (s *sizes) Counts() Batch[graph.Count] { return sized[graph.Count]{&s.counts} }
func (s *sizes) Abort()                     {}
func (s *sizes) Close() error               { return nil }

// Batches are full but for the last, and none is empty, also where the number
// of nodes, 600, is a multiple of the batch.
func TestBatches(t *testing.T) {
	for _, bulk := range []int{1, 64, 100, 600, 1000} {
		w := workload(t, func(c *config.Config) { c.Run.BulkRows = bulk })
		s := new(sizes)
		task := newLoadTask(w, newWork(w, nil), s)
		for task.Next() {
			if _, err := task.Do(t.Context(), new(load.Recorder)); err != nil {
				t.Fatal(err)
			}
		}
		want := Expected(w)
		for _, b := range []struct {
			name string
			got  sizeBatch
			want int64
		}{{"nodes", s.nodes, want.Nodes}, {"links", s.links, want.Links}, {"counts", s.counts, want.Counts}} {
			statements := (int(b.want) + bulk - 1) / bulk
			if b.got.total != int(b.want) || b.got.empty > 0 || b.got.largest > bulk || b.got.statements != statements {
				t.Errorf("%d rows a batch, %s: %+v, want %d rows in %d statements", bulk, b.name, b.got, b.want, statements)
			}
		}
		if task.acked.rows() != want.rows() || want.Nodes != 600 {
			t.Errorf("acknowledged %+v, want %+v", task.acked, want)
		}
	}
}

// 600 nodes of the 2017 payloads, 277 bytes on average and 24 more each: at 2 KB a
// batch holds a few, none of them many times larger.
func TestBatchesByKB(t *testing.T) {
	w := workload(t, func(c *config.Config) { c.Run.BulkKB = 2 })
	s := new(sizes)
	task := newLoadTask(w, newWork(w, nil), s)
	for task.Next() {
		if _, err := task.Do(t.Context(), new(load.Recorder)); err != nil {
			t.Fatal(err)
		}
	}
	if s.nodes.total != 600 || s.nodes.largest > 30 || s.nodes.statements < 40 {
		t.Errorf("%+v", s.nodes)
	}
}

// nothing is a client that answers at once.
type nothing struct{ link graph.Link }

func (n *nothing) AddLink(context.Context, *graph.Link) (Effect, error)    { return Inserted, nil }
func (n *nothing) UpdateLink(context.Context, *graph.Link) (Effect, error) { return Updated, nil }
func (n *nothing) DeleteLink(context.Context, int64, int64, int64) (Effect, error) {
	return Hidden, nil
}
func (n *nothing) CountLinks(context.Context, int64, int64) (int64, error) { return 3, nil }
func (n *nothing) MultigetLinks(_ context.Context, _, _ int64, id2s []int64, visit func(*graph.Link)) error {
	for range id2s {
		visit(&n.link)
	}
	return nil
}
func (n *nothing) ListLinks(_ context.Context, _ *ListQuery, visit func(*graph.Link)) error {
	visit(&n.link)
	return nil
}
func (n *nothing) AddNode(context.Context, *graph.Node) (int64, error)              { return 1, nil }
func (n *nothing) UpdateNode(context.Context, *graph.Node) (bool, error)            { return true, nil }
func (n *nothing) DeleteNode(context.Context, int64, int32) (bool, error)           { return true, nil }
func (n *nothing) GetNode(context.Context, int64, int32, *graph.Node) (bool, error) { return true, nil }
func (n *nothing) Abort()                                                           {}
func (n *nothing) Close() error                                                     { return nil }

func TestRequestAllocatesNothing(t *testing.T) {
	w := workload(t, nil)
	task := newRequestTask(w.Requests(0, 1, 1)[0], new(nothing), 0, 0)
	rec, ctx := new(load.Recorder), context.Background()
	one := func() {
		task.Next()
		if _, err := task.Do(ctx, rec); err != nil {
			t.Fatal(err)
		}
	}
	for range 5000 {
		one() // buffers grow to the largest node
	}
	if n := testing.AllocsPerRun(2000, one); n > 0.01 { // a still larger node comes now and then
		t.Errorf("%v allocations per request", n)
	}
}

// Without an observer the workers' tasks are the requesters themselves, so that nothing is paid for one.
func TestNothingObserves(t *testing.T) {
	w := workload(t, nil)
	tasks := []*requestTask{newRequestTask(w.Requests(0, 1, 1)[0], new(nothing), 0, 0)}
	spec := requestSpec(w, RequestPlan{}, Session{}, tasks, "request", results.KindRequest, 1)
	if spec.Run.Workers[0].Task != load.Task(tasks[0]) {
		t.Errorf("the task is a %T", spec.Run.Workers[0].Task)
	}
	if !spec.Run.Punctual {
		t.Error("requests of a rate wait for Go's timers, which are late by more than many a request takes")
	}
}

func TestRequestCounts(t *testing.T) {
	w := workload(t, func(c *config.Config) {
		c.Mix = config.Mix{graph.CountLinks: 50, graph.MultigetLinks: 50}
		c.Multiget = config.Multiget{Kind: config.UniformSize, Min: 4, Max: 5}
	})
	task := newRequestTask(w.Requests(0, 1, 1)[0], new(nothing), 0, 0)
	task.left = 1000
	for task.Next() {
		if _, err := task.Do(t.Context(), new(load.Recorder)); err != nil {
			t.Fatal(err)
		}
	}
	counts, gets := task.stats.Ops[graph.CountLinks], task.stats.Ops[graph.MultigetLinks]
	if counts.Done+gets.Done != 1000 || counts.Rows != counts.Done || counts.Found != counts.Done ||
		gets.Rows != 4*gets.Done || gets.Found != gets.Done {
		t.Errorf("counts %+v, multigets %+v; want one row and four rows each", counts, gets)
	}
}

// A total rate is divided: with 4 requesters and 100 a second each sends one in
// 40 ms on average, 1,000 in 40 s within 4 standard deviations (4·40·√1000 ms = 5 s).
func TestPacers(t *testing.T) {
	w := workload(t, func(c *config.Config) { c.Run.RatePerRequester = 0.5 })
	for _, c := range []struct {
		plan RequestPlan
		n    int64
		mean time.Duration
	}{{RequestPlan{PerSecond: 100}, 1000, 40 * time.Millisecond}, {RequestPlan{}, 1000, 2 * time.Second}} {
		a, b := pacer(w, c.plan, 4, 0), pacer(w, c.plan, 4, 1)
		want := time.Duration(c.n) * c.mean
		if got := a.Start(c.n); got < want*7/8 || got > want*9/8 {
			t.Errorf("%+v: request %d starts after %v, want about %v", c.plan, c.n, got, want)
		}
		if a.Start(5) == b.Start(5) {
			t.Errorf("%+v: two requesters keep the same schedule", c.plan)
		}
		other := c.plan
		other.FirstRequester = 4
		if a.Start(5) == pacer(w, other, 4, 0).Start(5) {
			t.Errorf("%+v: the first requesters of two processes keep the same schedule", c.plan)
		}
	}
	if p := pacer(workload(t, nil), RequestPlan{}, 4, 0); p != nil {
		t.Errorf("%v without a rate", p)
	}
}

// BenchmarkLoadTask is what a link costs but for encoding and sending it: its share of generating nodes, links and
// counts, gathering batches and recording.
func BenchmarkLoadTask(b *testing.B) {
	w := workload(b, func(c *config.Config) { *c = config.Default(config.P2017); c.MaxID1 = 1_000_001 })
	task := newLoadTask(w, newWork(w, nil), new(sizes))
	rec, ctx := new(load.Recorder), context.Background()
	links := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		if task.acked.Links > links {
			links++
			continue
		}
		for task.acked.Links <= links {
			if !task.Next() {
				task.work, links, task.acked = newWork(w, nil), 0, LoadSums{}
				continue
			}
			if _, err := task.Do(ctx, rec); err != nil {
				b.Fatal(err)
			}
		}
		links++
	}
}

// BenchmarkRequestTask is what a request costs but for encoding, sending and reading it.
func BenchmarkRequestTask(b *testing.B) {
	w := workload(b, func(c *config.Config) { *c = config.Default(config.P2017) })
	task := newRequestTask(w.Requests(0, 1, 1)[0], new(nothing), 0, 0)
	rec, ctx := new(load.Recorder), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		task.Next()
		if _, err := task.Do(ctx, rec); err != nil {
			b.Fatal(err)
		}
	}
}
