//go:build unix

package step

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestDirBytes adds files one by one and counts their blocks of 4,096 by hand.
func TestDirBytes(t *testing.T) {
	dir := t.TempDir()
	size := func() int64 {
		t.Helper()
		n, err := DirBytes(dir)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	write := func(name string, at int64, n int) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			_, err = f.WriteAt(make([]byte, n), at)
		}
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	last := size()
	for _, tc := range []struct {
		name string
		make func()
		want int64
	}{
		{"two blocks", func() { write("two", 0, 8192) }, 8192},
		{"a byte more takes a block more", func() { write("three", 0, 8193) }, 3 * 4096},
		{"a second name of the same file", func() { must(t, os.Link(filepath.Join(dir, "two"), filepath.Join(dir, "again"))) }, 0},
		{"a file of holes only", func() { write("holes", 0, 0); must(t, os.Truncate(filepath.Join(dir, "holes"), 1<<20)) }, 0},
		{"a block behind a hole of 1 MiB", func() { write("sparse", 1<<20, 4096) }, 4096},
		{"a link that leads nowhere", func() { must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling"))) }, 0},
	} {
		tc.make()
		now := size()
		if now-last != tc.want {
			t.Errorf("%s: %d bytes, want %d", tc.name, now-last, tc.want)
		}
		last = now
	}
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	last = size() // how much the folder itself takes is the file system's affair
	write("sub/one", 0, 1)
	if got := size() - last; got != 4096 {
		t.Errorf("a file in a folder below: %d bytes, want 4096", got)
	}
	if _, err := DirBytes(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
