//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"insertbench/results"
)

// killable is a graph of which a load takes a second or two: the largest id has
// 34,000 links, which are two pieces of at most 32,768, and there are 340 pieces
// of nodes and as many or more of links. Batches end within pieces.
var killable = []string{"--profile=demo", "--maxid1=34001", "-D", "loader_chunk_size=100", "-D", "bulk_insert_count=300", "--no-lock", "--quiet"}

// started starts the command in a folder, with results in runs there.
func started(t *testing.T, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	c := exec.Command("linkbench", args...)
	c.Dir = dir
	out := new(bytes.Buffer)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, out
}

// ended runs the command to its end.
func ended(t *testing.T, dir string, code int, args ...string) string {
	t.Helper()
	c, out := started(t, dir, args...)
	_ = c.Wait() // the exit code is looked at
	if got := c.ProcessState.ExitCode(); got != code {
		t.Fatalf("linkbench %q: exit code %d, want %d\n%s", args, got, code, out)
	}
	return out.String()
}

// newest is the folder that the last run made.
func newest(dir string) string {
	runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*"))
	last := ""
	var at time.Time
	for _, run := range runs {
		if info, err := os.Stat(run); err == nil && info.ModTime().After(at) {
			last, at = run, info.ModTime()
		}
	}
	return last
}

// killed starts a load and kills it with no warning once pieces.jsonl has more
// than so many lines. It gives the run's folder.
func killed(t *testing.T, dir string, lines int, args ...string) string {
	t.Helper()
	before := newest(dir)
	c, out := started(t, dir, args...)
	end := make(chan error, 1)
	go func() { end <- c.Wait() }()
	for {
		select {
		case err := <-end:
			t.Fatalf("the load ended before it was killed: %v\n%s", err, out)
		case <-time.After(time.Millisecond):
		}
		run := newest(dir)
		if run == before {
			continue
		}
		text, err := os.ReadFile(filepath.Join(run, "pieces.jsonl"))
		if errors.Is(err, os.ErrNotExist) || bytes.Count(text, []byte("\n")) <= lines {
			continue
		}
		if err := c.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-end
		return run
	}
}

// contents sums up every column of every row of LinkBench's tables.
func contents(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for table, key := range map[string]string{"nodetable": "id", "linktable": "link_type, id1, id2", "counttable": "id, link_type"} {
		rows, err := db.Query("SELECT * FROM " + table + " ORDER BY " + key)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		sum, n := sha256.New(), 0
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(sql.RawBytes)
		}
		for ; rows.Next(); n++ {
			if err := rows.Scan(row...); err != nil {
				t.Fatal(err)
			}
			for _, v := range row {
				fmt.Fprintf(sum, "%d:%s,", len(*v.(*sql.RawBytes)), *v.(*sql.RawBytes))
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		out[table] = fmt.Sprintf("%d rows %x", n, sum.Sum(nil))
	}
	return out
}

func sqliteFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func lines(t *testing.T, run string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(run, "pieces.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// A load that is killed twice, and whose record is torn, ends with the rows of
// one that nobody killed.
func TestKilledLoad(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	ended(t, whole, 0, append([]string{"load", "--ldop=2"}, killable...)...)
	want := contents(t, sqliteFile(t, filepath.Join(whole, "linkbench.sqlite")))
	all := lines(t, newest(whole))

	first := killed(t, dir, 40, append([]string{"load", "--ldop=4", "--index-at=end"}, killable...)...)
	file, err := os.OpenFile(filepath.Join(first, "pieces.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// A line that says that a piece was acknowledged, but for its end.
	if _, err := file.WriteString(`{"kind":"nodes","ordinal":339,"nodes":100,"links":0,"counts":0,"bytes":1}`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	one := lines(t, first)
	second := killed(t, dir, one+40, "load", "--resume="+first, "--ldop=3", "--no-lock", "--quiet")
	two := lines(t, second)
	out := ended(t, dir, 0, "load", "--resume="+second, "--no-lock", "--verify=off")
	if one >= two || two >= all {
		t.Errorf("%d, %d and %d pieces: the load was not interrupted twice", one, two, all)
	}
	for _, part := range []string{
		fmt.Sprintf("resumed: %d of %d pieces were there before", two, all), "verified in full whatever --verify says", "compat 2020, index)",
		"verified: 34000 nodes",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing in\n%s", part, out)
		}
	}
	if d := cmp.Diff(want, contents(t, sqliteFile(t, filepath.Join(dir, "linkbench.sqlite")))); d != "" {
		t.Errorf("-whole +resumed:\n%s", d)
	}
	checkRecord(t, newest(dir), second, two, all)
}

// checkRecord looks at the record of a load that went on with so many pieces.
func checkRecord(t *testing.T, dir, from string, before, all int) {
	t.Helper()
	run, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := results.LoadPieces(dir)
	if err != nil || len(pieces) != all {
		t.Errorf("%d pieces, %v; want all %d", len(pieces), err, all)
	}
	var rows, earlier int64
	for i, p := range pieces {
		if rows += p.Nodes + p.Links + p.Counts; i < before {
			earlier = rows
		}
	}
	load := run.Steps[0]
	var sent int64
	for _, c := range load.Clients {
		sent += c.RowsAcknowledged
	}
	if sent != rows-earlier {
		t.Errorf("%d rows in the figures, want the %d that weren't there", sent, rows-earlier)
	}
	if len(load.Notes) == 0 || !strings.HasPrefix(load.Notes[len(load.Notes)-1], fmt.Sprintf("resumed: %d of %d pieces were there before", before, all)) {
		t.Errorf("notes %q", load.Notes)
	}
	if config, ok := run.Config.(map[string]any); !ok || config["resumed_from"] != from {
		t.Errorf("resumed from %v, want %s", config["resumed_from"], from)
	}
}
