package legacy

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"insertbench/linkbench"
	"insertbench/linkbench/graph"
	"insertbench/results"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sent is the time of the first operations, 1796072947 in unix seconds.
var sent = time.Date(2026, 11, 30, 21, 9, 7, 0, time.UTC)

func at(ms int) time.Time { return sent.Add(time.Duration(ms) * time.Millisecond) }

func requestOps() (names []string) {
	for op := range graph.Op(graph.Ops) {
		names = append(names, op.String())
	}
	return names
}

// logged is a log into memory whose clock stands two seconds after sent.
type logged struct{ lines, stream bytes.Buffer }

func (b *logged) log() *Log {
	return NewLog(&b.lines, &b.stream, func() time.Time { return at(2000) })
}

func (b *logged) requests(set Settings, threads int, units int64, limit time.Duration) *Phase {
	return b.log().Phase(set, linkbench.Phase{Kind: results.KindRequest, Workers: threads, Ops: requestOps(), Units: units, Limit: limit}, Load{})
}

func request(op graph.Op, endMS, tookUS int, rows int64) linkbench.Observed {
	return linkbench.Observed{Op: int(op), Rows: rows, Took: time.Duration(tookUS) * time.Microsecond, At: at(endMS)}
}

func ended(op graph.Op, endMS, tookUS int) linkbench.Observed { return request(op, endMS, tookUS, 1) }

func failed(o linkbench.Observed) linkbench.Observed {
	o.Failed = true
	return o
}

// A thread that displays every second. The first operation ends at 1 ms after 1 ms, so the thread begins at 0; the first
// that ends a second later is the GET_NODE at 1,000 ms. Of nodes are kept 1000, 30, 20, 10, 40 µs: sorted 10 20 30 40 1000,
// mean 1100/5 = 220, 25 % place 5/4 = 1, 50 % place 2, 75 % place 4−1 = 3, the others place 4.
// Then 500 ms with one list of no rows and one that failed, and another GET_NODE; a deletion of a link is in no line.
func TestThreadStatistics(t *testing.T) {
	var b logged
	p := b.requests(Settings{Display: time.Second, MaxSamples: 100}, 1, 0, 0)
	th := p.Thread(0)
	for _, o := range []linkbench.Observed{
		ended(graph.GetNode, 1, 1000), ended(graph.GetNode, 2, 30), ended(graph.GetNode, 3, 20), ended(graph.GetNode, 4, 10),
		ended(graph.DeleteLink, 5, 500), request(graph.MultigetLinks, 900, 50, 3), request(graph.MultigetLinks, 950, 60, 0),
		ended(graph.GetNode, 1000, 40),
		request(graph.ListLinks, 1100, 70, 0), failed(ended(graph.ListLinks, 1200, 9000)), ended(graph.GetNode, 1500, 25),
	} {
		th.Observe(o)
		th.Idle()
	}
	p.End()
	const prefix = "INFO 2026-11-30 21:09:09.0 [Thread-0]: "
	want := prefix + "ThreadID = 0 MULTIGET_LINK totalOps = 2 totalErrors = 0 ops = 2 sampleDuration = 1000ms samples = 2 mean = 55" +
		" min = 50 25% = 50 50% = 60 75% = 60 90% = 60 95% = 60 99% = 60 max = 60\n" +
		prefix + "ThreadID = 0 GET_NODE totalOps = 5 totalErrors = 0 ops = 5 sampleDuration = 1000ms samples = 5 mean = 220" +
		" min = 10 25% = 20 50% = 30 75% = 40 90% = 1000 95% = 1000 99% = 1000 max = 1000\n" +
		prefix + "ThreadID = 0 GET_LINKS_LIST totalOps = 1 totalErrors = 1 ops = 1 sampleDuration = 500ms samples = 1 mean = 70" +
		" min = 70 25% = 70 50% = 70 75% = 70 90% = 70 95% = 70 99% = 70 max = 70\n" +
		prefix + "ThreadID = 0 RANGE_SIZE totalOps = 1 totalErrors = 0 ops = 1 sampleDuration = 500ms samples = 1 mean = 0" +
		" min = 0 25% = 0 50% = 0 75% = 0 90% = 0 95% = 0 99% = 0 max = 0\n" +
		prefix + "ThreadID = 0 GET_NODE totalOps = 6 totalErrors = 0 ops = 1 sampleDuration = 500ms samples = 1 mean = 25" +
		" min = 25 25% = 25 50% = 25 75% = 25 90% = 25 95% = 25 99% = 25 max = 25\n" +
		// 11 requests in 1.5 s are 7 per second; of two multigets one found 3 links.
		prefix + "ThreadID = 0 total requests = 11 requests/second = 7 found = 3 not found = 1 history queries = 0/1\n"
	if d := cmp.Diff(want, withoutRetries(b.lines.String())); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if n := p.Requests(); n != 11 {
		t.Errorf("%d requests in the last line, want those of the thread's line", n)
	}
	rows := StreamHeader + "\n" +
		"0,1796072949,MULTIGET_LINK,2,0,2,1000,2,55.0,50,50,60,60,60,60,60,60\n" +
		"0,1796072949,GET_NODE,5,0,5,1000,5,220.0,10,20,30,40,1000,1000,1000,1000\n" +
		"0,1796072949,GET_LINKS_LIST,1,1,1,500,1,70.0,70,70,70,70,70,70,70,70\n" +
		"0,1796072949,RANGE_SIZE,1,0,1,500,1,0.0,0,0,0,0,0,0,0,0\n" +
		"0,1796072949,GET_NODE,6,0,1,500,1,25.0,25,25,25,25,25,25,25,25\n"
	if d := cmp.Diff(rows, b.stream.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Beyond maxsamples the operations are all counted, and as many kept as may be.
func TestThreadKeepsMaxSamples(t *testing.T) {
	var b logged
	p := b.requests(Settings{MaxSamples: 7}, 1, 0, 0)
	for i := range 1000 {
		p.Thread(0).Observe(ended(graph.GetNode, i+1, 5))
	}
	p.End()
	if want := "0,1796072949,GET_NODE,1000,0,1000,999,7,5.0,"; !strings.Contains(b.stream.String(), want) {
		t.Errorf("no row begins with %s:\n%s", want, b.stream.String())
	}
}

// Two threads of 500 requests each add theirs by 250s, so that the line of 300 comes at 500, those of 600 and 900 at 750
// and 1,000. Each request takes 1 ms: 250 of each thread are 0.25 s, and 500 of both in that time 2,000 a second. 0.25 s
// are 2.5 % of 10 s.
func TestRequestProgress(t *testing.T) {
	var b logged
	p := b.requests(Settings{MaxSamples: 10, RequestProgress: 300}, 2, 1000, 10*time.Second)
	for i := range 500 {
		for n := range 2 {
			p.Thread(n).Observe(ended(graph.GetNode, i+1, 1000))
			p.Thread(n).Idle()
		}
	}
	const prefix = "INFO 2026-11-30 21:09:09.0 [Thread-"
	want := prefix + "1]: 500/1000 requests finished: 50.0% complete at 2000.0 ops/sec 0.2/10 secs elapsed: 2.5% of time limit used\n" +
		prefix + "0]: 750/1000 requests finished: 75.0% complete at 1500.0 ops/sec 0.5/10 secs elapsed: 5.0% of time limit used\n" +
		prefix + "1]: 1000/1000 requests finished: 100.0% complete at 2000.0 ops/sec 0.5/10 secs elapsed: 5.0% of time limit used\n"
	if d := cmp.Diff(want, b.lines.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// What is left of fewer than 250 requests is added at the end.
func TestRequestProgressAtTheEnd(t *testing.T) {
	var b logged
	p := b.requests(Settings{MaxSamples: 10, RequestProgress: 100}, 1, 100, 0)
	for i := range 100 {
		p.Thread(0).Observe(ended(graph.GetNode, i+1, 1000))
		p.Thread(0).Idle()
	}
	p.End()
	if want := "100/100 requests finished: 100.0% complete at 1000.0 ops/sec 0.1/0 secs elapsed: 0.0% of time limit used\n"; strings.Count(b.lines.String(), want) != 1 {
		t.Errorf("not once %s in\n%s", want, b.lines.String())
	}
}

// A load of 1,000 ids with 2 counts each. Links go past 2,000 with the batch that ends at 500 ms, when 1,000 counts of
// 2,000, so 500 ids, are stored: 3,000 links in 0.5 s are 6,000 a second.
func TestLoadProgress(t *testing.T) {
	var b logged
	ops := []string{"load_node", "load_link", "load_count"}
	p := b.log().Phase(Settings{MaxSamples: 10, LoadProgress: 2000}, linkbench.Phase{Kind: results.KindLoad, Workers: 2, Ops: ops}, Load{IDs: 1000, Counts: 2000})
	batch := func(thread, op, endMS int, rows int64) {
		p.Thread(thread).Observe(linkbench.Observed{Op: op, Rows: rows, Took: 100 * time.Millisecond, At: at(endMS)})
		p.Thread(thread).Idle()
	}
	batch(0, 0, 100, 1000)
	batch(1, 1, 200, 1500)
	batch(0, 2, 300, 1000)
	batch(1, 1, 500, 1500)
	want := "INFO 2026-11-30 21:09:09.0 [Thread-1]: 500/1000 id1s (50.0%) at 1000.0 /sec. 3000 links at 6000.0 /sec. " +
		"1000 counts at 2000.0 /sec. link+count at 8000.0 /sec. \n"
	if d := cmp.Diff(want, b.lines.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	p.End()
	for _, row := range []string{
		"0,1796072949,LOAD_NODE_BULK,1,0,1,300,1,100000.0,", "0,1796072949,LOAD_COUNTS_BULK_NLINKS,1,0,1,300,1,1000.0,",
		"1,1796072949,LOAD_LINKS_BULK_NLINKS,2,0,2,400,2,1500.0,",
	} {
		if !strings.Contains(b.stream.String(), row) {
			t.Errorf("no row begins with %s:\n%s", row, b.stream.String())
		}
	}
	if strings.Contains(b.lines.String(), "total requests") {
		t.Error("a loader has a line of requests")
	}
}

// A worker that was given up comes back after the end: what it does then is in no line.
func TestThreadAfterTheEnd(t *testing.T) {
	var b logged
	p := b.requests(Settings{Display: time.Nanosecond, MaxSamples: 10, RequestProgress: 1}, 1, 0, 0)
	p.Thread(0).Observe(ended(graph.GetNode, 1, 5))
	p.End()
	before := b.lines.String()
	p.Thread(0).Observe(ended(graph.GetNode, 9000, 5))
	p.Thread(0).Idle()
	if b.lines.String() != before {
		t.Errorf("something was added:\n%s", b.lines.String())
	}
}

// Threads print beside each other and are ended while they go on. Lines stay whole.
func TestThreadsSideBySide(t *testing.T) {
	var b logged
	p := b.requests(Settings{Display: time.Millisecond, MaxSamples: 10, RequestProgress: 250}, 4, 0, 0)
	var threads sync.WaitGroup
	for n := range 4 {
		threads.Go(func() {
			for i := range 2000 {
				p.Thread(n).Observe(ended(graph.GetNode, i/100+1, 5))
				p.Thread(n).Idle()
			}
		})
	}
	p.End()
	threads.Wait()
	for line := range strings.Lines(b.lines.String()) {
		if !strings.HasPrefix(line, "INFO 2026-11-30 21:09:09.0 [") || strings.Count(line, "INFO") != 1 {
			t.Errorf("a broken line: %s", line)
		}
	}
}

func TestThreadAllocatesNothing(t *testing.T) {
	var b logged
	th := b.requests(Settings{MaxSamples: 100, Display: time.Hour}, 1, 0, 0).Thread(0)
	one := func() {
		for op := range graph.Op(graph.Ops) {
			th.Observe(ended(op, 1, 5))
			th.Idle()
		}
	}
	for range 100 {
		one()
	}
	if n := testing.AllocsPerRun(100, one); n > 0 {
		t.Errorf("%v allocations for ten requests", n)
	}
}

type full struct{ after, writes int }

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	if f.writes++; f.writes > f.after {
		return 0, errFull
	}
	return len(p), nil
}

// A full disk doesn't stop the lines, is told in the end, and isn't written to again.
func TestLogOnFullDisk(t *testing.T) {
	var lines bytes.Buffer
	disk := &full{after: 1} // room for the header
	p := NewLog(&lines, disk, func() time.Time { return sent }).Phase(Settings{Display: 1, MaxSamples: 10},
		linkbench.Phase{Kind: results.KindRequest, Workers: 1, Ops: requestOps()}, Load{})
	for i := range 3 {
		p.Thread(0).Observe(ended(graph.GetNode, i+1, 5))
		p.Thread(0).Idle()
	}
	if err := p.log.StreamErr(); !errors.Is(err, errFull) || p.log.LinesErr() != nil || disk.writes != 2 {
		t.Errorf("%v after %d writes", err, disk.writes)
	}
	if n := strings.Count(lines.String(), "GET_NODE"); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
}

// BenchmarkThread is what --legacy-output adds to a request.
func BenchmarkThread(b *testing.B) {
	p := NewLog(nil, nil, time.Now).Phase(Settings{MaxSamples: 10_000, Display: math.MaxInt64},
		linkbench.Phase{Kind: results.KindRequest, Workers: 1, Ops: requestOps()}, Load{})
	th, i := p.Thread(0), 0
	b.ReportAllocs()
	for b.Loop() {
		o := ended(graph.Op(i%graph.Ops), 1, i%5000)
		i++
		th.Observe(o)
		th.Idle()
	}
}
