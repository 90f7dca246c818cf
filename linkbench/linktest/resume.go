package linktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/linkbench"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// losing is a database whose answers are lost after so many bulk inserts. Those
// that loaders were waiting for have happened, as when a client is killed.
type losing struct {
	linkbench.Database
	left atomic.Int64
}

func (l *losing) OpenLoader(ctx context.Context) (linkbench.Loader, error) {
	loader, err := l.Database.OpenLoader(ctx)
	return &losingLoader{loader, l}, err
}

func (l *losing) OpenFiller(ctx context.Context) (linkbench.Loader, error) {
	loader, err := l.Database.(linkbench.Resumer).OpenFiller(ctx)
	return &losingLoader{loader, l}, err
}

func (l *losing) HasIndex(ctx context.Context, layout linkbench.Layout) (bool, error) {
	return l.Database.(linkbench.Resumer).HasIndex(ctx, layout)
}

type losingLoader struct {
	linkbench.Loader
	db *losing
}

func (l *losingLoader) Nodes() linkbench.Batch[graph.Node] {
	return losingBatch[graph.Node]{l.Loader.Nodes(), l.db}
}

func (l *losingLoader) Links() linkbench.Batch[graph.Link] {
	return losingBatch[graph.Link]{l.Loader.Links(), l.db}
}

func (l *losingLoader) Counts() linkbench.Batch[graph.Count] {
	return losingBatch[graph.Count]{l.Loader.Counts(), l.db}
}

type losingBatch[Row any] struct {
	linkbench.Batch[Row]
	db *losing
}

func (b losingBatch[Row]) Insert(ctx context.Context) error {
	err := b.Batch.Insert(ctx)
	if err != nil || b.db.left.Add(-1) >= 0 {
		return err
	}
	return &drivers.Error{Class: drivers.Unknown, Code: "lost", Err: errors.New("the answer was lost")}
}

// resumed loads with two interruptions what must then be as loaded in one go,
// super-nodes that are cut into slices included.
func (s Suite) resumed(t *testing.T, l linkbench.Layout) {
	db := s.database(t)
	w := s.workload(t, func(c *config.Config) {
		c.MaxID1, c.ChunkIDs, c.PieceLinks, c.Run.BulkRows = 101, 5, 20, 8
	})
	resumer, ok := db.(linkbench.Resumer)
	if !ok {
		t.Fatalf("%T can't resume a load", db)
	}
	plan := linkbench.Plan{Load: true, IndexAt: linkbench.IndexEnd, Layout: l, Verify: true}
	_, err := plan.Run(t.Context(), w, session(t, db))
	check(t, err)
	want := contents(t, w, db)
	check(t, db.DropTables(t.Context()))

	// A third of the inserts that a load takes at least, twice, then all.
	const all = 1 << 40
	e := linkbench.Expected(w)
	third := (e.Nodes + e.Links + e.Counts) / int64(3*w.Config().Run.BulkRows)
	var counts []int
	for _, inserts := range []int64{third, third, all} {
		flaky := &losing{Database: db}
		flaky.left.Store(inserts)
		on := session(t, flaky)
		check(t, plan.Prepare(t.Context(), w, flaky))
		verified, err := plan.Run(t.Context(), w, on)
		if lost := inserts < all; lost != (err != nil) {
			t.Fatalf("after %d answers: %v", inserts, err)
		}
		pieces, err := results.LoadPieces(on.Writer.Dir())
		check(t, err)
		counts = append(counts, len(pieces))
		if plan.Resume, err = linkbench.NewResume(w, pieces); err != nil {
			t.Fatal(err)
		}
		if inserts < all {
			has, err := resumer.HasIndex(t.Context(), l)
			if check(t, err); has {
				t.Error("the index is there before the load has ended")
			}
		} else if verified.Passed == nil || !*verified.Passed {
			t.Errorf("verified %+v", verified)
		}
	}
	if !(0 < counts[0] && counts[0] < counts[1] && counts[1] < counts[2]) || !plan.Resume.Loaded() {
		t.Errorf("%v pieces: the load was not interrupted twice and then ended", counts)
	}
	if d := cmp.Diff(want, contents(t, w, db)); d != "" {
		t.Errorf("-in one go +resumed:\n%s", d)
	}
	has, err := resumer.HasIndex(t.Context(), l)
	if check(t, err); !has {
		t.Error("there is no index after the load")
	}
	other := linkbench.Layout{Index: linkbench.IndexShort}
	if l.Index == linkbench.IndexShort {
		other.Index = linkbench.IndexCovering
	}
	if _, err := resumer.HasIndex(t.Context(), other); !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("an index of other columns: %v", err)
	}
}

// contents is every column of every row that a client can read, one line for
// each node, count and link.
func contents(t *testing.T, w *stream.Workload, db linkbench.Database) []string {
	t.Helper()
	c, err := db.OpenClient(t.Context())
	check(t, err)
	defer c.Close()
	var lines []string
	var n graph.Node
	for id := w.Config().StartID1; id < w.Config().MaxID1; id++ {
		found, err := c.GetNode(t.Context(), id, graph.NodeType, &n)
		check(t, err)
		lines = append(lines, fmt.Sprintf("node %d: %v %d %d %x", id, found, n.Version, n.TimeS, n.Data))
		for k := range w.Config().LinkTypes {
			typ := graph.FirstLinkType + int64(k)
			count, err := c.CountLinks(t.Context(), id, typ)
			check(t, err)
			var links []string
			q := linkbench.ListQuery{ID1: id, Type: typ, MaxTimeMS: 1 << 60, Limit: 10000}
			check(t, c.ListLinks(t.Context(), &q, func(l *graph.Link) {
				links = append(links, fmt.Sprintf("%d %d %d %d %x", l.ID2, l.Visibility, l.TimeMS, l.Version, l.Data))
			}))
			slices.Sort(links) // those of one time come in any order
			lines = append(lines, fmt.Sprintf("count %d, type %d: %d\n%s", id, typ, count, strings.Join(links, "\n")))
		}
	}
	return lines
}
