package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Piece is a line of pieces.jsonl: a part of a load of which the server
// acknowledged every row.
type Piece struct {
	// Kind and Ordinal name it among all pieces of the load: PieceNodes, or
	// PieceLinks for links and their counts.
	Kind    string `json:"kind"`
	Ordinal int64  `json:"ordinal"`
	// Nodes, Links and Counts are its rows, Bytes their payload.
	Nodes  int64 `json:"nodes"`
	Links  int64 `json:"links"`
	Counts int64 `json:"counts"`
	Bytes  int64 `json:"bytes"`
}

// Kinds of pieces.
const (
	PieceNodes = "nodes"
	PieceLinks = "links"
)

// ErrNoPieces marks a record without pieces.jsonl: its load didn't begin, or
// was of a version that kept none.
var ErrNoPieces = errors.New("it has no " + piecesFile)

// StartPieces makes pieces.jsonl with the pieces that a load goes on from. It
// may be called once.
func (w *Writer) StartPieces(earlier []Piece) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, err := openAppend(w.path(piecesFile))
	if err != nil {
		return err
	}
	w.pieces = f
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for _, p := range earlier {
		if err := enc.Encode(p); err != nil {
			return fmt.Errorf("writing the pieces of the load: %w", err)
		}
	}
	return w.pieces.append(lines.Bytes())
}

// AppendPiece adds a line to pieces.jsonl; it is in the file when the call
// returns, which a killed process doesn't lose. It isn't forced to disk: a
// line that the machine lost is a piece that is sent once more.
func (w *Writer) AppendPiece(p Piece) error {
	line, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing piece %d of the %s: %w", p.Ordinal, p.Kind, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pieces.append(append(line, '\n'))
}

// LoadPieces reads pieces.jsonl of a run, whose folder or run.json dir is,
// each piece once. Where there is none the error is of kind ErrNoPieces.
func LoadPieces(dir string) ([]Piece, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, piecesFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoPieces
	}
	if err != nil {
		return nil, sentence("reading the pieces of the load", path, err)
	}
	defer f.Close()
	pieces, err := ReadPieces(f)
	if err != nil {
		return nil, fmt.Errorf("reading the pieces of the load %s: %w", path, err)
	}
	return pieces, nil
}

// ReadPieces reads lines of pieces.jsonl, each piece once. A last line without
// its end is what a killed run or a full disk leaves, and counts for nothing.
func ReadPieces(r io.Reader) ([]Piece, error) {
	type name struct {
		kind    string
		ordinal int64
	}
	seen := map[name]Piece{}
	var pieces []Piece
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return pieces, nil
		}
		if err != nil {
			return nil, err
		}
		p, err := parsePiece(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		before, twice := seen[name{p.Kind, p.Ordinal}]
		switch {
		case !twice:
			seen[name{p.Kind, p.Ordinal}] = p
			pieces = append(pieces, p)
		case before != p:
			return nil, fmt.Errorf("line %d: piece %d of the %s isn't what it was on a line before", n, p.Ordinal, p.Kind)
		}
	}
}

func parsePiece(line []byte) (Piece, error) {
	var p Piece
	if err := json.Unmarshal(line, &p); err != nil {
		return p, fmt.Errorf("it isn't a piece: %w", err)
	}
	if p.Kind != PieceNodes && p.Kind != PieceLinks {
		return p, fmt.Errorf("a piece of %q: it is of %s or %s", p.Kind, PieceNodes, PieceLinks)
	}
	if min(p.Ordinal, p.Nodes, p.Links, p.Counts, p.Bytes) < 0 {
		return p, errors.New("a piece has a number below 0")
	}
	return p, nil
}
