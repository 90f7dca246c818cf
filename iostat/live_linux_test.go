package iostat

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// serveEnv makes the test binary a server: it listens where the variable says and keeps a file of
// the data directory open. bindEnv, "FROM TO", makes it mount a directory over another one first,
// for itself alone.
const (
	serveEnv = "IOSTAT_TEST_SERVE"
	bindEnv  = "IOSTAT_TEST_BIND"
)

func TestMain(m *testing.M) {
	where := os.Getenv(serveEnv)
	if where == "" {
		os.Exit(m.Run())
	}
	network, rest, _ := strings.Cut(where, " ")
	address, file, _ := strings.Cut(rest, " ")
	if from, to, ok := strings.Cut(os.Getenv(bindEnv), " "); ok {
		if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
	}
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
func serve(t *testing.T, network, address, file, bind string) (int, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serveEnv+"="+network+" "+address+" "+file)
	if bind != "" {
		cmd.Env = append(cmd.Env, bindEnv+"="+bind)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // with private mounts
	}
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
			pid, where := serve(t, ep.Network, ep.Address, filepath.Join(data, "f"), "")
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

// A server with mounts of its own, as in a container: its data directory is another disk than the
// directory of that name here.
func TestProveLocalOtherMounts(t *testing.T) {
	device, _, disk := mountLoop(t)
	data := t.TempDir()
	pid, where := serve(t, "tcp", "127.0.0.1:0", filepath.Join(data, "f"), disk+" "+data)
	loc, err := Root{}.ProveLocal(Endpoint{"tcp", where}, data)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Location{pid, fmt.Sprintf("/proc/%d/root%s", pid, data)}); loc != want {
		t.Errorf("want %+v, got %+v", want, loc)
	}
	theirs, err := Root{}.DataDisks(loc.DataDir)
	if err != nil || len(theirs.Watch) != 1 || theirs.Watch[0] != device {
		t.Errorf("want %s, got %+v, %v", device, theirs, err)
	}
	if ours, err := (Root{}).DataDisks(data); err == nil && len(ours.Watch) == 1 && ours.Watch[0] == device {
		t.Errorf("the directory of that name here is not on %s", device)
	}
}
