package results_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/results"
)

func TestPieces(t *testing.T) {
	first := []results.Piece{
		{Kind: results.PieceNodes, Ordinal: 0, Nodes: 50, Bytes: 8400},
		{Kind: results.PieceLinks, Ordinal: 0, Links: 100, Counts: 3, Bytes: 1200},
	}
	next := results.Piece{Kind: results.PieceLinks, Ordinal: 7, Links: 9, Bytes: 70}
	w, err := results.Create(t.TempDir(), results.Run{StartedUTC: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := results.LoadPieces(w.Dir()); !errors.Is(err, results.ErrNoPieces) {
		t.Errorf("before the load: %v", err)
	}
	if err := w.AppendPiece(next); err == nil {
		t.Error("a piece was taken before there was a file")
	}
	for _, err := range []error{w.StartPieces(first), w.AppendPiece(next), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(w.Dir(), "pieces.jsonl")
	const want = `{"kind":"nodes","ordinal":0,"nodes":50,"links":0,"counts":0,"bytes":8400}
{"kind":"links","ordinal":0,"nodes":0,"links":100,"counts":3,"bytes":1200}
{"kind":"links","ordinal":7,"nodes":0,"links":9,"counts":0,"bytes":70}
`
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%v, the file is\n%s", err, text)
	}
	// Torn in its last line, and the last line of a full disk.
	for _, torn := range []string{want + `{"kind":"nodes","ordinal":1,"nod`, want + want, want + `{"kind":"nodes","ordinal":1,"nodes":1,"links":0,"counts":0,"bytes":1}`} {
		if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{w.Dir(), filepath.Join(w.Dir(), "run.json")} {
			got, err := results.LoadPieces(name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(append(first[:2:2], next), got); d != "" {
				t.Errorf("-want +read:\n%s", d)
			}
		}
	}
}

func TestPiecesRefused(t *testing.T) {
	const good = `{"kind":"nodes","ordinal":1,"nodes":2,"links":0,"counts":0,"bytes":3}` + "\n"
	for text, want := range map[string]string{
		"{\"kind\":\"nod\n":                                       "line 1: it isn't a piece",
		good + "\n":                                               "line 2: it isn't a piece",
		`{"kind":"edges","ordinal":1}` + "\n":                     `a piece of "edges"`,
		`{"kind":"nodes","ordinal":-1}` + "\n":                    "below 0",
		`{"kind":"nodes","ordinal":1e99}` + "\n":                  "it isn't a piece",
		good + strings.Replace(good, `"nodes":2`, `"nodes":3`, 1): "line 2: piece 1 of the nodes isn't what it was",
	} {
		if _, err := results.ReadPieces(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadPieces(f *testing.F) {
	f.Add([]byte("{\"kind\":\"nodes\",\"ordinal\":1,\"nodes\":2,\"bytes\":3}\n{\"kind\":\"links\",\"ordinal\":1,\"links\":2,\"counts\":1}\n{\"ki"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		pieces, err := results.ReadPieces(bytes.NewReader(text))
		if err != nil {
			return
		}
		// No more pieces than whole lines, none of them twice.
		if n := bytes.Count(text, []byte("\n")); len(pieces) > n {
			t.Fatalf("%d pieces on %d lines", len(pieces), n)
		}
		seen := map[results.Piece]bool{}
		for _, p := range pieces {
			name := results.Piece{Kind: p.Kind, Ordinal: p.Ordinal}
			if seen[name] || p.Ordinal < 0 || p.Bytes < 0 {
				t.Fatalf("%+v", p)
			}
			seen[name] = true
		}
	})
}
