package properties

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Expectations follow the documentation of java.util.Properties.load.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []Entry
	}{
		{"empty", "", nil},
		{"comments", "# a = b\n! c = d\n\n   # indented\n", nil},
		{"separators", "a=1\nb: 2\nc 3\nd\t=\t4\ne   =5 \n", []Entry{{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}, {"d", "4", 4}, {"e", "5", 5}}},
		{"no value", "a\nb=\n", []Entry{{"a", "", 1}, {"b", "", 2}}},
		{"second separator is value", "url=jdbc:x=y\n", []Entry{{"url", "jdbc:x=y", 1}}},
		{"continued", "fruits = apple, \\\n    pear\nx=1", []Entry{{"fruits", "apple, pear", 1}, {"x", "1", 3}}},
		{"double backslash doesn't continue", "a=b\\\\\nc=d", []Entry{{"a", `b\`, 1}, {"c", "d", 2}}},
		{"comment mark inside a continuation", "a=b\\\n#c", []Entry{{"a", "b#c", 1}}},
		{"continued at the end", "a=b\\", []Entry{{"a", "b", 1}}},
		{"escapes", `a\ b\=c=x\ty\u0041` + "\n", []Entry{{"a b=c", "x\tyA", 1}}},
		{"crlf and cr", "a=1\r\nb=2\rc=3", []Entry{{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}}},
		{"latin-1", "a=\xe9", []Entry{{"a", "é", 1}}},
		{"surrogates", `a=\ud83d\ude00`, []Entry{{"a", "😀", 1}}},
		{"again", "a=1\na=2", []Entry{{"a", "1", 1}, {"a", "2", 2}}},
	} {
		got, err := Parse(strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestParseNamesTheLine(t *testing.T) {
	_, err := Parse(strings.NewReader("a=1\nb=\\u12\n"))
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v, want line 2 named", err)
	}
}

func TestAssignment(t *testing.T) {
	if got, err := Assignment("maxid1 = 1000001"); err != nil || got != (Entry{Key: "maxid1", Value: "1000001"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "maxid1", "=5"} {
		if _, err := Assignment(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.properties")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, s := range seeds {
		b, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := Parse(bytes.NewReader(b))
		if err != nil {
			return
		}
		lines := bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r")) + 1
		last := 0
		for _, e := range entries {
			if e.Line <= last || e.Line > lines {
				t.Errorf("line %d after %d of %d", e.Line, last, lines)
			}
			last = e.Line
		}
	})
}
