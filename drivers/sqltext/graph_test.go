package sqltext

import (
	"testing"

	"insertbench/linkbench/graph"
)

// Both literals hold every byte; MySQL's escapes what ends a literal or would
// end its text.
func TestLiterals(t *testing.T) {
	for _, tt := range []struct{ data, hex, quoted string }{
		{"", "X''", "''"},
		{"abc", "X'616263'", "'abc'"},
		{"a'b\\c\x00d", "X'6127625c630064'", `'a\'b\\c\0d'`},
		{"\xff\x80\n\x1a\"", "X'ff800a1a22'", "'\xff\x80\n\x1a\"'"},
		{"''", "X'2727'", `'\'\''`},
	} {
		if got := string(Hex(nil, []byte(tt.data))); got != tt.hex {
			t.Errorf("%q: %s, want %s", tt.data, got, tt.hex)
		}
		if got := string(Backslashed(nil, []byte(tt.data))); got != tt.quoted {
			t.Errorf("%q: %q, want %q", tt.data, got, tt.quoted)
		}
	}
}

func TestGraphBatches(t *testing.T) {
	links := NewLinks(Backslashed)
	for range 2 { // the second time in the buffer of the first
		links.Append(&graph.Link{ID1: 1, Type: 2, ID2: 3, Visibility: 1, Version: 4, TimeMS: 5, Data: []byte("x'y")})
		links.Append(&graph.Link{ID1: 6, Type: 7, ID2: 8})
		want := `INSERT INTO linktable (id1, id2, link_type, visibility, data, time, version) VALUES (1,3,2,1,'x\'y',5,4),(6,8,7,0,'',0,0)`
		if got := links.Text(); got != want || links.Rows() != 2 {
			t.Errorf("%d rows: %s, want %s", links.Rows(), got, want)
		}
		links.Reset()
	}
	nodes := NewNodes(Hex)
	nodes.Append(&graph.Node{ID: 1, Type: 2, Version: 3, TimeS: 4, Data: []byte{5}})
	if got, want := nodes.Text(), "INSERT INTO nodetable (id, type, version, time, data) VALUES (1,2,3,4,X'05')"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	counts := NewCounts()
	counts.Append(&graph.Count{ID: 1, Type: 2, Count: 3, TimeMS: 4, Version: 5})
	if got, want := counts.Text(), "INSERT INTO counttable (id, link_type, count, time, version) VALUES (1,2,3,4,5)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The bound is above the widest rows whose every byte is escaped.
func TestMaxBatchBytes(t *testing.T) {
	const rows, dataBytes = 50, 40
	widest := graph.Link{ID1: -1 << 63, Type: -1 << 63, ID2: -1 << 63, Visibility: -128, Version: -1 << 31, TimeMS: -1 << 63, Data: make([]byte, dataBytes)}
	for _, literal := range []Literal{Backslashed, Hex} {
		b := NewLinks(literal)
		for range rows {
			b.Append(&widest)
		}
		if got, bound := int64(len(b.Text())), MaxBatchBytes(rows, rows*dataBytes, 2); got > bound {
			t.Errorf("a statement of %d bytes, above the bound of %d", got, bound)
		}
	}
}

func TestGraphNoAllocations(t *testing.T) {
	b := NewLinks(Backslashed)
	l := graph.Link{ID1: 1 << 40, Type: graph.FirstLinkType, ID2: 1 << 41, Visibility: 1, TimeMS: 1 << 42, Data: []byte("it's\\a payload\x00")}
	statement := func() {
		b.Reset()
		for range 1024 {
			b.Append(&l)
		}
	}
	statement()
	if got := testing.AllocsPerRun(20, statement); got != 0 {
		t.Errorf("%v allocations for a statement of 1,024 links, want 0", got)
	}
}
