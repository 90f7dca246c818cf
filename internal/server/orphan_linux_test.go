package server_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"insertbench/internal/server/servertest"
)

const envOrphan = "SERVER_TEST_ORPHAN"

// TestHelperOrphan runs in a process of its own, starts a server there and waits to be killed.
func TestHelperOrphan(t *testing.T) {
	if os.Getenv(envOrphan) == "" {
		t.Skip("only for TestServerEndsWithUs")
	}
	s := servertest.PrivateMariaDB(t)
	if _, err := os.Stdout.WriteString("address " + s.Addr() + "\n"); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
}

func TestServerEndsWithUs(t *testing.T) {
	servertest.MariaDBProgram(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperOrphan$", "-test.v")
	// Not t.TempDir, whose path is too long for a socket in it: nobody removes the other directory
	// that the socket would be in.
	tmp, err := os.MkdirTemp("", "orphan")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	cmd.Env = append(os.Environ(), envOrphan+"=1", "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	addr := ""
	for sc := bufio.NewScanner(out); addr == "" && sc.Scan(); {
		if a, ok := strings.CutPrefix(sc.Text(), "address "); ok {
			addr = a
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if addr == "" {
		t.Fatal("the other process started no server")
	}
	for range 600 { // 30 s at the most, for a busy machine
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return
		}
		_ = c.Close()
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("the server at %s outlives the process that started it", addr)
}
