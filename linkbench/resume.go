package linkbench

import (
	"context"
	"fmt"

	"insertbench/drivers"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// Resumer is a database on which a load that was interrupted can go on.
type Resumer interface {
	// OpenFiller opens a connection of the load whose batches leave a row as
	// it is that exists by its primary key, and insert the others. Whatever
	// else goes wrong with a row is an error as in any load.
	OpenFiller(ctx context.Context) (Loader, error)
	// HasIndex tells whether the link table has its secondary index. One of
	// that name with other columns is an error of kind drivers.ErrConfig.
	HasIndex(ctx context.Context, l Layout) (bool, error)
}

// Resume is what an interrupted load has done: pieces of which every row was
// acknowledged. Rows of the others may be there or not.
type Resume struct {
	pieces []results.Piece
	done   map[pieceName]results.Piece
	sums   LoadSums
	all    int64 // pieces of the whole load
}

// pieceName is what a piece goes by: ordinals of nodes and links are counted
// apart.
type pieceName struct {
	kind    pieceKind
	ordinal int64
}

// recorded is the kind as records have it.
func (k pieceKind) recorded() string {
	if k == nodePiece {
		return results.PieceNodes
	}
	return results.PieceLinks
}

// NewResume compares the pieces of a record, each there once, with those of a
// workload. Pieces that it doesn't have, or has with other rows, are an error
// of kind drivers.ErrConfig.
func NewResume(w *stream.Workload, pieces []results.Piece) (*Resume, error) {
	r := &Resume{pieces: pieces, done: make(map[pieceName]results.Piece, len(pieces))}
	for _, p := range pieces {
		kind := linkPiece
		s := LoadSums{Nodes: p.Nodes, Links: p.Links, Counts: p.Counts, LinkBytes: p.Bytes}
		if p.Kind == results.PieceNodes {
			kind, s.NodeBytes, s.LinkBytes = nodePiece, p.Bytes, 0
		}
		r.done[pieceName{kind, p.Ordinal}] = p
		r.sums.add(s)
	}
	known := 0
	q := newWork(w, nil)
	for p, kind := q.take(); kind != noPiece; p, kind = q.take() {
		r.all++
		got, ok := r.done[pieceName{kind, p.Ordinal}]
		if !ok {
			continue
		}
		known++
		want := results.Piece{Kind: got.Kind, Ordinal: p.Ordinal, Counts: got.Counts, Bytes: got.Bytes}
		if kind == nodePiece {
			want.Nodes, want.Counts = p.End-p.First, 0
		} else {
			want.Links = linksOf(w, p)
		}
		if got != want {
			return nil, drivers.Configf("piece %d of the %s has %d nodes, %d links and %d counts in the record, and the graph has %d, %d and %d: they aren't of one load",
				p.Ordinal, got.Kind, got.Nodes, got.Links, got.Counts, want.Nodes, want.Links, want.Counts)
		}
	}
	if known < len(r.done) {
		return nil, drivers.Configf("the record has %d pieces that the graph doesn't have: they aren't of one load", len(r.done)-known)
	}
	return r, nil
}

// linksOf is how many links a piece has.
func linksOf(w *stream.Workload, p stream.Piece) int64 {
	d := w.Degrees()
	n := int64(0)
	for id := p.First; id < p.End; id++ {
		loaded := d.Loaded(d.Total(id))
		n += min(p.To, loaded) - min(p.From, loaded)
	}
	return n
}

// has tells whether a piece was acknowledged before. A nil Resume has none.
func (r *Resume) has(kind pieceKind, ordinal int64) bool {
	if r == nil {
		return false
	}
	_, ok := r.done[pieceName{kind, ordinal}]
	return ok
}

// Before is what was acknowledged before; nothing for a nil Resume.
func (r *Resume) Before() LoadSums {
	if r == nil {
		return LoadSums{}
	}
	return r.sums
}

// Loaded tells whether no piece is left.
func (r *Resume) Loaded() bool { return int64(len(r.done)) == r.all }

// String says how much was there, for tables.
func (r *Resume) String() string {
	return fmt.Sprintf("resumed: %d of %d pieces were there before", len(r.done), r.all)
}

// Note is what should be known of the figures of the load, a sentence.
func (r *Resume) Note() string {
	return fmt.Sprintf("%s with %d nodes, %d links and %d counts, and aren't in the figures; rows of the others are, though some may have been there",
		r, r.sums.Nodes, r.sums.Links, r.sums.Counts)
}

// prepare refuses what can be known to fail, before anything is touched.
func (r *Resume) prepare(ctx context.Context, w *stream.Workload, db Database, p Plan) error {
	resumer, ok := db.(Resumer)
	switch {
	case !ok:
		return drivers.Configf("a load into %s can't be resumed: load again with --drop", db.Identity().Product)
	case p.Drop:
		return drivers.Configf("a load that is resumed goes on with its tables: leave out --drop")
	}
	if err := NeedTables(ctx, db); err != nil {
		return fmt.Errorf("resume the load: %w", err)
	}
	if err := checkBatch(ctx, w, db); err != nil {
		return err
	}
	if p.IndexAt == IndexNever {
		return nil
	}
	_, err := resumer.HasIndex(ctx, p.Layout)
	return err
}

// hasIndex tells whether the secondary index is there already: never where a
// load begins anew.
func (r *running) hasIndex(ctx context.Context) (bool, error) {
	db, ok := r.s.DB.(Resumer)
	if r.Resume == nil || !ok {
		return false, nil
	}
	return db.HasIndex(ctx, r.Layout)
}
