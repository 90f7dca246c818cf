package iostat

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProveLocal(t *testing.T) {
	r := unpack(t, "local/host.txtar")
	in400 := r.pid(400, "root/var/lib/mysql")
	for _, tc := range []struct {
		network, address, dir string
		pid                   int
		seen                  string
		err                   string
	}{
		// pid 1 holds the sockets too, as with socket activation, but has no file there.
		{"tcp", "127.0.0.1:3306", "/var/lib/mysql", 100, "/var/lib/mysql", ""},
		{"tcp", "localhost:3306", "/var/lib/mysql/", 100, "/var/lib/mysql", ""},
		{"tcp", "10.0.1.5:3311", "/var/lib/mysql", 100, "/var/lib/mysql", ""},
		{"unix", "/run/mysqld/mysqld.sock", "/var/lib/mysql", 100, "/var/lib/mysql", ""},
		{"unix", "/run/mysqld/../mysqld/mysqld.sock", "/var/lib/mysql", 100, "/var/lib/mysql", ""},
		{"unix", "/tmp/with blank/m.sock", "/data/db", 300, "/data/db", ""},
		{"unix", "@abstract", "/data/db", 300, "/data/db", ""},
		{"tcp", "127.0.0.1:27017", "/data/db", 300, "/data/db", ""}, // the socket is IPv6 and takes IPv4
		{"tcp", "[::1]:27017", "/srv/mongo", 300, "/data/db", ""},   // a symbolic link
		{"tcp", "[fe80::5054:ff:fe12:3456]:27017", "db", 300, "/data/db", ""},
		{"tcp", "127.0.0.1:3308", "/var/lib/mysql", 400, in400, ""}, // a container with the host's network
		{"tcp", "127.0.0.1:5432", "/data/db", 500, "/data/db", ""},  // children share the socket

		{"tcp", "127.0.0.1:3307", "/var/lib/mysql", 0, "", "process 200 (docker-proxy) listens but has no file open"},
		{"tcp", "127.0.0.1:3309", "/var/lib/mysql", 0, "", "process 450 (ssh) listens but has no file open"},
		{"tcp", "127.0.0.1:3310", "/data/db", 0, "", "2 listening sockets belong to different processes"},
		{"tcp", "localhost:3316", "/data/db", 0, "", "2 listening sockets belong to different processes"}, // one is IPv4, the other IPv6
		{"tcp", "127.0.0.1:3316", "/data/db", 600, "/data/db", ""},
		{"tcp", "127.0.0.1:3312", "/data/db", 0, "", "2 unrelated processes"},
		{"tcp", "127.0.0.1:3313", "/data/db", 0, "", `evil\\x1b\"\\`},
		{"tcp", "127.0.0.1:3314", "/nowhere", 0, "", "is not there for process 900"},
		{"tcp", "127.0.0.1:3314", "/etc/passwd", 0, "", "is not a directory"},
		{"tcp", "127.0.0.1:3315", "/data/db", 0, "", "no process seen here owns"},
		{"tcp", "127.0.0.1:3999", "/data/db", 0, "", "no process listens on port 3999"},
		{"tcp", "10.0.1.6:3306", "/data/db", 0, "", "10.0.1.6 is not an address of this host"},
		{"tcp", "127.0.0.1", "/data/db", 0, "", "missing port"},
		{"tcp", "127.0.0.1:mysql", "/data/db", 0, "", "is not a number"},
		{"unix", "/run/other.sock", "/data/db", 0, "", "listens on a socket of that name"},
		{"unix", "", "/data/db", 0, "", "listens on a socket of that name"},
		{"pipe", "x", "/data/db", 0, "", "neither tcp nor unix"},
		{"tcp", "127.0.0.1:3306", "", 0, "", "does not say where"},
		{"tcp", "127.0.0.1:3306", "/var\x00", 0, "", "does not say where"},
	} {
		loc, err := r.ProveLocal(Endpoint{tc.network, tc.address}, tc.dir)
		name := fmt.Sprintf("%s %s %q", tc.network, tc.address, tc.dir)
		if tc.err != "" {
			if !errors.Is(err, ErrNotProven) || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: want ErrNotProven with %q, got %+v, %v", name, tc.err, loc, err)
			}
			continue
		}
		if diff := cmp.Diff(Location{tc.pid, tc.seen}, loc); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestOpenDirs(t *testing.T) {
	r := unpack(t, "local/host.txtar")
	for fd, open := range map[string]struct{ file, flags string }{
		"0": {"/dev/null", "02"}, "1": {"/var/log/err", "0100001"}, "10": {"/redo/ib_logfile0", "02100002"}, "11": {"/redo/ib_logfile1", "0100002"},
		"12": {"/var/lib/mysql/t.ibd", "0100002"}, "13": {"/share/messages", "0100000"}, "14": {"/tmp/x (deleted)", "0100002"},
		"15": {"socket:[1]", "02"}, "16": {"/dev/shm/x", "02"}, "17": {"/binlog/b.1", "0102001"}, "18": {"/noinfo/x", ""},
	} {
		put(t, r.pid(100, "fd", fd), "-> "+open.file)
		if open.flags != "" {
			put(t, r.pid(100, "fdinfo", fd), "pos:\t0\nflags:\t"+open.flags+"\nmnt_id:\t27\n")
		}
	}
	got, err := r.OpenDirs(Location{100, "/var/lib/mysql"})
	if diff := cmp.Diff([]string{"/binlog", "/redo"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := r.OpenDirs(Location{4242, "/"}); err == nil {
		t.Error("want an error for a process that isn't there")
	}
}

func TestDisks(t *testing.T) {
	r := unpack(t, "devices/partition.txtar")
	if diff := cmp.Diff([]string{"sda", "sdb"}, r.Disks()); diff != "" {
		t.Errorf("disks (-want +got):\n%s", diff)
	}
}
