package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"insertbench/internal/server"
	"insertbench/internal/server/servertest"
)

// query reads one value over the server's socket.
func query(t *testing.T, s *server.Server, statement string) string {
	t.Helper()
	db, err := sql.Open("mysql", "root@unix("+s.Socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var v string
	if err := db.QueryRow(statement).Scan(&v); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return v
}

func execute(t *testing.T, s *server.Server, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", "root@unix("+s.Socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, st := range statements {
		if _, err := db.Exec(st); err != nil {
			t.Fatalf("%s: %v", st, err)
		}
	}
}

// start starts a server that is stopped when the test ends.
func start(t *testing.T, cfg server.Config) *server.Server {
	t.Helper()
	s, err := server.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func TestTemplatesAreWhatTheServerRuns(t *testing.T) {
	program := servertest.MariaDBProgram(t)
	for engine, want := range map[string]map[string]string{
		// 512 MiB of cache; a quarter of it, 128 MiB, is InnoDB's log.
		"innodb": {"innodb_buffer_pool_size": "536870912", "innodb_log_file_size": "134217728", "innodb_flush_method": "O_DIRECT",
			"innodb_flush_log_at_trx_commit": "1", "log_bin": "0", "max_allowed_packet": "67108864"},
		"rocksdb": {"rocksdb_block_cache_size": "536870912", "innodb_buffer_pool_size": "67108864", "rocksdb_flush_log_at_trx_commit": "1"},
		"aria":    {"aria_pagecache_buffer_size": "536870912"},
	} {
		t.Run(engine, func(t *testing.T) {
			s := start(t, server.Config{Program: program, Engine: engine, CacheBytes: 512 << 20})
			for name, value := range want {
				if got := query(t, s, "SELECT @@"+name); got != value {
					t.Errorf("%s is %s, want %s", name, got, value)
				}
			}
			if got := query(t, s, "SELECT @@version"); !strings.HasPrefix(got, s.Version) {
				t.Errorf("it says version %s, --version said %s", got, s.Version)
			}
			if got := query(t, s, "SELECT @@datadir"); filepath.Clean(got) != s.DataDir {
				t.Errorf("it says data directory %s, want %s", got, s.DataDir)
			}
			if got, want := query(t, s, "SELECT @@tmpdir"), filepath.Join(filepath.Dir(s.DataDir), "tmp"); got != want {
				t.Errorf("it says temporary directory %s, want %s", got, want)
			}
			if got := query(t, s, "SELECT @@port"); got != fmt.Sprint(s.Port) {
				t.Errorf("it says port %s, want %d", got, s.Port)
			}
			execute(t, s, "CREATE DATABASE ib", "CREATE TABLE ib.t (a INT PRIMARY KEY) ENGINE="+engine, "INSERT INTO ib.t VALUES (1)")
		})
	}
}

func TestAKeptDirectoryIsUsedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30)) // too long for a socket in it
	cfg := server.Config{Program: servertest.MariaDBProgram(t), CacheBytes: 64 << 20, DataDir: dir}
	s := start(t, cfg)
	if len(s.Socket) > 99 {
		t.Errorf("the socket's path has %d bytes", len(s.Socket))
	}
	execute(t, s, "CREATE DATABASE ib", "CREATE TABLE ib.t (a INT PRIMARY KEY)", "INSERT INTO ib.t VALUES (41)")

	if _, err := server.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "is in use by another run") {
		t.Errorf("a second server on the same directory: %v", err)
	}
	if got := query(t, s, "SELECT a FROM ib.t"); got != "41" {
		t.Errorf("the first server says %s", got)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(s.Socket)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket's directory is still there (%v)", err)
	}
	if log, err := os.ReadFile(s.LogFile); err != nil || !strings.Contains(string(log), "Shutdown complete") {
		t.Errorf("no clean shutdown in its log (%v)", err)
	}
	if got := query(t, start(t, cfg), "SELECT a FROM ib.t"); got != "41" {
		t.Errorf("after a restart it holds %s, want 41", got)
	}
}

func TestTheUsersConfiguration(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "my.cnf")
	text := "[mysqld]\ninnodb_buffer_pool_size=96M\nport=3306\nbind_address=0.0.0.0\ndatadir=/nowhere\nsocket=/nowhere/s\nlog_error=/nowhere/log.err\n"
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := start(t, server.Config{Program: servertest.MariaDBProgram(t), ConfigFile: conf, CacheBytes: 64 << 20})
	for name, want := range map[string]string{"innodb_buffer_pool_size": "100663296", "bind_address": "127.0.0.1", "port": fmt.Sprint(s.Port), "socket": s.Socket} {
		if got := query(t, s, "SELECT @@"+name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if s.ConfigFile != conf {
		t.Errorf("its configuration is %s", s.ConfigFile)
	}
}

func TestWrappers(t *testing.T) {
	program := servertest.MariaDBProgram(t)
	for name, wrapper := range map[string][]string{
		"becomes the server": {"env", "SERVER_TEST_WRAPPED=yes"},
		"stays":              {"sh", "-c", `SERVER_TEST_WRAPPED=yes "$@"; exit 3`, "sh"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, server.Config{Program: program, Wrapper: wrapper, CacheBytes: 64 << 20})
			if runtime.GOOS == "linux" {
				env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.PID))
				if err != nil || !strings.Contains(string(env), "SERVER_TEST_WRAPPED=yes") {
					t.Errorf("the wrapper's variable isn't in the server's environment (%v)", err)
				}
				if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.PID)); err != nil || !strings.Contains(exe, "mariadbd") {
					t.Errorf("process %d is %s (%v), want the server itself", s.PID, exe, err)
				}
			}
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAServerThatDiesAtItsStart(t *testing.T) {
	program := servertest.MariaDBProgram(t)
	t.Run("making its data", func(t *testing.T) {
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		_, err := server.Start(t.Context(), server.Config{Program: program, ExtraArgs: []string{"--no-such-option=1"}})
		if err == nil || !strings.Contains(err.Error(), "no-such-option") || !strings.Contains(err.Error(), "MariaDB") {
			t.Errorf("error %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("with data", func(t *testing.T) {
		cfg := server.Config{Program: program, CacheBytes: 64 << 20, DataDir: t.TempDir()}
		stop(t, start(t, cfg))
		cfg.ExtraArgs = []string{"--plugin-load-add=ha_none", "--default-storage-engine=none"}
		_, err := server.Start(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), "Unknown/unsupported storage engine: none") {
			t.Errorf("error %v", err)
		}
	})
}

func TestKill(t *testing.T) {
	s := servertest.PrivateMariaDB(t)
	s.Kill()
	<-s.Done()
	if _, err := os.Stat(s.DataDir); err != nil {
		t.Errorf("the data directory doesn't survive: %v", err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("Stop after Kill: %v", err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no longer wanted"))
	_, err := server.Start(ctx, server.Config{Program: servertest.MariaDBProgram(t)})
	if err == nil || !strings.Contains(err.Error(), "no longer wanted") {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
