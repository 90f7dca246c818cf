package sqlite_test

import (
	"path/filepath"
	"testing"

	"insertbench/linkbench"
	"insertbench/linkbench/linktest"
)

func TestGraphConformance(t *testing.T) {
	f := file{filepath.Join(t.TempDir(), "graph.db")}
	linktest.Run(t, linktest.Suite{
		Open:    func(t testing.TB) linkbench.Database { return f.open(t).Graph() },
		Layouts: []linkbench.Layout{{Index: linkbench.IndexCovering}, {Index: linkbench.IndexShort}},
	})
}
