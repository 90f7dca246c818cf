package mysql

import (
	"testing"

	"insertbench/ibench"
)

// Reads name their index, as those of the original on MySQL (FORCE INDEX;
// iibench.py, mdcallag/mytools): the optimizer's choice isn't what is measured.
func TestHinted(t *testing.T) {
	for index, want := range map[int]string{
		ibench.PrimaryKey: "pi2 FORCE INDEX (PRIMARY)",
		0:                 "pi2 FORCE INDEX (pi2_marketsegment)",
		1:                 "pi2 FORCE INDEX (pi2_registersegment)",
		2:                 "pi2 FORCE INDEX (pi2_pdc)",
	} {
		if got := hinted("pi2", index); got != want {
			t.Errorf("index %d: %q, want %q", index, got, want)
		}
	}
}
