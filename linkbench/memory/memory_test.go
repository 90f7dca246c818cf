package memory

import (
	"testing"

	"insertbench/linkbench"
	"insertbench/linkbench/linktest"
)

func TestConformance(t *testing.T) {
	s := New()
	linktest.Run(t, linktest.Suite{
		Open:    func(testing.TB) linkbench.Database { return s },
		Layouts: []linkbench.Layout{{Index: linkbench.IndexCovering}},
	})
}
