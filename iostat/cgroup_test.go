package iostat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

func TestCgroup(t *testing.T) {
	archives, err := filepath.Glob("testdata/cgroup/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range archives {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			r := unpack(t, filepath.Join("cgroup", filepath.Base(file)))
			task{pid: 10, ppid: 1, user: 7, start: 50, threads: 9}.put(t, r)
			s, err := NewSampler(r, Watch{Server: []int{10}})
			if err != nil {
				t.Fatal(err)
			}
			var want Opt[Cgroup]
			if err := json.Unmarshal(a.Files[len(a.Files)-1].Data, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, s.Sample().Cgroup); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCgroupDelta(t *testing.T) {
	r := unpack(t, "cgroup/v2.txtar")
	task{pid: 10, ppid: 1, user: 7, start: 50, threads: 9}.put(t, r)
	s, err := NewSampler(r, Watch{Server: []int{10}})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	dir := r.sys("fs/cgroup/system.slice/mysql.service")
	put(t, dir+"/cpu.stat", "usage_usec 3500000\nuser_usec 2400000\nsystem_usec 1100000\nnr_periods 50\nnr_throttled 6\nthrottled_usec 56000\n")
	put(t, dir+"/memory.current", "700000000\n")
	d := Between(a, s.Sample()).Cgroup
	if !d.OK || d.V.UsageUS != Some[int64](500000) || d.V.Throttled != Some[int64](2) || d.V.ThrottledUS != Some[int64](1000) ||
		d.V.MemoryBytes != Some[int64](700000000) || d.V.LimitHits != Some[int64](0) {
		t.Errorf("got %+v", d)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if d := Between(a, s.Sample()).Cgroup; d.V.UsageUS.OK || d.V.MemoryBytes.OK {
		t.Errorf("the group is gone: want not known, got %+v", d)
	}
}
