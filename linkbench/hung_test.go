package linkbench

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"insertbench/internal/load"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
)

// giveUp runs a task against a server that never answers, and whose Abort has
// no effect, until its worker is given up.
func giveUp(t *testing.T, ops []string, task load.Task, release chan struct{}) load.WorkerResult {
	t.Helper()
	run := load.Run{Ops: ops, Workers: []load.Worker{{Task: task}}, Limit: time.Second, Grace: time.Second}
	res, err := run.Do(t.Context())
	close(release)
	time.Sleep(time.Second) // what hung returns
	if err == nil || !res.Workers[0].Hung {
		t.Fatalf("%+v, error %v; want a worker given up", res.Workers[0], err)
	}
	return res.Workers[0]
}

// hungLoader answers its first statement and no other.
type hungLoader struct {
	sizes
	statements int
	release    chan struct{}
}

type hungBatch[Row any] struct {
	sized[Row]
	loader *hungLoader
}

func (b hungBatch[Row]) Insert(context.Context) error {
	if b.loader.statements++; b.loader.statements > 1 {
		<-b.loader.release
	}
	time.Sleep(100 * time.Millisecond) // so that time passes, and the limit comes
	return b.insert()
}

func (l *hungLoader) Nodes() Batch[graph.Node] {
	return hungBatch[graph.Node]{sized[graph.Node]{&l.nodes}, l}
}

func (l *hungLoader) Links() Batch[graph.Link] {
	return hungBatch[graph.Link]{sized[graph.Link]{&l.links}, l}
}

func (l *hungLoader) Counts() Batch[graph.Count] {
	return hungBatch[graph.Count]{sized[graph.Count]{&l.counts}, l}
}

// A loader's batches have 64 rows: one is acknowledged, and the one under way
// when the loader is given up is unknown.
func TestLoaderGivenUpIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workload(t, nil)
		l := &hungLoader{release: make(chan struct{})}
		got := giveUp(t, loadOps(), newLoadTask(w, newWork(w, nil), l), l.release)
		if got.Units != 64 || got.Unknown != 64 {
			t.Errorf("%d rows acknowledged and %d unknown, want 64 and 64", got.Units, got.Unknown)
		}
	})
}

// hungClient never answers a request of one kind, or none of them after a
// write; others it answers in 100 ms.
type hungClient struct {
	nothing
	on         graph.Op
	afterWrite bool // answer until there was a write
	wrote      bool
	release    chan struct{}
}

func (c *hungClient) hang(op graph.Op) {
	if op == c.on && (c.wrote || !c.afterWrite) {
		<-c.release
	}
	c.wrote = c.wrote || op.Writes()
	time.Sleep(100 * time.Millisecond)
}

func (c *hungClient) AddLink(ctx context.Context, l *graph.Link) (Effect, error) {
	c.hang(graph.AddLink)
	return c.nothing.AddLink(ctx, l)
}

func (c *hungClient) UpdateLink(ctx context.Context, l *graph.Link) (Effect, error) {
	c.hang(graph.UpdateLink)
	return c.nothing.UpdateLink(ctx, l)
}

func (c *hungClient) DeleteLink(ctx context.Context, id1, kind, id2 int64) (Effect, error) {
	c.hang(graph.DeleteLink)
	return c.nothing.DeleteLink(ctx, id1, kind, id2)
}

func (c *hungClient) CountLinks(ctx context.Context, id1, kind int64) (int64, error) {
	c.hang(graph.CountLinks)
	return c.nothing.CountLinks(ctx, id1, kind)
}

func (c *hungClient) MultigetLinks(ctx context.Context, id1, kind int64, id2s []int64, visit func(*graph.Link)) error {
	c.hang(graph.MultigetLinks)
	return c.nothing.MultigetLinks(ctx, id1, kind, id2s, visit)
}

func (c *hungClient) ListLinks(ctx context.Context, q *ListQuery, visit func(*graph.Link)) error {
	c.hang(graph.ListLinks)
	return c.nothing.ListLinks(ctx, q, visit)
}

func (c *hungClient) AddNode(ctx context.Context, n *graph.Node) (int64, error) {
	c.hang(graph.AddNode)
	return c.nothing.AddNode(ctx, n)
}

func (c *hungClient) UpdateNode(ctx context.Context, n *graph.Node) (bool, error) {
	c.hang(graph.UpdateNode)
	return c.nothing.UpdateNode(ctx, n)
}

func (c *hungClient) DeleteNode(ctx context.Context, id int64, kind int32) (bool, error) {
	c.hang(graph.DeleteNode)
	return c.nothing.DeleteNode(ctx, id, kind)
}

func (c *hungClient) GetNode(ctx context.Context, id int64, kind int32, n *graph.Node) (bool, error) {
	c.hang(graph.GetNode)
	return c.nothing.GetNode(ctx, id, kind, n)
}

// One request is under way when a requester is given up: unknown if it changes
// data, nothing if it reads.
func TestRequesterGivenUpIsUnknown(t *testing.T) {
	want := map[graph.Op]int64{
		graph.AddLink: 1, graph.UpdateLink: 1, graph.DeleteLink: 1, graph.AddNode: 1, graph.UpdateNode: 1, graph.DeleteNode: 1,
		graph.CountLinks: 0, graph.MultigetLinks: 0, graph.ListLinks: 0, graph.GetNode: 0,
	}
	if len(want) != int(graph.Ops) {
		t.Fatalf("%d operations here, %d there are", len(want), graph.Ops)
	}
	for op, unknown := range want {
		t.Run(op.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := workload(t, func(c *config.Config) {
					c.Mix = config.Mix{}
					c.Mix[op] = 100
				})
				c := &hungClient{on: op, release: make(chan struct{})}
				task := newRequestTask(w.Requests(0, 1, 1)[0], c, 0, 0)
				if got := giveUp(t, requestOps(), task, c.release); got.Units != 0 || got.Unknown != unknown {
					t.Errorf("%d requests acknowledged and %d unknown, want 0 and %d", got.Units, got.Unknown, unknown)
				}
			})
		})
	}
}

// A read that hangs after a write that was acknowledged leaves nothing unknown.
func TestReadAfterWriteLeavesNothingUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workload(t, func(c *config.Config) { c.Mix = config.Mix{graph.AddNode: 50, graph.GetNode: 50} })
		c := &hungClient{on: graph.GetNode, afterWrite: true, release: make(chan struct{})}
		task := newRequestTask(w.Requests(0, 1, 1)[0], c, 0, 0)
		if got := giveUp(t, requestOps(), task, c.release); got.Units == 0 || got.Unknown != 0 {
			t.Errorf("%d requests acknowledged and %d unknown, want some and none", got.Units, got.Unknown)
		}
	})
}
