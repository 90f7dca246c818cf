package linkbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// ErrVerify marks a difference between what the database holds and what it
// should.
var ErrVerify = errors.New("verification failed")

// Check says what a database is compared with.
type Check string

const (
	// CheckLoaded: nodes, links and counts are those generated, as after a load
	// and before requests. Rows are generated again, not remembered.
	CheckLoaded Check = "loaded"
	// CheckConsistent: every count row equals its visible links, and no links
	// are without one, as after requests.
	CheckConsistent Check = "consistent"
)

// maxDifferences bounds those named; more are counted.
const maxDifferences = 20

// Verify reads all tables back, ids in chunks of loader_chunk_size, and
// compares. A difference is an error of kind ErrVerify. Memory grows with the
// chunk, not with the graph.
func Verify(ctx context.Context, w *stream.Workload, db Auditor, c Check) (*results.Verify, error) {
	begin := time.Now()
	v := &verifier{w: w, db: db, check: c, out: &results.Verify{Mode: string(c)}}
	err := v.run(ctx)
	v.out.Seconds = results.Known(time.Since(begin).Seconds())
	if err != nil {
		return v.out, fmt.Errorf("verify: %w", err)
	}
	passed := v.differences == 0
	v.out.Passed = &passed
	if !passed {
		if v.differences == 1 {
			return v.out, fmt.Errorf("%w: %s", ErrVerify, v.out.Differences[0])
		}
		return v.out, fmt.Errorf("%w: %d differences, the first: %s", ErrVerify, v.differences, v.out.Differences[0])
	}
	return v.out, nil
}

// maxOutside is how many count rows may be outside the ids of the graph:
// those are held in memory at once.
const maxOutside = 1 << 20

// verifier compares one chunk of ids after the other.
type verifier struct {
	w           *stream.Workload
	db          Auditor
	check       Check
	out         *results.Verify
	differences int64
	rows        Rows // of the tables
	scanned     Rows // seen by scans of known link types
	loaded      LoadSums
	found       LoadSums

	chunk  chunk
	counts []graph.Count // of the chunk and type
}

func (v *verifier) differ(format string, args ...any) {
	if v.differences++; v.differences <= maxDifferences {
		v.out.Differences = append(v.out.Differences, fmt.Sprintf(format, args...))
	}
}

func (v *verifier) run(ctx context.Context) error {
	if v.check != CheckLoaded && v.check != CheckConsistent {
		return fmt.Errorf("check %q is unknown: use loaded or consistent", v.check)
	}
	cfg := v.w.Config()
	var err error
	if v.rows, err = v.db.TableRows(ctx); err != nil {
		return err
	}
	if !v.fits() {
		return nil
	}
	if err := v.outside(ctx, 0, cfg.StartID1); err != nil {
		return err
	}
	if err := v.outside(ctx, cfg.MaxID1, math.MaxInt64); err != nil {
		return err
	}
	if v.check == CheckLoaded {
		if err := v.nodes(ctx); err != nil {
			return err
		}
	}
	if err := v.links(ctx); err != nil {
		return err
	}
	v.totals()
	return nil
}

// fits says whether the tables may be of the graph at all. One of other ids
// would not be read in bounded memory, and have differences without end.
func (v *verifier) fits() bool {
	cfg := v.w.Config()
	most := cfg.Nodes() * int64(cfg.LinkTypes)
	if v.rows.Counts-maxOutside <= most {
		return true
	}
	v.differ("the tables hold %d counts, and ids from %d to below %d have %d at most: verify with the --startid1, --maxid1 and link_type_count that the graph was loaded with",
		v.rows.Counts, cfg.StartID1, cfg.MaxID1, most)
	v.out.Found = v.rows.found()
	return false
}

// found is how a record has it.
func (r Rows) found() map[string]int64 {
	return map[string]int64{"nodes": r.Nodes, "links": r.Links, "counts": r.Counts}
}

// outside checks ids that the load made nothing of. Requests add nodes above,
// and no links or counts.
func (v *verifier) outside(ctx context.Context, from, to int64) error {
	if from == to {
		return nil
	}
	for k := range v.w.Config().LinkTypes {
		if err := v.compare(ctx, k, from, to); err != nil {
			return err
		}
	}
	if v.check != CheckLoaded || !v.w.Config().GenerateNodes {
		return nil
	}
	got, err := v.db.SumNodes(ctx, from, to)
	if err != nil {
		return err
	}
	if got.Rows > 0 {
		v.differ("%d nodes with ids from %d to below %d, where none were loaded", got.Rows, from, to)
	}
	v.found.Nodes += got.Rows
	v.found.NodeBytes += got.DataBytes
	return nil
}

// nodes compares the nodes of each piece with those generated again.
func (v *verifier) nodes(ctx context.Context) error {
	if !v.w.Config().GenerateNodes {
		return nil
	}
	gen, cut := v.w.Nodes(), v.w.NodePieces()
	for p, ok := cut.Next(); ok; p, ok = cut.Next() {
		var want NodeSums
		gen.Start(p)
		for n := gen.Next(); n != nil; n = gen.Next() {
			want.Rows++
			want.DataBytes += int64(len(n.Data))
		}
		got, err := v.db.SumNodes(ctx, p.First, p.End)
		if err != nil {
			return err
		}
		if got != want {
			v.differ("nodes %d to %d: %d rows with %d bytes of data, where %d rows with %d bytes were loaded",
				p.First, p.End-1, got.Rows, got.DataBytes, want.Rows, want.DataBytes)
		}
		v.loaded.Nodes += want.Rows
		v.loaded.NodeBytes += want.DataBytes
		v.found.Nodes += got.Rows
		v.found.NodeBytes += got.DataBytes
	}
	return nil
}

// links compares the links and counts of each chunk, in the order of the load,
// which the stream of the original needs.
func (v *verifier) links(ctx context.Context) error {
	gen, cut := v.w.Links(), v.w.Pieces()
	p, more := cut.Next()
	for more {
		v.chunk.start(v.w, p.First)
		for ; more && p.First < v.chunk.end && p.First >= v.chunk.first; p, more = cut.Next() {
			if v.check == CheckLoaded {
				v.chunk.generate(gen, p)
			}
		}
		for k := range v.w.Config().LinkTypes {
			if err := v.compare(ctx, k, v.chunk.first, v.chunk.end); err != nil {
				return err
			}
		}
	}
	v.chunk = chunk{}
	return nil
}

// compare reads counts and links of a type for ids from ≤ id < to.
func (v *verifier) compare(ctx context.Context, k int, from, to int64) error {
	v.counts = v.counts[:0]
	typ := graph.FirstLinkType + int64(k)
	err := v.db.ScanCounts(ctx, typ, from, to, func(c graph.Count) error {
		if n := len(v.counts); n > 0 && v.counts[n-1].ID >= c.ID {
			return fmt.Errorf("count rows of type %d aren't in order of id: %d after %d", typ, c.ID, v.counts[n-1].ID)
		}
		v.counts = append(v.counts, c)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	v.scanned.Counts += int64(len(v.counts))
	rest, next := v.counts, from
	err = v.db.SumLinks(ctx, typ, from, to, func(s LinkSums) error {
		if s.ID1 < next || s.ID1 >= to {
			return fmt.Errorf("links of type %d aren't in order of id1: %d where at least %d was due", typ, s.ID1, next)
		}
		v.chunk.missing(v, k, next, s.ID1)
		for len(rest) > 0 && rest[0].ID < s.ID1 {
			v.alone(rest[0])
			rest = rest[1:]
		}
		count := graph.Count{ID: s.ID1, Type: typ}
		exists := len(rest) > 0 && rest[0].ID == s.ID1
		if exists {
			count, rest = rest[0], rest[1:]
		}
		v.pair(k, s, count, exists)
		next = s.ID1 + 1
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	v.chunk.missing(v, k, next, to)
	for _, c := range rest {
		v.alone(c)
	}
	return nil
}

// alone is a count row without links.
func (v *verifier) alone(c graph.Count) {
	if c.Count != 0 {
		v.differ("count of id %d, type %d is %d, and it has no links", c.ID, c.Type, c.Count)
	}
	v.found.Counts++
}

// pair is the links of an id and type, and its count row if there is one.
func (v *verifier) pair(k int, s LinkSums, c graph.Count, exists bool) {
	v.scanned.Links += s.Links
	v.found.Links += s.Links
	v.found.LinkBytes += s.DataBytes
	if exists {
		v.found.Counts++
	}
	if c.Count != s.Visible {
		word := "is"
		if !exists {
			word = "is missing, so"
		}
		v.differ("count of id %d, type %d %s %d, and it has %d visible links", s.ID1, c.Type, word, c.Count, s.Visible)
	}
	if v.check != CheckLoaded {
		return
	}
	want := v.chunk.at(s.ID1, k)
	v.loaded.add(LoadSums{Links: want.Links, LinkBytes: want.DataBytes})
	if want.Links > 0 {
		v.loaded.Counts++
	}
	if want.ID1 = s.ID1; s != want {
		v.differ("links of id1 %d, type %d: %d, %d of them visible, sum of id2 %d, %d bytes of data, where %d, %d, %d and %d were loaded",
			s.ID1, c.Type, s.Links, s.Visible, s.SumID2, s.DataBytes, want.Links, want.Visible, want.SumID2, want.DataBytes)
	}
}

// totals compares what the scans saw with the sizes of the tables: the
// difference is rows of unknown link types.
func (v *verifier) totals() {
	rows := v.rows
	if rows.Links != v.scanned.Links || rows.Counts != v.scanned.Counts {
		v.differ("the tables hold %d links and %d counts, and only %d and %d of them have one of the %d link types",
			rows.Links, rows.Counts, v.scanned.Links, v.scanned.Counts, v.w.Config().LinkTypes)
	}
	v.out.Found = rows.found()
	if v.check == CheckLoaded {
		v.out.Expected = map[string]int64{"links": v.loaded.Links, "counts": v.loaded.Counts, "link_bytes": v.loaded.LinkBytes}
		v.out.Found["link_bytes"] = v.found.LinkBytes
		if v.w.Config().GenerateNodes {
			v.out.Expected["nodes"], v.out.Expected["node_bytes"] = v.loaded.Nodes, v.loaded.NodeBytes
			v.out.Found["node_bytes"] = v.found.NodeBytes
		}
	}
}
