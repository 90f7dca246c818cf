package server_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/internal/server"
)

func TestMongodIsCalledWithItsOwnDirectoryAndPort(t *testing.T) {
	program, recordFile := useStandin(t, standinServes, "3.4.24")
	dir := filepath.Join(t.TempDir(), "m")
	s, err := server.Start(t.Context(), server.Config{Program: program, Engine: "mongorocks", CacheBytes: 1 << 30, DataDir: dir, ExtraArgs: []string{"--quiet"}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	if s.Product != server.Mongod || s.Version != "3.4.24" {
		t.Errorf("it is %s %s", s.Product, s.Version)
	}
	got := readRecord(t, recordFile)
	// dbPath, addresses, log and pid file are always ours; 3.4 has --master.
	want := []string{"--config", filepath.Join(dir, "mongod.conf"), "--dbpath", filepath.Join(dir, "data"), "--bind_ip", "127.0.0.1",
		"--port", strconv.Itoa(s.Port), "--unixSocketPrefix", filepath.Dir(s.Socket), "--pidfilepath", filepath.Join(dir, "server.pid"),
		"--logpath", s.LogFile, "--logappend", "--master", "--quiet"}
	if diff := cmp.Diff(want, got.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	// The published settings: 600 s, journal, 2000 ms, 1 GB, 4000 MB.
	wantConfig := `storage:
  engine: rocksdb
  syncPeriodSecs: 600
  journal:
    enabled: true
  rocksdb:
    cacheSizeGB: 1
operationProfiling:
  slowOpThresholdMs: 2000
replication:
  oplogSizeMB: 4000
`
	if diff := cmp.Diff(wantConfig, got.Config); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if base := filepath.Base(s.Socket); base != "mongodb-"+strconv.Itoa(s.Port)+".sock" {
		t.Errorf("socket %s", s.Socket)
	}
	if len(s.Socket) > 99 {
		t.Errorf("the socket's path has %d bytes", len(s.Socket))
	}
}

func TestMongodWithTheUsersConfiguration(t *testing.T) {
	program, recordFile := useStandin(t, standinServes, "3.4.24")
	conf := filepath.Join(t.TempDir(), "mine.conf")
	if err := os.WriteFile(conf, []byte("storage:\n  engine: mmapv1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(t.Context(), server.Config{Program: program, ConfigFile: conf})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	got := readRecord(t, recordFile)
	if got.Config != "storage:\n  engine: mmapv1\n" {
		t.Errorf("configuration %q", got.Config)
	}
	if args := strings.Join(got.Args, " "); strings.Contains(args, "--master") || !strings.Contains(args, "--config "+conf) {
		t.Errorf("arguments %s", args)
	}
}

func TestMongodThatDoesNotStart(t *testing.T) {
	for how, want := range map[string]string{
		standinDies:   "Unknown storage engine",
		standinForks:  "must not make it a daemon",
		standinSilent: "enough waited",
	} {
		t.Run(how, func(t *testing.T) {
			program, _ := useStandin(t, how, "7.0.5")
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			ctx := t.Context()
			if how == standinSilent {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeoutCause(ctx, 500*time.Millisecond, errors.New("enough waited"))
				defer cancel()
			}
			s, err := server.Start(ctx, server.Config{Program: program})
			if err == nil {
				stop(t, s)
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "mongod 7.0.5") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want %q in it", err, want)
			}
			if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestStopKillsAServerThatDoesNotListen(t *testing.T) {
	program, _ := useStandin(t, standinStubborn, "7.0.5")
	s, err := server.Start(t.Context(), server.Config{Program: program, Grace: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	first := s.Stop(t.Context())
	if first == nil || !strings.Contains(first.Error(), "did not stop within 50ms and was killed") {
		t.Errorf("Stop: %v", first)
	}
	if again := s.Stop(t.Context()); again != first {
		t.Errorf("a second Stop: %v", again)
	}
	<-s.Done()
	if _, err := os.Stat(filepath.Dir(s.DataDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its temporary directory is still there (%v)", err)
	}
}

func TestStopEndsWithItsContext(t *testing.T) {
	program, _ := useStandin(t, standinStubborn, "7.0.5")
	s, err := server.Start(t.Context(), server.Config{Program: program})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop: %v", err)
	}
	<-s.Done()
}

func TestStopRemovesATemporaryDirectoryUnlessKept(t *testing.T) {
	program, _ := useStandin(t, standinServes, "7.0.5")
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep=%v", keep), func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			s := start(t, server.Config{Program: program, Keep: keep})
			for range 2 {
				if err := s.Stop(t.Context()); err != nil {
					t.Errorf("Stop: %v", err)
				}
			}
			_, err := os.Stat(s.DataDir)
			if kept := err == nil; kept != keep {
				t.Errorf("the data directory is there: %v", kept)
			}
			if c, err := net.DialTimeout("tcp", s.Addr(), time.Second); err == nil {
				_ = c.Close()
				t.Error("it still listens")
			}
		})
	}
}

func TestStopOfAServerThatHadDied(t *testing.T) {
	program, _ := useStandin(t, standinServes, "7.0.5")
	s, err := server.Start(t.Context(), server.Config{Program: program})
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(s.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "had ended before it was stopped: it died: signal: killed") {
		t.Errorf("Stop: %v", err)
	}
}

func stop(t *testing.T, s *server.Server) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
