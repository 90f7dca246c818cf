package step_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/results"
)

// script is a task whose operations take as long as they are told to. Each
// that succeeds makes 100 rows and moves the host's counters by one unit of work.
type script struct {
	host *host
	ops  []time.Duration
	next int
	err  error // of the last operation
}

func (s *script) Next() bool { return s.next < len(s.ops) }

func (s *script) Do(context.Context, *load.Recorder) (load.Done, error) {
	time.Sleep(s.ops[s.next])
	s.next++
	if s.err != nil && s.next == len(s.ops) {
		return load.Done{}, s.err
	}
	if s.host != nil {
		s.host.move(1)
	}
	return load.Done{Units: 100}, nil
}

func (s *script) Abort() {}

const beat = 700 * time.Millisecond

// beats are n operations that end at 0.7, 1.4, 2.1 ... s, never with a tick.
func beats(n int) []time.Duration {
	ops := make([]time.Duration, n)
	for i := range ops {
		ops[i] = beat
	}
	return ops
}

// measured runs tasks as a step on a scripted host, on a clock of its own.
func measured(t *testing.T, ctx context.Context, h *host, server drivers.Server, rates bool, tasks ...load.Task) (results.Step, []results.Interval, error) {
	t.Helper()
	m, err := step.NewMeter(h.root(), step.Target{Server: server})
	if err != nil {
		t.Fatal(err)
	}
	spec := step.Spec{Name: "load", Kind: results.KindLoad, Server: server, Rates: rates, Run: load.Run{Ops: []string{"insert"}}}
	for _, task := range tasks {
		spec.Run.Workers = append(spec.Run.Workers, load.Worker{Task: task})
	}
	var shown int64
	spec.Progress = func(iv *load.Interval) { shown += iv.Units() }
	w := h.writer()
	done, runErr := m.Run(ctx, w, spec)
	lines, err := results.LoadIntervals(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, c := range done.Clients {
		total += c.RowsAcknowledged
	}
	if shown != total {
		t.Errorf("progress was shown %d rows of %d", shown, total)
	}
	for _, name := range done.Dumps {
		text, err := os.ReadFile(filepath.Join(w.Dir(), filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(string(text), "zebra") {
			t.Errorf("a password is in %s", name)
		}
	}
	return done, lines, runErr
}

// check compares metrics; NaN wants one that is missing.
func check(t *testing.T, got map[string]results.Metric, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		m, ok := got[name]
		switch {
		case math.IsNaN(v) && m.Value != nil:
			t.Errorf("%s is %v, it can't be known", name, *m.Value)
		case math.IsNaN(v):
		case !ok || m.Value == nil:
			t.Errorf("%s is missing, want %v", name, v)
		case math.Abs(*m.Value-v) > 1e-9*math.Abs(v):
			t.Errorf("%s is %v, want %v", name, *m.Value, v)
		}
	}
}

var missing = math.NaN()

// TestCosts prices 5 units of work for 500 rows in 3.5 s; see host.move.
func TestCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		got, lines, err := measured(t, t.Context(), h, h.server(local(), false), true, &script{host: h, ops: beats(5)})
		if err != nil || !got.Complete || got.Reason != "" || got.EndedUTC.Sub(got.StartedUTC) != 5*beat {
			t.Errorf("complete %v, %q, %v to %v, %v", got.Complete, got.Reason, got.StartedUTC, got.EndedUTC, err)
		}
		onDisk, err := step.DirBytes(filepath.Join(h.dir, "hostfs/data"))
		if err != nil {
			t.Fatal(err)
		}
		check(t, got.Metrics, map[string]float64{
			"rows": 500, "window_seconds": 3.5, "rows_per_second": 500 / 3.5,
			"reads": 50, "reads_per_row": 0.1, "read_kb": 400, "read_kb_per_row": 0.8, "read_kb_per_second": 400 / 3.5,
			"writes": 25, "written_kb": 100, "written_kb_per_row": 0.2, "flushes": 10,
			"host_cpu_us": 4e6, "host_total_us": 10e6, "host_cpu_percent": 40, "host_cpu_us_per_row": 8000,
			"mcpu_per_row":  40 * 1e6 / (500 / 3.5),
			"server_cpu_us": 1e6, "server_cpu_us_per_row": 2000, "client_cpu_us": 5e5, "client_cpu_us_per_row": 1000,
			"context_switches": 5000,
			"rss_bytes":        float64(305 * os.Getpagesize()), "rss_peak_bytes": float64(305 * os.Getpagesize()),
			"dirty_bytes_left": 128 * 1024, "size_bytes": float64(onDisk),
		})
		if got.Metrics["size_bytes"].Source == results.SizeFromServer {
			t.Error("the size is said to be the server's own figure")
		}
		checkIntervals(t, got, lines)
	})
}

// checkIntervals holds the lines against what happened when, and their sums
// against the deltas from end to end.
func checkIntervals(t *testing.T, got results.Step, lines []results.Interval) {
	t.Helper()
	// Answers at 0.7, 1.4, 2.1, 2.8 and 3.5 s.
	want := []struct {
		start, end float64
		rows       int64
	}{{0, 1, 100}, {1, 2, 100}, {2, 3, 200}, {3, 3.5, 100}}
	if len(lines) != len(want) {
		t.Fatalf("%d intervals, want %d", len(lines), len(want))
	}
	sums := map[string]float64{}
	for i, line := range lines {
		w := want[i]
		if line.Step != "load" || line.Second != i || line.StartSeconds != w.start || line.EndSeconds != w.end || len(line.Rows) != 1 || line.Rows[0] != w.rows {
			t.Errorf("interval %d: %v to %v s, rows %v, want %v", line.Second, line.StartSeconds, line.EndSeconds, line.Rows, w)
		}
		for name, v := range deltasOf(line.Deltas) {
			if v == nil {
				t.Fatalf("interval %d: %s is missing", i, name)
			}
			sums[name] += *v
		}
		// The server has as many pages more as there was work.
		if line.ServerRSSBytes == nil || line.DirtyBytes == nil || *line.DirtyBytes != 120*1024 {
			t.Errorf("interval %d: memory %v, dirty %v", i, line.ServerRSSBytes, line.DirtyBytes)
		}
		op := line.Operations[0]
		if op.Name != "insert" || op.Count != w.rows/100 || op.MaxUS == nil || *op.MaxUS != beat.Microseconds() {
			t.Errorf("interval %d: %+v", i, op)
		}
	}
	for name, sum := range sums {
		if whole := got.Metrics[name].Value; whole == nil || *whole != sum {
			t.Errorf("%s: the intervals' sum is %v, from end to end it is %v", name, sum, whole)
		}
	}
}

func deltasOf(d results.Deltas) map[string]*float64 {
	return map[string]*float64{
		"reads": d.Reads, "writes": d.Writes, "read_kb": d.ReadKB, "written_kb": d.WrittenKB, "flushes": d.Flushes,
		"host_cpu_us": d.HostBusyUS, "host_total_us": d.HostTotalUS, "server_cpu_us": d.ServerCPUUS, "client_cpu_us": d.ClientCPUUS,
		"context_switches": d.ContextSwitches,
	}
}

// TestCostsOfAServerElsewhere: only this client's own are known.
func TestCostsOfAServerElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		place := drivers.Place{Network: "tcp", Address: "127.0.0.1:3307", DataDir: "/data"}
		got, lines, err := measured(t, t.Context(), h, h.server(place, false), true, &script{host: h, ops: beats(3)})
		if err != nil {
			t.Fatal(err)
		}
		check(t, got.Metrics, map[string]float64{
			"rows": 300, "client_cpu_us": 3e5, "client_cpu_us_per_row": 1000, "size_bytes": 0,
			"reads": missing, "reads_per_row": missing, "read_kb_per_row": missing, "written_kb": missing, "flushes": missing,
			"host_cpu_us": missing, "mcpu_per_row": missing, "server_cpu_us": missing, "context_switches": missing,
			"rss_bytes": missing, "dirty_bytes_left": missing,
		})
		if got.Metrics["size_bytes"].Source != results.SizeFromServer {
			t.Errorf("the size is from %q", got.Metrics["size_bytes"].Source)
		}
		for _, line := range lines {
			for name, v := range deltasOf(line.Deltas) {
				if (v != nil) != (name == "client_cpu_us") {
					t.Errorf("interval %d: %s is %v", line.Second, name, v)
				}
			}
			if line.ServerRSSBytes != nil {
				t.Errorf("interval %d has the memory of some server", line.Second)
			}
		}
	})
}

// TestCostsOfAnEmbeddedDatabase: its CPU and memory are the client's.
func TestCostsOfAnEmbeddedDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		got, _, err := measured(t, t.Context(), h, h.server(drivers.Place{DataDir: "/data"}, true), true, &script{host: h, ops: beats(3)})
		if err != nil {
			t.Fatal(err)
		}
		check(t, got.Metrics, map[string]float64{
			"reads": 30, "host_cpu_us": 24e5, "client_cpu_us": 3e5, "server_cpu_us": missing,
			"rss_bytes": float64(50 * os.Getpagesize()), "size_bytes": 0,
		})
		if source := got.Metrics["size_bytes"].Source; source != "the database's files" {
			t.Errorf("the size is from %q", source)
		}
	})
}

func TestStallsAreEvents(t *testing.T) {
	run := func(rates bool) (got results.Step, lines []results.Interval) {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			var err error
			got, lines, err = measured(t, t.Context(), h, h.server(local(), false), rates,
				&script{ops: beats(4)}, &script{ops: []time.Duration{2500 * time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
		})
		return got, lines
	}
	got, lines := run(true)
	one := 1
	want := []results.Event{
		{Second: 0, Kind: "stall", Client: &one, Text: "no acknowledgement for 1.0 s"},
		{Second: 1, Kind: "stall", Client: &one, Text: "no acknowledgement for 1.0 s"},
	}
	if diff := cmp.Diff(want, got.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1}, lines[0].Stalled); diff != "" || len(lines[2].Stalled) != 0 {
		t.Errorf("the lines say %v and %v", lines[0].Stalled, lines[2].Stalled)
	}
	// A statement that is long by its nature stalls nothing.
	if got, lines = run(false); len(got.Events) != 0 || lines[0].Stalled != nil {
		t.Errorf("an index build: events %v, lines %v", got.Events, lines[0].Stalled)
	}
}

func TestPartialStep(t *testing.T) {
	stopped := errors.New("stopped by a test")
	for _, tc := range []struct {
		name  string
		err   error
		after time.Duration // when the context ends, 0 never
		want  string
		rows  int64
	}{
		{name: "a statement fails", err: errors.New("client 0: no more"), want: "client 0: no more", rows: 400},
		{name: "stopped", after: 3 * beat / 2, want: "stopped by a test", rows: 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if tc.after > 0 {
				timer := time.AfterFunc(tc.after, func() { cancel(stopped) })
				defer timer.Stop()
			}
			got, lines, err := measured(t, ctx, h, h.server(local(), false), true, &script{host: h, ops: beats(5), err: tc.err})
			if err == nil || err.Error() != tc.want || got.Complete || got.Reason != tc.want || got.EndedUTC == nil {
				t.Errorf("%s: complete %v, %q, %v", tc.name, got.Complete, got.Reason, err)
			}
			check(t, got.Metrics, map[string]float64{"rows": float64(tc.rows), "reads": float64(tc.rows / 10), "reads_per_row": 0.1})
			var rows int64
			for _, line := range lines {
				rows += line.Rows[0]
			}
			if rows != tc.rows || got.Clients[0].RowsAcknowledged != tc.rows {
				t.Errorf("%s: the lines have %d rows, the client %d, want %d", tc.name, rows, got.Clients[0].RowsAcknowledged, tc.rows)
			}
			if (tc.err != nil) != (got.Clients[0].Error != "") {
				t.Errorf("%s: the client's error is %q", tc.name, got.Clients[0].Error)
			}
		})
	}
}

// TestIntervalsThatCannotBeWritten: the step ends and says where it stood.
func TestIntervalsThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		server := h.server(local(), false)
		m, err := step.NewMeter(h.root(), step.Target{Server: server})
		if err != nil {
			t.Fatal(err)
		}
		w := h.writer()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := m.Run(t.Context(), w, step.Spec{Name: "load", Server: server, Run: load.Run{
			Ops: []string{"insert"}, Workers: []load.Worker{{Task: &script{host: h, ops: beats(5)}}},
		}})
		if err == nil || !strings.HasPrefix(err.Error(), "step load, stopped after 100 rows were acknowledged: ") || got.Complete {
			t.Errorf("complete %v, %v", got.Complete, err)
		}
		// The statement under way at the tick was finished.
		check(t, got.Metrics, map[string]float64{"rows": 200})
	})
}

func TestDumpsThatFailAreNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		place := drivers.Place{Network: "tcp", Address: "127.0.0.1:3307"}
		got, _, err := measured(t, t.Context(), h, failing{h.server(place, false)}, true, &script{ops: beats(1)})
		if err != nil || !got.Complete {
			t.Errorf("complete %v, %v", got.Complete, err)
		}
		check(t, got.Metrics, map[string]float64{"size_bytes": missing})
		kept, noted := fmt.Sprint(got.Dumps), fmt.Sprint(got.DumpErrors)
		for _, edge := range []string{"start", "end"} {
			if !strings.Contains(kept, "dumps/load-"+edge+"-a.txt") || !strings.Contains(noted, "b.txt at the "+edge+": ") {
				t.Errorf("at the %s: dumps %s, errors %s", edge, kept, noted)
			}
		}
	})
}
