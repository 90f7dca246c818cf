package linktest

import (
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// bulk inserts rows of all three tables and reads their sums back.
func (s Suite) bulk(t *testing.T, l linkbench.Layout) {
	db := s.tabled(t, l)
	ctx := t.Context()
	loader, err := db.OpenLoader(ctx)
	check(t, err)
	defer func() { check(t, loader.Close()) }()
	nodes, links, counts := loader.Nodes(), loader.Links(), loader.Counts()
	data := []byte("'\\\x00\xff;") // five bytes
	for id := int64(10); id < 20; id++ {
		nodes.Append(&graph.Node{ID: id, Type: graph.NodeType, Version: 1, TimeS: 9, Data: data})
		for id2 := range id { // an id has as many links as its number
			links.Append(&graph.Link{ID1: id, Type: typeA, ID2: id2, Visibility: graph.Visible, TimeMS: 4, Data: data})
		}
		counts.Append(&graph.Count{ID: id, Type: typeA, Count: id, TimeMS: 4})
	}
	links.Append(&graph.Link{ID1: 12, Type: typeB, ID2: 1, Visibility: graph.Hidden, TimeMS: 4})
	for _, b := range []interface{ Reset() }{nodes, links, counts} {
		defer b.Reset()
	}
	check(t, nodes.Insert(ctx))
	check(t, links.Insert(ctx))
	check(t, counts.Insert(ctx))
	nodes.Reset()
	nodes.Append(&graph.Node{ID: 15, Type: graph.NodeType})
	if err := nodes.Insert(ctx); err == nil || drivers.ClassOf(err) != drivers.Fatal {
		t.Errorf("a node that exists was inserted: %v", err)
	}
	rows, err := db.TableRows(ctx)
	if check(t, err); rows != (linkbench.Rows{Nodes: 10, Links: 146, Counts: 10}) { // 10+…+19 = 145, and the hidden one
		t.Errorf("tables hold %+v", rows)
	}
	sum, err := db.SumNodes(ctx, 12, 15)
	if check(t, err); sum != (linkbench.NodeSums{Rows: 3, DataBytes: 15}) {
		t.Errorf("nodes 12 to 14: %+v", sum)
	}
	var sums []linkbench.LinkSums
	visit := func(s linkbench.LinkSums) error { sums = append(sums, s); return nil }
	check(t, db.SumLinks(ctx, typeA, 12, 14, visit))
	check(t, db.SumLinks(ctx, typeB, 0, math.MaxInt64, visit))
	want := []linkbench.LinkSums{
		{ID1: 12, Links: 12, Visible: 12, SumID2: 66, DataBytes: 60}, // 0+…+11 = 66
		{ID1: 13, Links: 13, Visible: 13, SumID2: 78, DataBytes: 65},
		{ID1: 12, Links: 1, SumID2: 1},
	}
	if d := cmp.Diff(want, sums); d != "" {
		t.Errorf("links (-want +got):\n%s", d)
	}
	var got []graph.Count
	check(t, db.ScanCounts(ctx, typeA, 18, math.MaxInt64, func(c graph.Count) error { got = append(got, c); return nil }))
	wantCounts := []graph.Count{{ID: 18, Type: typeA, Count: 18, TimeMS: 4}, {ID: 19, Type: typeA, Count: 19, TimeMS: 4}}
	if d := cmp.Diff(wantCounts, got); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
}

// contended changes a few links from many clients; the counts must hold.
func (s Suite) contended(t *testing.T, l linkbench.Layout) {
	db := s.tabled(t, l)
	const clients, rounds = 4, 60
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for i := range clients {
		c := client(t, db)
		wg.Go(func() { errs[i] = scramble(t, c, i, rounds) })
	}
	wg.Wait()
	for _, err := range errs {
		check(t, err)
	}
	var visible int64
	check(t, db.SumLinks(t.Context(), typeA, 1, 2, func(s linkbench.LinkSums) error { visible = s.Visible; return nil }))
	c := client(t, db)
	if n, err := c.CountLinks(t.Context(), 1, typeA); err != nil || n != visible {
		t.Errorf("count %d, %v, and %d visible links", n, err, visible)
	}
}

// scramble adds, updates and deletes links 0 to 2, each until it isn't rolled back.
func scramble(t *testing.T, c linkbench.Client, seed, rounds int) error {
	for i := range rounds {
		link := graph.Link{ID1: 1, Type: typeA, ID2: int64((i + seed) % 3), Visibility: graph.Visible, TimeMS: int64(i*10 + seed),
			Data: []byte{byte(seed)}}
		for {
			var err error
			switch (i + seed) % 4 {
			case 0, 1:
				_, err = c.AddLink(t.Context(), &link)
			case 2:
				_, err = c.UpdateLink(t.Context(), &link)
			default:
				_, err = c.DeleteLink(t.Context(), link.ID1, link.Type, link.ID2)
			}
			if err == nil {
				break
			}
			if drivers.ClassOf(err) != drivers.Retryable {
				return err
			}
		}
	}
	return nil
}

// wholeRun loads with several loaders, verifies, requests with several
// requesters, and verifies again.
func (s Suite) wholeRun(t *testing.T, l linkbench.Layout) {
	db, w := s.database(t), s.workload(t)
	ctx := t.Context()
	cfg := w.Config()
	l.FirstNewNode = cfg.MaxID1
	check(t, linkbench.Prepare(ctx, w, db, false))
	check(t, linkbench.CreateTables(ctx, db, l, false))
	if err := linkbench.Prepare(ctx, w, db, false); err == nil {
		t.Error("tables that exist weren't refused")
	}
	session := session(t, db)
	_, acked, err := linkbench.Load(ctx, w, session)
	check(t, err)
	want := linkbench.Expected(w)
	want.NodeBytes, want.LinkBytes = acked.NodeBytes, acked.LinkBytes
	if acked != want {
		t.Errorf("loaded %+v, want %+v", acked, want)
	}
	if v, err := linkbench.Verify(ctx, w, db, linkbench.CheckLoaded); err != nil {
		t.Errorf("before the index: %v; %v", err, v.Differences)
	}
	_, err = linkbench.BuildIndex(ctx, session, l, acked.Links)
	check(t, err)
	v, err := linkbench.Verify(ctx, w, db, linkbench.CheckLoaded)
	if err != nil {
		t.Errorf("after the index: %v; %v", err, v.Differences)
	}
	if v.Expected["link_bytes"] != acked.LinkBytes || v.Expected["node_bytes"] != acked.NodeBytes {
		t.Errorf("verified %v, loaded %+v", v.Expected, acked)
	}
	_, stats, err := linkbench.Requests(ctx, w, linkbench.RequestPlan{}, session)
	check(t, err)
	var done int64
	for op, o := range stats.Ops {
		done += o.Done
		if o.Done == 0 || o.Errors > 0 {
			t.Errorf("%v: %+v", graph.Op(op), o)
		}
	}
	if want := cfg.Run.RequestsPerRequester * int64(cfg.Run.Requesters); done != want {
		t.Errorf("%d requests done, want %d", done, want)
	}
	if v, err := linkbench.Verify(ctx, w, db, linkbench.CheckConsistent); err != nil {
		t.Errorf("after requests: %v; %v", err, v.Differences)
	}
	rows, err := db.TableRows(ctx)
	check(t, err)
	added, deleted := stats.Ops[graph.AddNode].Done, stats.Ops[graph.DeleteNode].Found
	if rows.Nodes != acked.Nodes+added-deleted {
		t.Errorf("%d nodes, want %d loaded + %d added - %d deleted", rows.Nodes, acked.Nodes, added, deleted)
	}
}
