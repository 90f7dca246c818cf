package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"insertbench/iostat"
)

// unpack writes an archive below a new directory; a file whose text starts with "-> " is a symbolic
// link.
func unpack(t testing.TB, archive string) iostat.Root {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(string(f.Data), "-> "); ok {
			err = os.Symlink(strings.TrimSpace(target), path)
		} else {
			err = os.WriteFile(path, f.Data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return iostat.Root{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys")}
}

func about() About {
	return About{Dirs: []string{"/var/lib/mysql", "/log", "/log"}, Server: []int{10}, Client: 20,
		NeedBytes: iostat.Some[int64](100 << 30), FreeBytes: iostat.Some[int64](105 << 30)}
}

func TestBadHost(t *testing.T) {
	got := map[string]string{}
	for _, f := range Examine(unpack(t, "bad.txtar"), about()) {
		got[f.Check] = f.Value
		if f.Why == "" || f.Change == "" || f.Level != Warning && f.Level != Note {
			t.Errorf("%s is not whole: %+v", f.Check, f)
		}
	}
	want := map[string]string{
		"cpu_governor": "powersave on 1 of 2 CPUs", "cpu_turbo": "turbo is on (intel_pstate)", "smt": "SMT is on", "numa": "nodes 0-1",
		"numa_balancing": "kernel.numa_balancing = 1", "clock_source": "hpet", "virtual_machine": "this is a virtual machine",
		"steal":       "0.5 percent of all CPU time since boot", // 50 of 1000+1000+7800+100+50+50 ticks
		"load":        "load average 1.50 over the last minute on 2 CPUs",
		"swap_in_use": "1.0 GiB of 8.0 GiB", "swappiness": "vm.swappiness = 60 with 8.0 GiB of swap", "transparent_huge_pages": "always",
		"zone_reclaim":     "vm.zone_reclaim_mode = 1",
		"dirty_background": "vm.dirty_background_ratio = 10, 6.0 GiB now", // a tenth of 60 GiB
		"dirty_now":        "200 MiB", "free_space": "105.0 GiB free, about 100.0 GiB needed",
		"device": "the kernel counts no requests of sda, and its reads and writes are not known",

		"mount_atime": "/ with strictatime", "mount_discard": "/ (ext4) with discard", "mount_sync": "/ (ext4) with sync",
		"mount_barrier": "/ (ext4) with nobarrier, /log (ext4) with barrier=0",
		"read_ahead":    "sda: 4096 kB", "scheduler": "sda: bfq", "io_accounting": "sda: iostats is off", "raid_busy": "md0: check",
		"same_cores": "CPUs that both may run on: 1", "cpu_quota": "1.5 CPUs, stopped in 3 periods so far", "memory_limit": "2.0 GiB",
		"server_open_files": "1024", "client_open_files": "256",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(want) != len(Checks()) {
		t.Errorf("there are %d checks, and %d of them find something here", len(Checks()), len(want))
	}
}

func TestGoodHost(t *testing.T) {
	a := about()
	a.Dirs, a.FreeBytes = a.Dirs[:1], iostat.Some[int64](200<<30)
	if got := Examine(unpack(t, "good.txtar"), a); len(got) > 0 {
		t.Errorf("want no findings, got %+v", got)
	}
}

// A host that shows nothing, and one whose files hold nonsense: no finding, no crash.
func TestNothingToSee(t *testing.T) {
	dir := t.TempDir()
	if got := Examine(iostat.Root{Proc: dir + "/proc", Sys: dir + "/sys"}, about()); len(got) != 1 || got[0].Check != "free_space" {
		t.Errorf("want free space only, which was told, got %+v", got)
	}
	for _, text := range []string{"", "\x00\x00", "999999999999999999999999\n", "-1\n", "[", "a,b-c,-,5-1", "Max open files\nflags:\n"} {
		r := unpack(t, "bad.txtar")
		err := filepath.WalkDir(filepath.Dir(r.Proc), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				return os.WriteFile(path, []byte(text), 0o644)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		Examine(r, about())
	}
}

func TestChecksTable(t *testing.T) {
	seen := map[string]bool{}
	name := regexp.MustCompile(`^[a-z][a-z_]*$`)
	for _, c := range Checks() {
		if seen[c.Name] || !name.MatchString(c.Name) || c.Why == "" || c.Change == "" || c.look == nil {
			t.Errorf("%q is twice, misnamed or not whole", c.Name)
		}
		seen[c.Name] = true
	}
}

func TestParseCPUList(t *testing.T) {
	for s, want := range map[string][]cpuRange{"0": {{0, 0}}, "0-3,8,10-11": {{0, 3}, {8, 8}, {10, 11}}, "": nil, "3-1": nil, "x": nil, "1-": nil, "70000": nil} {
		if diff := cmp.Diff(want, parseCPUList(s), cmp.AllowUnexported(cpuRange{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", s, diff)
		}
	}
}

func FuzzCPUList(f *testing.F) {
	f.Add("0-3,8,10-11", "1")
	f.Add("0-65535", "-,5-1")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := parseCPUList(a), parseCPUList(b)
		if n, m := overlap(x, y), overlap(y, x); n != m || n < 0 {
			t.Errorf("overlap of %q and %q: %d one way, %d the other", a, b, n, m)
		}
	})
}

func FuzzSoftLimit(f *testing.F) {
	f.Add("Max open files            1024                 524288               files     \n")
	f.Add("Max open files\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n, ok := softLimit(text, "Max open files"); ok && n < 0 {
			t.Errorf("got %d", n)
		}
	})
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, []Finding{{"swappiness", Note, "vm.swappiness = 60", "it swaps", "sysctl vm.swappiness=1"}}); err != nil {
		t.Fatal(err)
	}
	want := "note: swappiness: vm.swappiness = 60\n  why:    it swaps\n  change: sysctl vm.swappiness=1\n"
	if b.String() != want {
		t.Errorf("want %q, got %q", want, b.String())
	}
}
