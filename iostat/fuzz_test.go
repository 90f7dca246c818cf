package iostat

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// texts are the files of that name in the recorded kernels.
func texts(t testing.TB, name string) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"kernel", "devices", "local", "cgroup"} {
		archives, err := filepath.Glob(filepath.Join("testdata", pattern, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archives {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range a.Files {
				if strings.HasSuffix(f.Name, name) {
					out = append(out, string(f.Data))
				}
			}
		}
	}
	return out
}

// seed adds the recorded files and some broken ones.
func seed(f *testing.F, names ...string) {
	for _, name := range names {
		for _, text := range texts(f, name) {
			f.Add([]byte(text))
			f.Add([]byte(text[:len(text)/2]))
		}
	}
	f.Add([]byte("\x00\x00\n"))
	f.Add([]byte("cpu 18446744073709551615 -1 99999999999999999999 1 1 1 1 1\n"))
}

// notNegative fails when a number that is known is below zero.
func notNegative(t *testing.T, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), ":-") {
		t.Errorf("a negative count: %s", text)
	}
}

func FuzzStat(f *testing.F) {
	seed(f, "proc/stat")
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseStat(b)
		if err != nil && h.cpu != (CPUTicks{}) {
			t.Errorf("ticks beside an error: %+v", h.cpu)
		}
		notNegative(t, h.cpu)
		notNegative(t, map[string]any{"c": h.ctxt, "f": h.forks, "r": h.running, "b": h.blocked})
	})
}

func FuzzMeminfo(f *testing.F) {
	seed(f, "proc/meminfo")
	f.Fuzz(func(t *testing.T, b []byte) { notNegative(t, parseMeminfo(b)) })
}

func FuzzVMStat(f *testing.F) {
	seed(f, "proc/vmstat")
	f.Fuzz(func(t *testing.T, b []byte) { notNegative(t, parseVMStat(b)) })
}

func FuzzLoad(f *testing.F) {
	seed(f, "proc/loadavg")
	f.Add([]byte("NaN +Inf -1\n"))
	f.Fuzz(func(t *testing.T, b []byte) { notNegative(t, parseLoad(b)) })
}

func FuzzStall(f *testing.F) {
	seed(f, "pressure/io")
	f.Fuzz(func(t *testing.T, b []byte) { notNegative(t, parseStall(b)) })
}

func FuzzProcStat(f *testing.F) {
	seed(f, "/stat")
	f.Add([]byte("1 (a) b) (c\n) S 0 1 1 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 5 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseProcStat(b)
		if err == nil && (p.utime < 0 || p.stime < 0 || p.cutime < 0 || p.cstime < 0 || p.start < 0 || p.rssPages < 0) {
			t.Errorf("negative: %+v", p)
		}
	})
}

func FuzzProcIO(f *testing.F) {
	f.Add([]byte("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, ok := parseProcIO(b); ok && (p.read < 0 || p.written < 0 || p.cancelled < 0) {
			t.Errorf("negative: %+v", p)
		}
	})
}

func FuzzProcStatus(f *testing.F) {
	f.Add([]byte("Name:\tx\nVmHWM:\t  800 kB\nvoluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t2\nPss: 3 kB\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := parseProcStatus(b)
		notNegative(t, map[string]any{"h": s.hwmBytes, "v": s.voluntary, "i": s.involuntary, "p": parsePSS(b)})
	})
}

func FuzzCgroup(f *testing.F) {
	seed(f, "/cgroup", "cpu.stat")
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, path := range cgroupPaths(b) {
			if !filepath.IsAbs(path) || path != filepath.Clean(path) || strings.Contains(path, "\x00") {
				t.Errorf("path of %q: %q", name, path)
			}
		}
		var c Cgroup
		parseCgroupCPU(b, &c)
		notNegative(t, c)
	})
}

func FuzzMountinfo(f *testing.F) {
	seed(f, "mountinfo")
	f.Add([]byte("21 1 8:1 / /a\\040b\\134\\777 rw - ext4 /dev/sda rw\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		mounts := parseMountinfo(b)
		for _, m := range mounts {
			if !strings.HasPrefix(m.point, "/") || m.fsType == "" {
				t.Errorf("got %+v", m)
			}
			m.option("upperdir")
		}
		mountOf(mounts, "/var/lib/mysql", "8:1")
	})
}

func FuzzSockets(f *testing.F) {
	seed(f, "net/tcp", "net/tcp6", "net/unix", "net/fib_trie", "net/if_inet6")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, l := range append(parseTCP(b), parseUnix(b)...) {
			if !decimal(l.inode) || l.path == "" && !l.addr.IsValid() {
				t.Errorf("got %+v", l)
			}
		}
		for _, a := range append(parseFibTrie(b), parseInet6(b)...) {
			if !a.IsValid() || a == (netip.Addr{}) {
				t.Errorf("got %v", a)
			}
		}
	})
}

// FuzzDiskStat reads any text as a disk's stat file: the device is known or noted, never negative,
// and its deltas are never negative.
func FuzzDiskStat(f *testing.F) {
	seed(f, "block/sda/stat")
	dir := f.TempDir()
	r := Root{dir + "/proc", dir + "/sys"}
	put(f, r.proc("stat"), "")
	stat := r.sys("block/sda/stat")
	put(f, stat, "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n")
	f.Fuzz(func(t *testing.T, b []byte) {
		put(t, stat, "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n")
		s, err := NewSampler(r, Watch{Disks: []string{"sda"}})
		if err != nil {
			t.Fatal(err)
		}
		a := s.Sample()
		put(t, stat, string(b))
		d := Between(a, s.Sample())
		notNegative(t, d.Total)
	})
}

// fields flattens what is known of v to its JSON, by name.
func fields(t *testing.T, v any) map[string]string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var raws map[string]json.RawMessage
	if err := json.Unmarshal(text, &raws); err != nil {
		return map[string]string{"value": string(text)}
	}
	out := map[string]string{}
	for k, raw := range raws {
		out[k] = string(raw)
	}
	return out
}

// A file that ends anywhere gives what the whole file gives, or nothing; never a part of a number.
func TestCutShort(t *testing.T) {
	const status = "VmHWM:\t  800 kB\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t34\n"
	for name, tc := range map[string]struct {
		text  string
		parse func(b []byte) any
	}{
		"stat": {texts(t, "proc/stat")[0], func(b []byte) any {
			h, err := parseStat(b)
			ticks := Opt[CPUTicks]{h.cpu, err == nil}
			return map[string]any{"cpu": ticks, "ctxt": h.ctxt, "forks": h.forks, "running": h.running, "blocked": h.blocked}
		}},
		"meminfo":  {texts(t, "proc/meminfo")[0], func(b []byte) any { return parseMeminfo(b) }},
		"vmstat":   {texts(t, "proc/vmstat")[0], func(b []byte) any { return parseVMStat(b) }},
		"loadavg":  {texts(t, "proc/loadavg")[0], func(b []byte) any { return parseLoad(b) }},
		"pressure": {texts(t, "pressure/io")[0], func(b []byte) any { return parseStall(b) }},
		"cpu.stat": {texts(t, "cpu.stat")[0], func(b []byte) any {
			var c Cgroup
			parseCgroupCPU(b, &c)
			return c
		}},
		"status": {status, func(b []byte) any {
			s := parseProcStatus(b)
			return map[string]any{"hwm": s.hwmBytes, "v": s.voluntary, "i": s.involuntary}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := fields(t, tc.parse([]byte(tc.text)))
			some := 0
			for n := range len(tc.text) {
				for field, got := range fields(t, tc.parse([]byte(tc.text[:n]))) {
					if got != "null" && got != `""` && got != whole[field] {
						t.Fatalf("%s of the first %d bytes: got %s, the whole file says %s", field, n, got, whole[field])
					}
				}
			}
			for _, v := range whole {
				if v != "null" {
					some++
				}
			}
			if some == 0 {
				t.Error("the whole file gives nothing")
			}
		})
	}
	const one = "10 (x) S 1 1 1 0 -1 0 0 0 0 0 123 456 789 12 20 0 3 0 999 1 44 1 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
	for n := range len(one) {
		if p, err := parseProcStat([]byte(one[:n])); err == nil {
			t.Fatalf("the first %d bytes of a process's stat: want an error, got %+v", n, p)
		}
	}
	const io = "rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: 55\nwrite_bytes: 66\ncancelled_write_bytes: 77\n"
	for n := range len(io) {
		if p, ok := parseProcIO([]byte(io[:n])); ok {
			t.Fatalf("the first %d bytes of io: want not known, got %+v", n, p)
		}
	}
}

// Every reading of broken files leaves what can't be read unknown, and crashes nowhere.
func TestBrokenFiles(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "NUL": "\x00\x00\x00\n", "newlines": "\n\n\n", "blank": "   \t ", "text": "permission denied\n"} {
		r := unpack(t, "kernel/6.1.txtar")
		task{pid: 10, ppid: 1, user: 7, start: 50, threads: 9}.put(t, r)
		s, err := NewSampler(r, Watch{Disks: []string{"sda"}, Server: []int{10}, Client: 10})
		if err != nil {
			t.Fatal(err)
		}
		a := s.Sample()
		for _, top := range []string{r.Proc, r.Sys} {
			err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					put(t, path, text)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		b := s.SampleEnds(true)
		d := Between(a, b)
		d.Disks, d.Seconds, d.ClockStepSeconds = nil, 0, 0
		if diff := cmp.Diff(Delta{}, d); diff != "" {
			t.Errorf("%s: want nothing known (-want +got):\n%s", name, diff)
		}
		if len(b.Notes) < 3 {
			t.Errorf("%s: want notes on disk, CPU and server, got %q", name, b.Notes)
		}
	}
}
