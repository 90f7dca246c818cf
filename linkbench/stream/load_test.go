package stream

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/config"
	"insertbench/linkbench/degree"
)

// small is a graph with a super-node: real degrees of 3,000 ids, none above 3,000, in pieces of 500 links.
func small(m compat.Mode, s config.Stream) config.Config {
	c := config.Default(config.Demo)
	c.Compat, c.Stream, c.MaxID1 = m, s, 3001
	c.ChunkIDs, c.PieceLinks = 256, 500
	c.Run.Loaders = 1
	return c
}

// loaded sums up a load, independent of the order of its rows.
type loaded struct {
	links, counts, countSum int64
	edges                   uint64 // of ids, types and visibility
	rows                    uint64 // of everything
}

func digest(format string, args ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, format, args...)
	return h.Sum64()
}

func (s *loaded) take(gen *Links, p Piece) {
	gen.Start(p)
	for {
		switch gen.Next() {
		case RowEnd:
			return
		case RowLink:
			l := &gen.Link
			s.links++
			s.edges += digest("%d %d %d %d", l.ID1, l.Type, l.ID2, l.Visibility)
			s.rows += digest("%+v", *l)
		case RowCount:
			c := &gen.Count
			s.counts++
			s.countSum += c.Count
			s.edges += digest("count %d %d %d", c.ID, c.Type, c.Count)
			s.rows += digest("%+v", *c)
		}
	}
}

func pieces(w *Workload) []Piece {
	var ps []Piece
	cut := w.Pieces()
	for p, ok := cut.Next(); ok; p, ok = cut.Next() {
		ps = append(ps, p)
	}
	return ps
}

func TestLoadIsComplete(t *testing.T) {
	for _, mode := range compat.Modes() {
		var first loaded
		for _, s := range []config.Stream{config.Original, config.Pieces} {
			w := workload(t, small(mode, s))
			var got loaded
			gen := w.Links()
			for _, p := range pieces(w) {
				got.take(gen, p)
			}
			want := w.Degrees().Totals()
			if got.links != want.Links || got.counts != want.Counts || got.countSum != want.Links {
				t.Errorf("%v %v: %+v, want %+v", mode, s, got, want)
			}
			if s == config.Original {
				first = got
			} else if got.edges != first.edges {
				t.Errorf("%v: edges differ between streams", mode)
			}
		}
	}
}

// Any number of loaders, each taking any pieces in any order, must make the same rows.
func TestPiecesAreIndependent(t *testing.T) {
	w := workload(t, small(compat.Y2020, config.Pieces))
	ps := pieces(w)
	var want loaded
	gen := w.Links()
	for _, p := range ps {
		want.take(gen, p)
	}
	for loaders := 1; loaders <= 5; loaders++ {
		gens := make([]*Links, loaders)
		for i := range gens {
			gens[i] = w.Links()
		}
		var got loaded
		for i := range ps {
			got.take(gens[i%loaders], ps[len(ps)-1-i])
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(loaded{})); d != "" {
			t.Errorf("%d loaders (-one +ours):\n%s", loaders, d)
		}
	}
}

func TestPieceSizes(t *testing.T) {
	w := workload(t, small(compat.Y2020, config.Pieces))
	sliced, gen := 0, w.Links()
	for i, p := range pieces(w) {
		var got loaded
		got.take(gen, p)
		if got.links > 500 || p.Ordinal != int64(i) {
			t.Errorf("%+v has %d links", p, got.links)
		}
		if p.From > 0 {
			sliced++
		}
	}
	// The top id has 3,000 links, cut into six slices; more ids are above 500.
	if sliced < 5 {
		t.Errorf("%d pieces begin inside a list", sliced)
	}
}

// The reference's example: ids 1 to 10,000,000 in chunks of 2,048 make 4,883 chunks, the first served
// [9998337,10000001), the last [1,2049).
func TestChunkOrder(t *testing.T) {
	c := config.Default(config.P2017)
	c.Stream, c.Run.Loaders = config.Original, 1
	c.Degree = degree.Spec{Kind: degree.Const, Default: 2}
	ps := pieces(workload(t, c))
	first, last := ps[0], ps[len(ps)-1]
	if len(ps) != 4883 || first.First != 9998337 || first.End != 10000001 || last.First != 1 || last.End != 2049 {
		t.Errorf("%d pieces from %+v to %+v", len(ps), first, last)
	}
}

// A count's time is that of its newest link unless the list is cut, and links are 2^32 ms old at most.
func TestTimes(t *testing.T) {
	w := workload(t, small(compat.Y2020, config.Pieces))
	gen := w.Links()
	cut := 0
	for _, p := range pieces(w) {
		newest := map[int64]int64{}
		gen.Start(p)
		for row := gen.Next(); row != RowEnd; row = gen.Next() {
			if row == RowLink {
				l := &gen.Link
				if age := w.cfg.EpochMS - l.TimeMS; age <= 0 || age > 1<<32 {
					t.Fatalf("%+v is %d ms old", l, age)
				}
				newest[l.ID1<<1|l.Type&1] = max(newest[l.ID1<<1|l.Type&1], l.TimeMS)
				continue
			}
			want := newest[gen.Count.ID<<1|gen.Count.Type&1]
			if gen.Count.TimeMS == w.cfg.EpochMS && p.From > 0 {
				cut++
			} else if gen.Count.TimeMS != want {
				t.Errorf("%+v, newest link %d", gen.Count, want)
			}
		}
	}
	if cut == 0 {
		t.Error("no list was cut")
	}
}

// Of two types, the original writes the count of the second before that of the first (reference). Of more, by
// hand: types 123456789+k, k = 0..4, are 0x75BCD15 to 0x75BCD19; xor their upper half 0x75B: low four bits
// 5^B=E, 6^B=D, 7^B=C, 8^B=3, 9^B=2; buckets ascending: 4, 3, 2, 1, 0.
func TestCountOrder(t *testing.T) {
	if d := cmp.Diff([]int{1, 0}, hashOrders(2)[0]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{4, 3, 2, 1, 0}, hashOrders(5)[0]); d != "" {
		t.Error(d)
	}
	if got := len(hashOrders(13)); got != 2 { // above 12 entries the map of 16 doubles
		t.Errorf("%d capacities", got)
	}
}

func TestNodesArePieces(t *testing.T) {
	for _, n := range []int64{1, 255, 256, 257, 1024} { // exact multiples of a piece too
		c := small(compat.Y2020, config.Pieces)
		c.MaxID1 = n + 1
		w := workload(t, c)
		next := int64(1)
		one := w.Nodes()
		cut := w.NodePieces()
		for p, ok := cut.Next(); ok; p, ok = cut.Next() {
			other := w.Nodes() // a loader that starts here
			one.Start(p)
			other.Start(p)
			for a := one.Next(); a != nil; a = one.Next() {
				b := other.Next()
				if d := cmp.Diff(a, b); d != "" || a.ID != next {
					t.Fatalf("node %d, want %d:\n%s", a.ID, next, d)
				}
				next++
			}
			if other.Next() != nil {
				t.Error("pieces of different length")
			}
		}
		if next != n+1 {
			t.Errorf("%d nodes, want %d", next-1, n)
		}
	}
}

func TestPrintAll(t *testing.T) {
	w := workload(t, small(compat.Y2020, config.Pieces))
	var nodes, links bytes.Buffer
	if err := w.PrintNodes(context.Background(), &nodes, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.PrintLinks(context.Background(), &links, 0); err != nil {
		t.Fatal(err)
	}
	totals := w.Degrees().Totals()
	if got := strings.Count(nodes.String(), "\n"); int64(got) != totals.Nodes+1 {
		t.Errorf("%d lines of nodes", got)
	}
	if got := strings.Count(links.String(), "\n"); int64(got) != totals.Links+totals.Counts+1 {
		t.Errorf("%d lines of links and counts, want %d", got, totals.Links+totals.Counts+1)
	}
	if got := strings.Count(links.String(), "\tcount\t"); int64(got) != totals.Counts {
		t.Errorf("%d counts", got)
	}
}

func TestPrintStops(t *testing.T) {
	w := workload(t, small(compat.Y2020, config.Pieces))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, print := range map[string]func() error{
		"nodes":    func() error { return w.PrintNodes(ctx, new(bytes.Buffer), 0) },
		"links":    func() error { return w.PrintLinks(ctx, new(bytes.Buffer), 0) },
		"requests": func() error { return w.PrintRequests(ctx, new(bytes.Buffer), 5000) },
	} {
		if err := print(); err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadAllocatesNothing(t *testing.T) {
	for _, mode := range compat.Modes() {
		w := workload(t, small(mode, config.Pieces))
		gen, ps := w.Links(), pieces(w)
		i := 0
		if n := testing.AllocsPerRun(len(ps)-1, func() {
			gen.Start(ps[i])
			i++
			for gen.Next() != RowEnd {
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations per piece", mode, n)
		}
	}
}

func BenchmarkLinks(b *testing.B) {
	c := config.Default(config.P2017)
	c.MaxID1 = 1_000_001
	w := workload(b, c)
	gen, cut := w.Links(), w.Pieces()
	links := 0
	b.ReportAllocs()
	for b.Loop() {
		for {
			row := gen.Next()
			if row == RowLink {
				break
			}
			if row == RowEnd {
				p, ok := cut.Next()
				if !ok {
					cut = w.Pieces()
					p, _ = cut.Next()
				}
				gen.Start(p)
			}
		}
		links += int(gen.Link.Visibility)
	}
}
