// Package linktest is the one conformance suite of LinkBench's drivers:
// whatever database is behind linkbench.Database, these tests hold.
package linktest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"insertbench/drivers"
	"insertbench/internal/step"
	"insertbench/iostat"
	"insertbench/linkbench"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// Suite describes one database to the tests.
type Suite struct {
	// Open opens the database under test. Every call reaches the same data,
	// by connections of its own; the test closes it.
	Open func(t testing.TB) linkbench.Database
	// Layouts are those to make tables by, at least one.
	Layouts []linkbench.Layout
	// IDs is how many ids the whole run has; 0 for 600.
	IDs int64
}

// Link types of the small tests.
const (
	typeA = graph.FirstLinkType
	typeB = graph.FirstLinkType + 1
)

// firstNew is the first id that AddNode may give in the small tests.
const firstNew = 1001

// Run runs the suite.
func Run(t *testing.T, s Suite) {
	before := goleak.IgnoreCurrent()
	for _, l := range s.Layouts {
		t.Run(fmt.Sprintf("layout %+v", l), func(t *testing.T) {
			t.Run("tables", func(t *testing.T) { s.tables(t, l) })
			t.Run("link life", func(t *testing.T) { s.linkLife(t, l) })
			t.Run("payloads", func(t *testing.T) { s.payloads(t, l) })
			t.Run("multiget", func(t *testing.T) { s.multiget(t, l) })
			t.Run("lists", func(t *testing.T) { s.lists(t, l) })
			t.Run("nodes", func(t *testing.T) { s.nodes(t, l) })
			t.Run("bulk and sums", func(t *testing.T) { s.bulk(t, l) })
			t.Run("one link, many clients", func(t *testing.T) { s.contended(t, l) })
			t.Run("whole run", func(t *testing.T) { s.wholeRun(t, l) })
			t.Run("resumed load", func(t *testing.T) { s.resumed(t, l) })
		})
	}
	if err := goleak.Find(before); err != nil {
		t.Errorf("goroutines left behind: %v", err)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// database opens the database without tables, and leaves it so.
func (s Suite) database(t *testing.T) linkbench.Database {
	t.Helper()
	db := s.Open(t)
	check(t, db.DropTables(t.Context()))
	t.Cleanup(func() {
		if err := db.DropTables(context.Background()); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// tabled opens the database with empty tables and their index.
func (s Suite) tabled(t *testing.T, l linkbench.Layout) linkbench.Database {
	t.Helper()
	db := s.database(t)
	l.FirstNewNode = firstNew
	check(t, db.CreateTables(t.Context(), l))
	check(t, db.CreateIndex(t.Context(), l))
	return db
}

func client(t *testing.T, db linkbench.Database) linkbench.Client {
	t.Helper()
	c, err := db.OpenClient(t.Context())
	check(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (s Suite) tables(t *testing.T, l linkbench.Layout) {
	db := s.database(t)
	names, err := db.ListTables(t.Context())
	if check(t, err); len(names) != 0 {
		t.Errorf("tables %v after dropping", names)
	}
	check(t, db.CreateTables(t.Context(), l))
	if names, err = db.ListTables(t.Context()); err != nil || len(names) != 3 {
		t.Errorf("tables %v, %v; want three", names, err)
	}
	if err := db.CreateTables(t.Context(), l); err == nil {
		t.Error("tables that exist were made again")
	}
	watched, waiting := drivers.WithWaiting(t.Context())
	check(t, db.CreateIndex(watched, l))
	if got := waiting.Text(); got != "building index id1_type" {
		t.Errorf("it waited for %q", got)
	}
	check(t, db.CheckBatch(t.Context(), 10, 1000))
	rows, err := db.TableRows(t.Context())
	if check(t, err); rows != (linkbench.Rows{}) {
		t.Errorf("new tables hold %+v", rows)
	}
}

// linkLife follows one link and its count row.
func (s Suite) linkLife(t *testing.T, l linkbench.Layout) {
	c := client(t, s.tabled(t, l))
	ctx := t.Context()
	link := graph.Link{ID1: 1, Type: typeA, ID2: 2, Visibility: graph.Visible, TimeMS: 1000, Data: []byte("a")}
	hidden := link
	hidden.Visibility = graph.Hidden
	newer := link
	newer.TimeMS, newer.Data = 2000, []byte("bb")
	back := newer
	back.TimeMS = 3000
	for i, step := range []struct {
		name  string
		do    func() (linkbench.Effect, error)
		want  linkbench.Effect
		count int64
	}{
		{"delete nothing", func() (linkbench.Effect, error) { return c.DeleteLink(ctx, 1, typeA, 2) }, linkbench.Unchanged, 0},
		{"add", func() (linkbench.Effect, error) { return c.AddLink(ctx, &link) }, linkbench.Inserted, 1},
		{"add the same", func() (linkbench.Effect, error) { return c.AddLink(ctx, &link) }, linkbench.Unchanged, 1},
		{"add over it", func() (linkbench.Effect, error) { return c.AddLink(ctx, &newer) }, linkbench.Updated, 1},
		{"update", func() (linkbench.Effect, error) { return c.UpdateLink(ctx, &link) }, linkbench.Updated, 1},
		{"update to the same", func() (linkbench.Effect, error) { return c.UpdateLink(ctx, &link) }, linkbench.Unchanged, 1},
		{"delete", func() (linkbench.Effect, error) { return c.DeleteLink(ctx, 1, typeA, 2) }, linkbench.Hidden, 0},
		{"delete again", func() (linkbench.Effect, error) { return c.DeleteLink(ctx, 1, typeA, 2) }, linkbench.Unchanged, 0},
		{"add a hidden one", func() (linkbench.Effect, error) { return c.AddLink(ctx, &back) }, linkbench.Updated, 1},
		{"hide by update", func() (linkbench.Effect, error) { return c.UpdateLink(ctx, &hidden) }, linkbench.Updated, 0},
		{"show by update", func() (linkbench.Effect, error) { return c.UpdateLink(ctx, &link) }, linkbench.Updated, 1},
	} {
		got, err := step.do()
		if err != nil || got != step.want {
			t.Errorf("%d %s: %v, %v; want %v", i, step.name, got, err, step.want)
		}
		if n, err := c.CountLinks(ctx, 1, typeA); err != nil || n != step.count {
			t.Errorf("%d %s: count %d, %v; want %d", i, step.name, n, err, step.count)
		}
	}
	other := link
	other.ID2 = 3
	if got, err := c.UpdateLink(ctx, &other); err != nil || got != linkbench.Inserted {
		t.Errorf("update of a missing link: %v, %v", got, err)
	}
	other.ID2, other.Visibility = 4, graph.Hidden
	if got, err := c.AddLink(ctx, &other); err != nil || got != linkbench.Inserted {
		t.Errorf("add of a hidden link: %v, %v", got, err)
	}
	for typ, want := range map[int64]int64{typeA: 2, typeB: 0} {
		if n, err := c.CountLinks(ctx, 1, typ); err != nil || n != want {
			t.Errorf("count of type %d: %d, %v; want %d", typ, n, err, want)
		}
	}
}

// payloads writes every byte, and what would end a statement built carelessly.
func (s Suite) payloads(t *testing.T, l linkbench.Layout) {
	c := client(t, s.tabled(t, l))
	ctx := t.Context()
	all := make([]byte, 254)
	for i := range all {
		all[i] = byte(i)
	}
	top := []byte{254, 255}
	for i, data := range [][]byte{{}, all, top, []byte(`'); DROP TABLE linktable; -- "\`), []byte("\x00\x1a\\0''\"\"``")} {
		link := graph.Link{ID1: 1, Type: typeA, ID2: int64(i), Visibility: graph.Visible, TimeMS: 5, Version: 3, Data: data}
		_, err := c.AddLink(ctx, &link)
		check(t, err)
		if got := gets(t, c, 1, typeA, int64(i)); len(got) != 1 || !cmp.Equal(got[0], link, equalBytes()) {
			t.Errorf("%q came back as %+v", data, got)
		}
		node := graph.Node{Type: graph.NodeType, Version: 1, TimeS: 7, Data: data}
		node.ID, err = c.AddNode(ctx, &node)
		check(t, err)
		var back graph.Node
		if found, err := c.GetNode(ctx, node.ID, graph.NodeType, &back); err != nil || !found || !cmp.Equal(back, node, equalBytes()) {
			t.Errorf("node %+v came back as %v %+v, %v", node, found, back, err)
		}
	}
}

// equalBytes takes no data and nil for the same.
func equalBytes() cmp.Option {
	return cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })
}

func gets(t *testing.T, c linkbench.Client, id1, typ int64, id2s ...int64) []graph.Link {
	t.Helper()
	var got []graph.Link
	check(t, c.MultigetLinks(t.Context(), id1, typ, id2s, func(l *graph.Link) {
		one := *l
		one.Data = append([]byte(nil), l.Data...)
		got = append(got, one)
	}))
	slices.SortFunc(got, func(a, b graph.Link) int { return int(a.ID2 - b.ID2) })
	return got
}

func (s Suite) multiget(t *testing.T, l linkbench.Layout) {
	c := client(t, s.tabled(t, l))
	for id2 := range int64(10) {
		_, err := c.AddLink(t.Context(), &graph.Link{ID1: 7, Type: typeA, ID2: id2, Visibility: graph.Visible, TimeMS: id2})
		check(t, err)
	}
	_, err := c.DeleteLink(t.Context(), 7, typeA, 4)
	check(t, err)
	ids := func(links []graph.Link) (out []int64) {
		for _, l := range links {
			out = append(out, l.ID2)
		}
		return out
	}
	if got := ids(gets(t, c, 7, typeA, 8, 3, 99, 3, 4, 3)); !slices.Equal(got, []int64{3, 4, 8}) {
		t.Errorf("%v, want each link that exists once, the hidden 4 too", got)
	}
	for _, empty := range [][]graph.Link{gets(t, c, 7, typeB, 1), gets(t, c, 8, typeA, 1)} {
		if len(empty) > 0 {
			t.Errorf("found %v under another id or type", empty)
		}
	}
	many := make([]int64, 127)
	for i := range many {
		many[i] = int64(i)
	}
	if got := ids(gets(t, c, 7, typeA, many...)); len(got) != 10 {
		t.Errorf("%v of 127", got)
	}
}

func (s Suite) lists(t *testing.T, l linkbench.Layout) {
	c := client(t, s.tabled(t, l))
	for i := range int64(20) { // times 100, 200, … 2000; every fifth hidden
		link := graph.Link{ID1: 5, Type: typeA, ID2: i, Visibility: graph.Visible, TimeMS: (i + 1) * 100}
		if i%5 == 4 {
			link.Visibility = graph.Hidden
		}
		_, err := c.AddLink(t.Context(), &link)
		check(t, err)
	}
	page := func(q linkbench.ListQuery) (times []int64) {
		check(t, c.ListLinks(t.Context(), &q, func(l *graph.Link) { times = append(times, l.TimeMS) }))
		return times
	}
	all := linkbench.ListQuery{ID1: 5, Type: typeA, MaxTimeMS: math.MaxInt64, Limit: graph.ListLimit}
	// Hidden are 500, 1000, 1500 and 2000.
	if got := page(all); len(got) != 16 || got[0] != 1900 || got[15] != 100 || !slices.IsSortedFunc(got, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("whole list %v", got)
	}
	some := all
	some.MinTimeMS, some.MaxTimeMS = 600, 1200
	if got := page(some); !slices.Equal(got, []int64{1200, 1100, 900, 800, 700, 600}) {
		t.Errorf("600 to 1200: %v", got)
	}
	some.Offset, some.Limit = 1, 2
	if got := page(some); !slices.Equal(got, []int64{1100, 900}) {
		t.Errorf("600 to 1200, the second two: %v", got)
	}
	some.Offset = 100
	if got := page(some); len(got) != 0 {
		t.Errorf("beyond the end: %v", got)
	}
	all.Type = typeB
	if got := page(all); len(got) != 0 {
		t.Errorf("another type: %v", got)
	}
}

func (s Suite) nodes(t *testing.T, l linkbench.Layout) {
	db := s.tabled(t, l)
	a, b := client(t, db), client(t, s.another(t))
	ctx := t.Context()
	seen := map[int64]bool{}
	for i := range 40 { // two connections of two processes, so to speak
		c := []linkbench.Client{a, b}[i%2]
		id, err := c.AddNode(ctx, &graph.Node{Type: graph.NodeType, Version: 1, TimeS: 5, Data: []byte("x")})
		if err != nil || id < firstNew || seen[id] {
			t.Fatalf("node %d is numbered %d, %v", i, id, err)
		}
		seen[id] = true
	}
	var id int64
	for id = range seen {
		break
	}
	steps := []struct {
		name string
		do   func() (bool, error)
		want bool
	}{
		{"update", func() (bool, error) {
			return a.UpdateNode(ctx, &graph.Node{ID: id, Type: graph.NodeType, Version: 2, TimeS: 6, Data: []byte("yy")})
		}, true},
		{"update of another type", func() (bool, error) { return a.UpdateNode(ctx, &graph.Node{ID: id, Type: 1}) }, false},
		{"get of another type", func() (bool, error) { return b.GetNode(ctx, id, 1, new(graph.Node)) }, false},
		{"delete of another type", func() (bool, error) { return b.DeleteNode(ctx, id, 1) }, false},
		{"delete", func() (bool, error) { return b.DeleteNode(ctx, id, graph.NodeType) }, true},
		{"delete again", func() (bool, error) { return a.DeleteNode(ctx, id, graph.NodeType) }, false},
		{"get what is gone", func() (bool, error) { return a.GetNode(ctx, id, graph.NodeType, new(graph.Node)) }, false},
		{"update what is gone", func() (bool, error) { return a.UpdateNode(ctx, &graph.Node{ID: id, Type: graph.NodeType}) }, false},
	}
	for i, step := range steps {
		if found, err := step.do(); err != nil || found != step.want {
			t.Errorf("%s: found %v, %v; want %v", step.name, found, err, step.want)
		}
		if i == 0 {
			var n graph.Node
			want := graph.Node{ID: id, Type: graph.NodeType, Version: 2, TimeS: 6, Data: []byte("yy")}
			if _, err := b.GetNode(ctx, id, graph.NodeType, &n); err != nil || !cmp.Equal(n, want, equalBytes()) {
				t.Errorf("after the update %+v, %v", n, err)
			}
		}
	}
}

// another opens the database once more.
func (s Suite) another(t *testing.T) linkbench.Database {
	t.Helper()
	db := s.Open(t)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// session is what a run needs: a meter, and a record in a folder of the test.
func session(t *testing.T, db linkbench.Database) linkbench.Session {
	t.Helper()
	m, err := step.NewMeter(iostat.Root{}, step.Target{Server: db})
	check(t, err)
	w, err := results.Create(t.TempDir(), results.Run{})
	check(t, err)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return linkbench.Session{DB: db, Meter: m, Writer: w}
}

// workload is a small graph with a super-node, cut into many pieces.
func (s Suite) workload(t *testing.T, change ...func(*config.Config)) *stream.Workload {
	t.Helper()
	c := config.Default(config.Demo)
	c.MaxID1 = 601
	if s.IDs > 0 {
		c.MaxID1 = s.IDs + 1
	}
	c.ChunkIDs, c.PieceLinks = 50, 100
	c.Run.Loaders, c.Run.Requesters, c.Run.BulkRows = 3, 4, 64
	c.Run.RequestsPerRequester = 1000
	for _, f := range change {
		f(&c)
	}
	r, err := c.Resolve()
	check(t, err)
	w, err := stream.New(r)
	check(t, err)
	return w
}
