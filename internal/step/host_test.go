package step_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/fake"
	"insertbench/iostat"
	"insertbench/results"
)

// host is a scripted /proc and /sys with one disk, sda, and one server,
// process 100, whose counters a test moves. Layout: man 5 proc; kernel
// Documentation/block/stat.rst, Documentation/networking/proc_net_tcp.rst.
type host struct {
	t    testing.TB
	dir  string
	work int64 // how often the counters moved
}

const serverPID = 100

func newHost(t testing.TB) *host {
	h := &host{t: t, dir: t.TempDir()}
	h.put("sys/block/sda/dev", "8:0\n")
	h.put("sys/block/sda/mq/0/nr_tags", "64\n") // hardware queues: its flushes are counted
	h.put("proc/self/mountinfo", "21 1 8:0 / / rw,relatime - ext4 /dev/sda rw\n")
	h.put("proc/self/ns/mnt", "-> mnt:[1]")
	h.put("proc/self/root", "-> "+h.dir+"/hostfs")
	// A server with mounts of its own, so that its files are seen through /proc/PID/root.
	h.put("proc/100/ns/mnt", "-> mnt:[2]")
	h.put("proc/100/root", "-> "+h.dir+"/hostfs")
	h.put("proc/100/mountinfo", "21 1 8:0 / / rw,relatime - ext4 /dev/sda rw\n")
	h.put("proc/100/comm", "mariadbd\n")
	h.put("proc/100/cmdline", "mariadbd\x00--datadir=/data\x00--init-password=zebra\x00")
	h.put("proc/100/fd/3", "-> socket:[5001]")
	h.put("proc/100/fd/4", "-> "+h.dir+"/hostfs/data/ibdata1")
	h.put("hostfs/data/ibdata1", strings.Repeat("x", 10_000))
	// 127.0.0.1:3306 as a little-endian machine writes it.
	h.put("proc/net/tcp", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"+
		"   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   999        0 5001 1 0000000000000000 100 0 0 10 0\n")
	h.put("proc/meminfo", "MemTotal: 2048000 kB\nDirty: 120 kB\nWriteback: 8 kB\n")
	h.move(0)
	return h
}

func (h *host) root() iostat.Root {
	return iostat.Root{Proc: filepath.Join(h.dir, "proc"), Sys: filepath.Join(h.dir, "sys")}
}

// put writes a file, or a symbolic link for a text that begins with "-> ". It
// replaces whole files, so that a reader sees the old or the new one.
func (h *host) put(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if target, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
		err = os.Symlink(target, path)
	} else if err == nil {
		if err = os.WriteFile(path+".new", []byte(text), 0o644); err == nil {
			err = os.Rename(path+".new", path)
		}
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// move makes the counters grow by n units of work. A unit is 10 reads of
// 160 sectors together (80 KiB), 5 writes of 40 (20 KiB), 2 flushes; 50 ticks
// user, 30 system, 120 idle (2,000,000 µs, 800,000 of them busy); 1,000 context switches;
// 20 ticks of the server (200,000 µs) and 10 of the client (100,000 µs).
func (h *host) move(n int64) {
	h.work += n
	w := h.work
	h.put("sys/block/sda/stat", fmt.Sprintf("%d 0 %d 50 %d 0 %d 300 0 150 350 0 0 0 0 %d 0\n", 100+10*w, 1600+160*w, 200+5*w, 6400+40*w, 7+2*w))
	h.put("proc/stat", fmt.Sprintf("cpu  %d 20 %d %d 400 5 15 60 0 0\ncpu0 1 0 0 0 0 0 0 0 0 0\nctxt %d\nprocesses 9\n", 1000+50*w, 300+30*w, 5000+120*w, 777_000+1000*w))
	h.process(serverPID, 1000+15*w, 500+5*w, 300+w)
	h.process(os.Getpid(), 70+8*w, 30+2*w, 50)
}

// process writes what is read of a process: user and system ticks, resident pages.
func (h *host) process(pid int, user, system, rssPages int64) {
	dir := filepath.Join("proc", strconv.Itoa(pid))
	h.put(filepath.Join(dir, "stat"), fmt.Sprintf("%d (mariadbd) S 1 1 1 0 -1 4194560 9 9 9 9 %d %d 0 0 20 0 4 0 12345 123456789 %d 18446744073709551615 "+
		"1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, user, system, rssPages))
	h.put(filepath.Join(dir, "status"), "Name:\tmariadbd\nVmHWM:\t 4000 kB\nThreads:\t4\n")
	h.put(filepath.Join(dir, "io"), "read_bytes: 1\nwrite_bytes: 1\ncancelled_write_bytes: 0\n")
}

// served is the fake database behind a name and an address of its own.
type served struct {
	*fake.Server
	embedded bool
	place    drivers.Place
}

func (s served) Place() drivers.Place { return s.place }

func (s served) Identity() drivers.Identity {
	id := s.Server.Identity()
	id.Embedded = s.embedded
	return id
}

func (h *host) server(place drivers.Place, embedded bool) served {
	db, err := fake.Open(h.t.Context(), fake.Config{})
	if err != nil {
		h.t.Fatal(err)
	}
	return served{db, embedded, place}
}

// local is where process 100 listens.
func local() drivers.Place {
	return drivers.Place{Network: "tcp", Address: "127.0.0.1:3306", DataDir: "/data"}
}

func (h *host) writer() *results.Writer {
	h.t.Helper()
	w, err := results.Create(h.t.TempDir(), results.Run{Workload: "ibench", Plan: "test", StartedUTC: time.Now()})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := w.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return w
}

// failing is a database that gives neither its size nor all of its dumps.
type failing struct{ served }

func (failing) SizeBytes(context.Context) (int64, error) { return 0, context.DeadlineExceeded }

func (failing) Dumps(context.Context) []drivers.Dump {
	return []drivers.Dump{{Name: "a.txt", Text: []byte("a\n")}, {Name: "b.txt", Err: context.DeadlineExceeded}}
}
