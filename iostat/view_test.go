package iostat

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/view/" + name
	if *update {
		put(t, path, string(got))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// twoSeconds is a view of a window of two seconds on a disk and its partition.
func twoSeconds(t *testing.T) View {
	t.Helper()
	r := unpack(t, "kernel/6.1.txtar")
	task{pid: 10, ppid: 1, user: 100, system: 50, threads: 4, start: 9, rssPages: 1000}.put(t, r)
	c := newClock()
	s, err := newSampler(r, Watch{Disks: []string{"sda", "sda1"}, Server: []int{10}}, c.now)
	if err != nil {
		t.Fatal(err)
	}
	s.server.pageSize = 4096
	a := s.Sample()
	c.advance(2 * time.Second)
	// Against the recorded line: reads +100, merges +100, sectors +1600, ms +50; writes +40, merges
	// 0, sectors +640, ms +20; busy +500 ms, queue +3000; discards +2, sectors +16, ms +3; flushes
	// +10, ms +5.
	put(t, r.sys("block/sda/stat"), "1100 110 17600 550 2040 20 64640 3020 1 2000 6500 52 5 8016 28 80 905\n")
	// 220 ticks as in TestBusyPercent.
	put(t, r.proc("stat"), "cpu  1030 30 340 5090 410 10 30 80 17 9\ncpu0 1\nctxt 777500\n")
	task{pid: 10, ppid: 1, user: 150, system: 80, threads: 4, start: 9, rssPages: 1 << 18}.put(t, r)
	return NewView(a, s.Sample())
}

func TestView(t *testing.T) {
	v := twoSeconds(t)
	o := Some[float64]
	none := Opt[float64]{}
	want := []Row{
		{Device: "sda", ReadsPerS: o(50), ReadKBPerS: o(400), ReadMergesPerS: o(50), ReadMergedPercent: o(50), ReadAwaitMS: o(0.5), ReadSizeKB: o(8),
			WritesPerS: o(20), WrittenKBPerS: o(160), WriteMergesPerS: o(0), WriteMergedPercent: o(0), WriteAwaitMS: o(0.5), WriteSizeKB: o(8),
			DiscardsPerS: o(1), DiscardedKBPerS: o(4), DiscardMergesPerS: o(0), DiscardMergedPercent: o(0), DiscardAwaitMS: o(1.5), DiscardKB: o(4),
			FlushesPerS: o(5), FlushAwaitMS: o(0.5), QueueLength: o(1.5), UtilPercent: o(25)},
		// Nothing happened on the partition: no average over requests, and flushes aren't counted
		// there.
		{Device: "sda1", ReadsPerS: o(0), ReadKBPerS: o(0), ReadMergesPerS: o(0), WritesPerS: o(0), WrittenKBPerS: o(0), WriteMergesPerS: o(0),
			DiscardsPerS: o(0), DiscardedKBPerS: o(0), DiscardMergesPerS: o(0), FlushesPerS: none, QueueLength: o(0), UtilPercent: o(0)},
	}
	if diff := cmp.Diff(want, v.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	pc := func(ticks float64) Opt[float64] { return o(100 * ticks / 220) }
	host := HostRow{User: pc(30), Nice: pc(10), System: pc(60), IOWait: pc(10), Steal: pc(20), Idle: pc(90),
		ServerCPUPercent: o(40), ServerRSSBytes: Some[int64](1 << 30), ContextPerS: o(250)} // 80 ticks in 2 s; 2^18 pages of 4,096
	if diff := cmp.Diff(host, v.Host); diff != "" {
		t.Errorf("host (-want +got):\n%s", diff)
	}
}

func TestViewFormats(t *testing.T) {
	v := twoSeconds(t)
	var text, lines, object bytes.Buffer
	for _, err := range []error{v.Text(&text), v.CSVHeader(&lines), v.CSV(&lines), v.JSON(&object)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "two-seconds.txt", text.Bytes())
	golden(t, "two-seconds.csv", lines.Bytes())
	golden(t, "two-seconds.json", object.Bytes())

	records, err := csv.NewReader(&lines).ReadAll()
	if err != nil || len(records) != 3 {
		t.Errorf("want a header and two lines, got %d: %v", len(records), err)
	}
	var decoded struct {
		Devices []map[string]any
		Host    map[string]any
	}
	if err := json.Unmarshal(object.Bytes(), &decoded); err != nil {
		t.Fatal(err)
	}
	if got := decoded.Devices[0]["rkB/s"]; got != 400.0 {
		t.Errorf("rkB/s: want 400, got %v", got)
	}
	if got, ok := decoded.Devices[1]["f/s"]; !ok || got != nil {
		t.Errorf("f/s of a partition: want null, got %v", got)
	}
}

func TestViewOfNothing(t *testing.T) {
	var text, lines bytes.Buffer
	v := NewView(Sample{}, Sample{})
	if err := v.Text(&text); err != nil {
		t.Fatal(err)
	}
	if err := v.CSV(&lines); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text.Bytes(), []byte("0.00")) || bytes.Contains(text.Bytes(), []byte("NaN")) {
		t.Errorf("nothing is known, nothing is zero:\n%s", text.String())
	}
}
