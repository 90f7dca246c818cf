package iostat

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// serveEnv makes the test binary a server: it listens where the variable says and keeps a file of the data directory open.
const serveEnv = "IOSTAT_TEST_SERVE"

func TestMain(m *testing.M) {
	where := os.Getenv(serveEnv)
	if where == "" {
		os.Exit(m.Run())
	}
	network, rest, _ := strings.Cut(where, " ")
	address, file, _ := strings.Cut(rest, " ")
	l, err := net.Listen(network, address)
	if err == nil && file != "" {
		var f *os.File
		if f, err = os.Create(file); err == nil {
			defer f.Close()
		}
	}
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	fmt.Println("ready", l.Addr())
	var b [1]byte
	os.Stdin.Read(b[:]) // until the test closes it
	l.Close()
}

// serve starts the server and returns its pid and address.
func serve(t *testing.T, network, address, file string) (int, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serveEnv+"="+network+" "+address+" "+file)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	var word, where string
	if _, err := fmt.Fscan(out, &word, &where); err != nil || word != "ready" {
		t.Fatalf("the server said %q %q: %v", word, where, err)
	}
	return cmd.Process.Pid, where
}

func TestProveLocalLive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	dir := t.TempDir()
	sock := filepath.Join(dir, "s.sock")
	for _, ep := range []Endpoint{{"tcp", "127.0.0.1:0"}, {"tcp", "[::1]:0"}, {"tcp", ":0"}, {"unix", sock}} {
		t.Run(ep.Network+ep.Address, func(t *testing.T) {
			data := t.TempDir()
			if l, err := net.Listen(ep.Network, ep.Address); err != nil {
				t.Skipf("this system can't listen there: %v", err)
			} else {
				l.Close()
			}
			pid, where := serve(t, ep.Network, ep.Address, filepath.Join(data, "f"))
			ep := Endpoint{ep.Network, strings.Replace(where, "[::]", "127.0.0.1", 1)}
			loc, err := Root{}.ProveLocal(ep, data)
			if err != nil || loc.PID != pid || loc.DataDir != data {
				t.Fatalf("want %d and %s, got %+v, %v", pid, data, loc, err)
			}
			if _, err := (Root{}).ProveLocal(ep, dir); !errors.Is(err, ErrNotProven) {
				t.Errorf("another directory: want ErrNotProven, got %v", err)
			}
		})
	}
}
