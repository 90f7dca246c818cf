package iostat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// unpack writes an archive below a new directory. A file whose text starts with "-> " is a symbolic
// link; "{root}" stands for the new directory.
func unpack(t testing.TB, archive string) Root {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		put(t, filepath.Join(dir, f.Name), strings.ReplaceAll(string(f.Data), "{root}", dir))
	}
	return Root{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys")}
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if target, ok := strings.CutPrefix(text, "-> "); ok {
		err = os.Symlink(strings.TrimSpace(target), path)
	} else {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// clock is a clock that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }
func newClock() *clock                   { return &clock{time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)} }

// task is a process to put into a tree.
type task struct {
	pid, ppid                 int
	comm                      string
	user, system, cuser, csys int64
	threads, start, rssPages  int64
	read, written, hwmKB      int64
	state                     string
}

func (k task) put(t testing.TB, r Root) {
	t.Helper()
	if k.comm == "" {
		k.comm = "mysqld"
	}
	if k.state == "" {
		k.state = "S"
	}
	// Field order: man 5 proc, /proc/PID/stat.
	put(t, r.pid(k.pid, "stat"), fmt.Sprintf("%d (%s) %s %d 1 1 0 -1 4194560 9 9 9 9 %d %d %d %d 20 0 %d 0 %d 123456789 %d 18446744073709551615 "+
		"1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n", k.pid, k.comm, k.state, k.ppid, k.user, k.system, k.cuser, k.csys, k.threads, k.start, k.rssPages))
	put(t, r.pid(k.pid, "status"), fmt.Sprintf("Name:\t%s\nVmHWM:\t%8d kB\nThreads:\t%d\n", k.comm, k.hwmKB, k.threads))
	put(t, r.pid(k.pid, "io"), fmt.Sprintf("rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: %d\nwrite_bytes: %d\ncancelled_write_bytes: 0\n", k.read, k.written))
}

func end(t testing.TB, r Root, pid int) {
	t.Helper()
	if err := os.RemoveAll(r.pid(pid)); err != nil {
		t.Fatal(err)
	}
}
