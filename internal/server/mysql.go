package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

func mysqlSocket(dir string, _ int) string { return filepath.Join(dir, "server.sock") }

// mysqlBase are the options that hold for making the data directory and for running on it.
// --defaults-file must come first.
func mysqlBase(in instance) []string {
	args := []string{"--defaults-file=" + in.config, "--datadir=" + in.home.data}
	if in.ourConfig {
		// Two installations at once remove each other's files in a shared
		// directory, and sorts belong on the disk that is priced.
		args = append(args, "--tmpdir="+in.home.root)
	}
	if isRoot() {
		args = append(args, "--user=root")
	}
	return args
}

func mysqlArgs(in instance) []string {
	args := append(mysqlBase(in), "--bind-address=127.0.0.1", "--port="+strconv.Itoa(in.port), "--socket="+in.socket,
		"--pid-file="+in.home.pidFile, "--log-error="+in.home.log)
	if in.id.Product != MariaDB && in.id.atLeast(8, 0, 0) {
		args = append(args, "--mysqlx=OFF") // it has a port of its own
	}
	if in.ourConfig {
		args = append(args, "--tmpdir="+in.home.tmp) // an index build's sort files are part of its costs
	}
	return append(args, in.extra...)
}

// mysqlInitialise makes a data directory whose root has no password. Before 5.7 a script does that, as with MariaDB.
func mysqlInitialise(ctx context.Context, in instance) error {
	if !in.id.atLeast(5, 7, 0) {
		return runInstaller(ctx, in)
	}
	args := append(mysqlBase(in), "--initialize-insecure")
	return in.runToEnd(ctx, in.command(append(args, in.extra...)...))
}

// mariadbInitialise does the same with MariaDB's script.
func mariadbInitialise(ctx context.Context, in instance) error {
	return runInstaller(ctx, in, "--auth-root-authentication-method=normal", "--skip-test-db")
}

// runInstaller runs the script of the server's installation that makes a data directory.
func runInstaller(ctx context.Context, in instance, args ...string) error {
	script, base, err := findInstaller(in.program)
	if err != nil {
		return err
	}
	argv := append(mysqlBase(in), "--basedir="+base)
	argv = append(argv, args...)
	return in.runToEnd(ctx, exec.Command(script, append(argv, in.extra...)...))
}

// findInstaller finds mariadb-install-db beside the server and the installation's base directory. A
// symbolic link is followed if there is none beside it.
func findInstaller(program string) (script, base string, err error) {
	programs := []string{program}
	if real, err := filepath.EvalSymlinks(program); err == nil && real != program {
		programs = append(programs, real)
	}
	for _, p := range programs {
		base := filepath.Dir(filepath.Dir(p))
		for _, name := range []string{"bin/mariadb-install-db", "scripts/mariadb-install-db", "bin/mysql_install_db", "scripts/mysql_install_db"} {
			if script, err := exec.LookPath(filepath.Join(base, name)); err == nil {
				return script, base, nil
			}
		}
	}
	return "", "", fmt.Errorf("no mariadb-install-db in bin or scripts beside %s: the installation is incomplete", program)
}

// mysqlGreets reports whether the socket is served and the TCP port sends a greeting, packet 0 of protocol version 10.
func mysqlGreets(ctx context.Context, in instance) bool {
	return greets(ctx, "unix", in.socket) && greets(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(in.port)))
}

func greets(ctx context.Context, network, addr string) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	var b [5]byte // 3 bytes length, sequence number, protocol version
	_, err = io.ReadFull(c, b[:])
	return err == nil && b[3] == 0 && b[4] == 10
}
