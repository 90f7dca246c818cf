package results

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testIntervals() []Interval {
	return []Interval{
		{Step: "load", Second: 0, StartSeconds: 0, EndSeconds: 1.0004, Rows: []int64{100, 0},
			Operations: []IntervalOperation{{Name: "insert", Kind: KindService, Count: 1, P50US: ptr(int64(5)), P95US: ptr(int64(6)), P99US: ptr(int64(7)), MaxUS: ptr(int64(8))}},
			Deltas:     cpu(disk(1, 2, 3.5, 4), 5, 6, 7, 8, 9), ServerRSSBytes: ptr(int64(10)), DirtyBytes: ptr(int64(11)), Stalled: []int{1}},
		{Step: "load", Second: 1, StartSeconds: 1.0004, EndSeconds: 1.5},
	}
}

func TestIntervalsRoundTrip(t *testing.T) {
	w, err := Create(t.TempDir(), Run{Workload: "ibench", StartedUTC: started})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want := testIntervals()
	for i, iv := range want {
		if err := w.AppendInterval(iv); err != nil {
			t.Fatal(err)
		}
		// A line is there before the next one is written.
		got, err := LoadIntervals(w.Dir())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[:i+1], got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	data, err := os.ReadFile(filepath.Join(w.Dir(), intervalsFile))
	if err != nil {
		t.Fatal(err)
	}
	last := data[bytes.IndexByte(data, '\n')+1:]
	var raw map[string]any
	if err := json.Unmarshal(last, &raw); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reads", "written_kb", "host_cpu_us", "server_cpu_us", "client_cpu_us", "server_rss_bytes", "dirty_bytes"} {
		if v, found := raw[name]; !found || v != nil {
			t.Errorf("%s is %v where it isn't known, want null", name, v)
		}
	}
}

func TestIntervalsDamaged(t *testing.T) {
	line := `{"step":"load","second":0,"start_seconds":0,"end_seconds":1,"later_field":[1]}` + "\n"
	for _, c := range []struct {
		name, in string
		count    int
		err      string
	}{
		{"empty", "", 0, ""},
		{"whole", line + line, 2, ""},
		{"last line cut off", line + line[:20], 1, ""},
		{"last line without its end", line + strings.TrimSpace(line), 1, ""},
		{"blank line", line + "\n" + line, 2, ""},
		{"garbage", line + "x\n" + line, 1, "line 2 is damaged"},
		{"backwards", `{"start_seconds":2,"end_seconds":1}` + "\n", 0, "it ends at 1 s, before it starts at 2 s"},
	} {
		count := 0
		var last error
		for _, err := range Intervals(strings.NewReader(c.in)) {
			if err != nil {
				last = err
				continue
			}
			count++
		}
		message := ""
		if last != nil {
			message = last.Error()
		}
		if count != c.count || (message == "") != (c.err == "") || !strings.Contains(message, c.err) {
			t.Errorf("%s: %d intervals, error %q; want %d, %q", c.name, count, message, c.count, c.err)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, runFile)) {
		t.Errorf("a folder without a record: %v", err)
	}
	for _, c := range []struct{ in, err string }{
		{``, "it isn't a whole JSON object"},
		{`{"schema":1`, "it isn't a whole JSON object"},
		{`[]`, `it isn't a JSON object with a number as "schema"`},
		{`{"schema":"1"}`, `it isn't a JSON object with a number as "schema"`},
		{`{}`, `it has no "schema"`},
		{`{"schema":2}`, "it has schema 2, this version reads schema 1"},
		{`{"schema":1,"steps":5}`, "steps isn't what schema 1 says: it holds a number"},
	} {
		if err := os.WriteFile(filepath.Join(dir, runFile), []byte(c.in), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, want %s", c.in, err, c.err)
		}
	}
	later := `{"schema":1,"new_field":{"a":[1]},"steps":[{"name":"load","new":1,"metrics":{"x_kb":{"value":1,"unit":"KiB","new":2}}}]}`
	run, err := Decode([]byte(later))
	if err != nil || *run.Steps[0].Metrics["x_kb"].Value != 1 {
		t.Errorf("fields of a later version: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := Encode(fullRun())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":1,"steps":[{"metrics":{"a":{"value":null}}}],"config":[1e400]}`))
	f.Add([]byte(`{"schema":1,"steps":null,"started_utc":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := Decode(data)
		if err != nil {
			return
		}
		first, err := Encode(run)
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		again, err := Decode(first)
		if err != nil {
			t.Fatalf("what was written can't be read: %v\n%s", err, first)
		}
		second, err := Encode(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("written twice, it differs: %v\n%s\n%s", err, first, second)
		}
		var out strings.Builder
		if err := (Table{Columns: LoadColumns(), Rows: LoadRows(&run), Wide: true}).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		_ = DirName(&run)
	})
}

func FuzzParseInterval(f *testing.F) {
	for _, iv := range testIntervals() {
		line, err := json.Marshal(iv)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"start_seconds":1e308,"end_seconds":-1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		iv, err := ParseInterval(line)
		if err != nil {
			return
		}
		written, err := json.Marshal(iv)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseInterval(written)
		if err != nil {
			t.Fatal(err)
		}
		rewritten, err := json.Marshal(again)
		if err != nil || !bytes.Equal(written, rewritten) {
			t.Fatalf("written twice, it differs: %v\n%s\n%s", err, written, rewritten)
		}
	})
}
