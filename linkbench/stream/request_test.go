package stream

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/javarand"
)

func one(t testing.TB, c config.Config) *Requests {
	t.Helper()
	return workload(t, c).Requests(0, 1, 1)[0]
}

// Of 100,000 requests each operation's share is within five standard deviations of its percentage,
// 5·sqrt(0.51·0.49/1e5) = 0.79 percentage points at most. A multiget asks for 3.62 links on average (1+1/0.382), and for
// 2.62 with compat off; their deviation is sqrt(0.618)/0.382 = 2.06, so five of 12,000 multigets' mean are 0.1.
func TestMix(t *testing.T) {
	for _, m := range compat.Modes() {
		c := config.Default(config.P2017)
		c.MaxID1, c.Compat = 100_001, m
		r := one(t, c)
		var seen Mix
		ids, gets := 0, 0
		const n = 100_000
		for range n {
			q := r.Next(0)
			seen[q.Op]++
			if q.Op == graph.MultigetLinks {
				ids += len(q.ID2s)
				gets++
			}
		}
		for op, p := range c.Mix {
			if got := seen[op] / n * 100; math.Abs(got-p) > 0.8 {
				t.Errorf("%v: %v %v %%, want %v", m, graph.Op(op), got, p)
			}
		}
		want := 3.62
		if m == compat.Off {
			want = 2.62
		}
		if got := float64(ids) / float64(gets); math.Abs(got-want) > 0.15 {
			t.Errorf("%v: %v links per multiget, want %v", m, got, want)
		}
	}
}

type Mix = config.Mix

// With compat off every id is one of the graph; otherwise id2s may be anything below maxid1, from 0.
func TestRanges(t *testing.T) {
	for _, m := range compat.Modes() {
		c := config.Default(config.P2011)
		c.StartID1, c.MaxID1, c.Compat = 501, 1501, m
		c.Degree.Cap = 100
		r := one(t, c)
		low := int64(math.MaxInt64)
		for range 50_000 {
			q := r.Next(1_600_000_000_123)
			switch q.Op {
			case graph.GetNode, graph.UpdateNode, graph.DeleteNode:
				if q.Node.ID < 501 || q.Node.ID >= 1501 {
					t.Fatalf("%v of node %d", q.Op, q.Node.ID)
				}
			case graph.AddNode:
			default:
				if q.Link.ID1 < 501 || q.Link.ID1 >= 1501 {
					t.Fatalf("%v of id1 %d", q.Op, q.Link.ID1)
				}
			}
			if q.Op == graph.AddLink {
				low = min(low, q.Link.ID2)
				if q.Link.TimeMS != 1_600_000_000_123 || q.Link.Visibility != graph.Visible {
					t.Fatalf("%+v", q.Link)
				}
			}
			if q.Op == graph.AddNode && (q.Node.TimeS != 1_600_000_000 || q.Node.Version != 1) {
				t.Fatalf("%+v", q.Node)
			}
		}
		if belongs := low >= 501; belongs != (m != compat.Y2020) {
			t.Errorf("%v: lowest id2 of an add %d", m, low)
		}
	}
}

// Requesters first..first+n of many are the same as when made from the first on: client processes can share the
// requesters of one run.
func TestRequestersAreNumbered(t *testing.T) {
	c := config.Default(config.Demo)
	w := workload(t, c)
	all, part := w.Requests(0, 6, 6), w.Requests(4, 2, 6)
	for i, r := range part {
		for range 500 {
			if d := cmp.Diff(all[4+i].Next(5), r.Next(5)); d != "" {
				t.Fatalf("requester %d:\n%s", 4+i, d)
			}
		}
	}
}

func TestRoundsDiffer(t *testing.T) {
	w := workload(t, config.Default(config.Demo))
	if w.Round(0) != w {
		t.Error("round 0 is another workload")
	}
	differ := 0
	a, b, again := w.Round(1).Requests(0, 1, 1)[0], w.Requests(0, 1, 1)[0], w.Round(1).Requests(0, 1, 1)[0]
	for range 500 {
		q := a.Next(5)
		if cmp.Equal(q, b.Next(5)) {
			differ--
		}
		differ++
		if d := cmp.Diff(q, again.Next(5)); d != "" {
			t.Fatalf("round 1 isn't repeatable:\n%s", d)
		}
	}
	if differ < 450 {
		t.Errorf("%d of 500 requests of rounds 0 and 1 differ", differ)
	}
}

func TestPartitionedID2(t *testing.T) {
	c := config.Default(config.Demo)
	c.PartitionID2, c.Run.Requesters = true, 3
	for i, r := range workload(t, c).Requests(0, 3, 3) {
		for range 2000 {
			if q := r.Next(0); q.Op == graph.AddLink && q.Link.ID2%3 != int64(i) {
				t.Fatalf("requester %d adds a link to %d", i, q.Link.ID2)
			}
		}
	}
}

// lists makes a generator that only lists, half of the time for an older page.
func lists(t *testing.T) *Requests {
	t.Helper()
	c := config.Default(config.Demo)
	c.Mix = config.Mix{graph.ListLinks: 100}
	c.HistoryPercent = 50
	return one(t, c)
}

func TestHistory(t *testing.T) {
	r := lists(t)
	for range 100 {
		q := r.Next(0)
		if q.History || q.Offset != 0 || q.MaxTimeMS != math.MaxInt64 || q.Limit != 10000 {
			t.Fatalf("%+v with nothing to look back on", q)
		}
		r.Listed(9999, 77) // not a full page
	}
	q := r.Next(0)
	id1 := q.Link.ID1
	r.Listed(10000, 77)
	older := func() *Request {
		for range 100 {
			if q := r.Next(0); q.History {
				return q
			}
			r.Listed(1, 1)
		}
		t.Fatal("no older page in a hundred lists")
		return nil
	}
	if q := older(); q.Link.ID1 != id1 || q.MaxTimeMS != 77 || q.Offset != 1 {
		t.Errorf("%+v", q)
	}
	r.Listed(10000, 66)
	if q := older(); q.MaxTimeMS != 66 {
		t.Errorf("second page %+v", q)
	}
	r.Listed(9, 55) // the last page: forgotten
	for range 100 {
		if r.Next(0).History {
			t.Fatal("a list seen to its end is asked for again")
		}
		r.Listed(1, 1)
	}
}

func TestHistoryEviction(t *testing.T) {
	h, rng := newHistory(), javarand.New(1)
	for i := range int64(10000) {
		h.add(page{listKey{i, 1}, i}, rng)
		h.add(page{listKey{i, 1}, -1}, rng) // known already
	}
	if len(h.pages) != historyEntries || len(h.index) != historyEntries {
		t.Fatalf("%d pages, %d in the index", len(h.pages), len(h.index))
	}
	for len(h.pages) > 0 {
		p := h.choose(rng)
		if h.pages[h.index[p.listKey]] != p || p.oldestMS < 0 {
			t.Fatalf("index of %+v is wrong", p)
		}
		h.remove(p.listKey)
		h.remove(p.listKey)
	}
	if len(h.index) != 0 {
		t.Errorf("%d left in the index", len(h.index))
	}
}

// By hand, ids 1 to 100 and a first draw x of nextInt(100)+1 from seed 12345: 51+1 = 52.
func TestArithmeticAccess(t *testing.T) {
	x := 1 + javarand.New(12345).Int64n(100)
	if x != 52 {
		t.Fatalf("x = %d", x)
	}
	for _, c := range []struct {
		access config.Access
		want   int64
	}{
		{config.Access{Kind: config.Reciprocal}, 2},               // ceil(100/52)
		{config.Access{Kind: config.Multiple, Config: 10}, 60},    // 10·ceil(5.2)
		{config.Access{Kind: config.Multiple, Config: 150}, 100},  // 150, beyond the last
		{config.Access{Kind: config.Power, Config: 2}, 64},        // 2^ceil(5.7)
		{config.Access{Kind: config.PerfectPower, Config: 2}, 64}, // ceil(7.2)²
		{config.Access{Kind: config.PerfectPower, Config: 3}, 64}, // ceil(3.7)³
		{config.Access{Kind: config.RoundRobin}, 8},               // after 7
		{config.Access{Kind: config.Power, Config: 7}, 100},       // 7³ = 343, beyond the last
	} {
		cfg := config.Default(config.P2017)
		cfg.MaxID1 = 101
		ch := newChooser(&cfg, nodeReads, c.access, "", nil)
		if got := ch.choose(javarand.New(12345), &position{last: 7}); got != c.want {
			t.Errorf("%v %d: %d, want %d", c.access.Kind, c.access.Config, got, c.want)
		}
	}
}

// Buffers grow to the largest payload seen; once they have, nothing is allocated.
func TestRequestsAllocateNothing(t *testing.T) {
	for _, m := range compat.Modes() {
		c := config.Default(config.P2017)
		c.MaxID1, c.Compat = 1_000_001, m
		r := one(t, c)
		r.buf = make([]byte, graph.MaxNodeBytes)
		if n := testing.AllocsPerRun(20_000, func() { r.Next(0) }); n != 0 {
			t.Errorf("%v: %v allocations per request", m, n)
		}
	}
}

// More than 2^31 ids, where the original breaks.
func TestManyIDs(t *testing.T) {
	c := config.Default(config.P2017)
	c.MaxID1 = 5_000_000_001
	r := one(t, c)
	above := 0
	for range 20_000 {
		q := r.Next(0)
		id := q.Node.ID
		if q.Op < graph.AddNode {
			id = q.Link.ID1
		}
		if q.Op != graph.AddNode && (id < 1 || id > 5_000_000_000) {
			t.Fatalf("%v of %d", q.Op, id)
		}
		if id > math.MaxInt32 {
			above++
		}
	}
	// The permutation spreads hot ranks evenly: 1 - 2^31/5e9 = 57 % of the ids are above 2^31; half will do.
	if above < 5000 {
		t.Errorf("%d of 20,000 ids above 2^31", above)
	}
}

func BenchmarkRequests(b *testing.B) {
	for _, p := range []config.Profile{config.P2017, config.P2011} {
		b.Run(p.String(), func(b *testing.B) {
			c := config.Default(p)
			r := one(b, c)
			b.ReportAllocs()
			for b.Loop() {
				r.Next(0)
			}
		})
	}
}
