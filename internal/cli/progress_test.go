package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestPlainProgress(t *testing.T) {
	var out bytes.Buffer
	p := &Process{Stderr: &out}
	g := p.NewProgress("load", "rows", 4000)
	for s := 1; s <= 31; s++ {
		units, slowest := int64(100), int64(1000)
		if s == 15 {
			units, slowest = 0, 2_500_000
		}
		at := time.Duration(s) * time.Second
		if s == 20 {
			at += 400 * time.Millisecond // a late tick
		}
		g.Add(units, at, slowest)
	}
	g.Done()
	// After 10 s 1,000 of 4,000 rows, 100 a second, 3,000 left take 30 s. After 20.4 s 1,900 rows are
	// there, 900 of them in 10.4 s, and 2,100 at 93.1 a second take 22.5 s. After 30 s 2,900, the last 1,000 in 9.6 s.
	want := `load: 1000 of 4000 rows (25.0%), 100 rows/s (lately 100), slowest 0.001 s, 30s left
load: 1900 of 4000 rows (47.5%), 93 rows/s (lately 87), slowest 2.500 s, 23s left
load: 2900 of 4000 rows (72.5%), 97 rows/s (lately 104), slowest 2.500 s, 11s left
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", &out, want)
	}
}

func TestProgressWithoutRows(t *testing.T) {
	var out bytes.Buffer
	g := (&Process{Stderr: &out}).NewProgress("index", "rows", 100)
	g.Add(0, 65*time.Second, 0)
	g.Add(0, 66*time.Second, 0) // the lines that were missed aren't made up for
	if want := "index: 0 of 100 rows (0.0%), 0 rows/s (lately 0), slowest 0.000 s, - left\n"; out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
	var quiet *Progress
	quiet.Add(1, time.Hour, 1)
	quiet.Done()
}

func TestTimedProgress(t *testing.T) {
	var out bytes.Buffer
	g := (&Process{Stderr: &out}).NewTimedProgress("request", "requests", 30*time.Second)
	for s := 1; s <= 31; s++ {
		g.Add(200, time.Duration(s)*time.Second, 1000)
	}
	want := `request: 10 of 30 s (33.3%), 2000 requests, 200 requests/s (lately 200), slowest 0.001 s, 20s left
request: 20 of 30 s (66.7%), 4000 requests, 200 requests/s (lately 200), slowest 0.001 s, 10s left
request: 30 of 30 s (100.0%), 6000 requests, 200 requests/s (lately 200), slowest 0.001 s, 0s left
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", &out, want)
	}
}

// A step that waits says for what, as far as it knows, in place of a rate.
func TestProgressWaiting(t *testing.T) {
	var out bytes.Buffer
	g := (&Process{Stderr: &out}).NewProgress("settle", "s", 40)
	for s := 1; s <= 20; s++ {
		g.WaitingFor([]string{"analyzing pi1", "17 dirty pages in InnoDB's buffer pool"}[s/11])
		g.Add(1, time.Duration(s)*time.Second, 0)
	}
	want := `settle: 10 of 40 s (25.0%), analyzing pi1
settle: 20 of 40 s (50.0%), 17 dirty pages in InnoDB's buffer pool
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", &out, want)
	}
	var quiet *Progress
	quiet.WaitingFor("nothing")
}

// A step that counts nothing before its end shows the seconds.
func TestWaitingProgress(t *testing.T) {
	var out bytes.Buffer
	g := (&Process{Stderr: &out}).NewWaitingProgress("index")
	for s := 1; s <= 20; s++ {
		g.Wait([]string{"", "building index id1_type"}[s/11], time.Duration(s)*time.Second+100*time.Millisecond)
	}
	if want := "index: 10 s, waiting\nindex: 20 s, building index id1_type\n"; out.String() != want {
		t.Errorf("got:\n%swant:\n%s", &out, want)
	}
	out.Reset()
	g = (&Process{Stderr: &out, Terminal: true}).NewWaitingProgress("index")
	for s := 1; s <= 2; s++ {
		g.Wait("building index id1_type", time.Duration(s)*time.Second)
		time.Sleep(110 * time.Millisecond) // the bar isn't drawn more often
	}
	g.Done()
	if !strings.Contains(out.String(), "index: building index id1_type") || strings.Contains(out.String(), "rows") || strings.Contains(out.String(), "%") {
		t.Errorf("got %q", &out)
	}
	var quiet *Progress
	quiet.Wait("nothing", time.Second)
}

// Queries beside inserts have a rate of their own: 900 a second of 9,000 in 10 s.
func TestProgressBeside(t *testing.T) {
	var out bytes.Buffer
	g := (&Process{Stderr: &out}).NewTimedProgress("oltp", "rows", 20*time.Second)
	for s := 1; s <= 10; s++ {
		g.Beside(900, "queries")
		g.Add(200, time.Duration(s)*time.Second, 1000)
	}
	want := "oltp: 10 of 20 s (50.0%), 2000 rows, 200 rows/s (lately 200), 900 queries/s, slowest 0.001 s, 10s left\n"
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", &out, want)
	}
}

func TestDrawnProgress(t *testing.T) {
	var out bytes.Buffer
	g := (&Process{Stderr: &out, Terminal: true}).NewProgress("load", "rows", 100)
	g.Add(100, 20*time.Second, 1_500_000)
	g.Done()
	if !strings.Contains(out.String(), "slowest 1.500 s") || strings.Contains(out.String(), "\n") {
		t.Errorf("got %q", &out)
	}
}
