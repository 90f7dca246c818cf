package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"insertbench/internal/server"
)

func TestProgramsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		cfg  server.Config
		want string
	}{
		"none":                {server.Config{}, "no server program named"},
		"not in PATH":         {server.Config{Program: "no-such-mysqld"}, "no no-such-mysqld in PATH: install it or give its path"},
		"no such path":        {server.Config{Program: filepath.Join(dir, "gone", "mysqld")}, "the server program can't be run"},
		"another program":     {server.Config{Program: script("mysqld", `echo "ls (GNU coreutils) 9.1"`)}, `is no MariaDB, MySQL or mongod server: for --version it said "ls (GNU coreutils) 9.1"`},
		"a client":            {server.Config{Program: script("c", `echo "mysql  Ver 9.4.0 for Linux on x86_64 (MySQL Community Server - GPL)"`)}, "is no MariaDB"},
		"one that fails":      {server.Config{Program: script("mongod", `echo "libssl.so.1.1: cannot open shared object file" >&2; exit 127`)}, `it said "libssl.so.1.1: cannot open`},
		"no such wrapper":     {server.Config{Program: script("m", `echo "db version v7.0.5"`), Wrapper: []string{"no-such-numactl", "--all"}}, "no-such-numactl"},
		"no such config file": {server.Config{Program: script("m2", `echo "db version v7.0.5"`), ConfigFile: filepath.Join(dir, "none.conf")}, "the server's configuration file can't be read"},
		"no such engine":      {server.Config{Program: script("m3", `echo "db version v7.0.5"`), Engine: "innodb"}, `no configuration for mongod's engine "innodb"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			_, err := server.Start(t.Context(), c.cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
			if !errors.Is(err, server.ErrRefused) {
				t.Errorf("error %v is no ErrRefused", err)
			}
			if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	program, _ := useStandin(t, standinServes, "7.0.5")
	for name, c := range map[string]struct {
		files map[string]string
		want  string // "" is accepted
	}{
		"somebody's data":   {map[string]string{"ibdata1": "x", "a": "", "b": "", "c": ""}, "is not empty (a, b, c, …) and was not made by an earlier run; nothing in it was touched"},
		"a new file system": {map[string]string{"lost+found": ""}, ""},
		"another product's": {map[string]string{"insertbench-server.json": `{"product":"MariaDB","version":"10.11.1","initialised":true}`}, "holds data of MariaDB 10.11.1"},
		"cut short":         {map[string]string{"insertbench-server.json": `{"product":"MariaDB","version":"10.11.1","initialised":false}`, "data": "half"}, ""},
		"a broken marker":   {map[string]string{"insertbench-server.json": `{`}, "read the data directory's marker"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := server.Start(t.Context(), server.Config{Program: program, DataDir: dir})
			if err == nil {
				stop(t, s)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
			if c.want != "" && !errors.Is(err, server.ErrRefused) {
				t.Errorf("error %v is no ErrRefused", err)
			}
			for file, text := range c.files {
				if c.want == "" {
					break
				}
				if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(b) != text {
					t.Errorf("%s is now %q (%v)", file, b, err)
				}
			}
		})
	}
}

// TestIdentifyOutsidePath: an ordinary user's PATH lacks /usr/sbin, where
// distributions install servers.
func TestIdentifyOutsidePath(t *testing.T) {
	if _, err := os.Stat("/usr/sbin/mariadbd"); err != nil {
		t.Skip("no /usr/sbin/mariadbd")
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	id, err := server.Identify(t.Context(), "mariadbd", nil)
	if err != nil || id.Product != server.MariaDB {
		t.Errorf("got %v, %v", id, err)
	}
	if _, err := server.Identify(t.Context(), "mariadbd", []string{"no-such-numactl"}); err == nil || err.Error() != "no no-such-numactl in PATH: install it or give its path" {
		t.Errorf("a wrapper that isn't there: %v", err)
	}
}
