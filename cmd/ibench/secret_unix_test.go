//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"insertbench/internal/server/servertest"
)

// secret has signs that a DSN and a URI give a meaning to.
const secret = "Ze/bra@:x?y=%41"

// TestSecretsStayHidden gives a password in every way to runs that end in
// every way, and looks for it in all that they printed and wrote.
func TestSecretsStayHidden(t *testing.T) {
	s := servertest.MariaDB(t)
	db, err := sql.Open("mysql", "root@unix("+s.Socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE DATABASE secrets", "CREATE USER guest@localhost IDENTIFIED BY '" + secret + "'", "GRANT ALL ON secrets.* TO guest@localhost",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := []string{"--socket=" + s.Socket, "--user=guest", "--database=secrets"}
	dsn := "guest:" + secret + "@unix(" + s.Socket + ")/secrets"
	ways := []struct {
		name string
		env  string
		args []string
	}{
		{"file", "", append(slices.Clone(socket), "--password-file="+file)},
		{"environment", "IBENCH_PASSWORD=" + secret, socket},
		{"flag", "", append(slices.Clone(socket), "--password="+secret)},
		{"flag in two words", "", append(slices.Clone(socket), "--password", secret)},
		{"DSN", "", []string{"--dsn=" + dsn}},
		{"DSN in two words", "", []string{"--dsn", dsn}},
	}
	const warning = "warning: a password on the command line"
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			for _, end := range []struct {
				name string
				code int
				args []string
			}{
				{"done", 0, []string{"--rows=1000", "--drop"}},
				{"table exists", 2, []string{"--rows=1000"}},
				{"statement refused", 1, []string{"--rows=1000", "--drop", "--engine-options=nonsense"}},
				{"engine unknown", 2, []string{"--engine=nonsense"}},
				{"misspelt", 2, []string{"--nonsense"}},
			} {
				dir := t.TempDir()
				out := runIn(t, dir, way.env, end.code, slices.Concat([]string{"load"}, way.args, end.args)...)
				lookFor(t, dir, out)
				warned := 0
				if strings.Contains(way.name, "flag") || strings.Contains(way.name, "DSN") {
					warned = 1
				}
				if got := strings.Count(out, warning); got != warned && end.name != "misspelt" {
					t.Errorf("%s: warned %d times, want %d:\n%s", end.name, got, warned, out)
				}
			}
			dir := t.TempDir()
			lookFor(t, dir, runIn(t, dir, way.env, 0, slices.Concat([]string{"drop"}, way.args)...))
		})
	}
	for _, refused := range []struct {
		code int
		args []string
	}{
		{3, []string{"--socket=none", "--password=" + secret}},
		{3, []string{"--socket=" + s.Socket, "--password=" + secret}}, // root has none
		{3, []string{"--host=127.0.0.1", "--port=1", "--password-file=" + file}},
		{3, []string{"--dsn=root:" + secret + "@unix(" + s.Socket + ")/secrets"}},
		{2, []string{"--dsn=root:" + secret}},
		{2, []string{"--dsn=root:" + secret + "@tcp(h:1"}},
		{2, []string{"--dsn=root:" + secret + "(h:1)/secrets"}},
		{2, []string{"--dsn=mysql://root:" + secret + "@h:1/secrets"}},
		{2, []string{"--dsn=" + dsn + "?timeout=x"}},
		{2, []string{"--dbms=sqlite", "--password=" + secret}},
		{3, []string{"--uri=mongodb://root:Ze%2Fbra@127.0.0.1:1/", "--connect-timeout=1s"}},
		{2, []string{"--uri=mongodb://root:" + secret + "@127.0.0.1:1/", "--connect-timeout=1s"}},
		{2, []string{"--uri=mongodb://root:" + secret + "@127.0.0.1:1/?w=x&w=y&readConcernLevel", "--connect-timeout=1s"}},
		{2, []string{"-p" + secret}},
	} {
		dir := t.TempDir()
		out := runIn(t, dir, "", refused.code, append([]string{"load"}, refused.args...)...)
		lookFor(t, dir, out)
	}
}

// runIn runs ibench in a folder and gives all that it printed.
func runIn(t *testing.T, dir, env string, code int, args ...string) string {
	t.Helper()
	cmd := exec.Command("ibench", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, env)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("ibench %q: exit code %d, want %d: %v\n%s", args, got, code, err, out)
	}
	return string(out)
}

// lookFor looks for the secret in what was printed and in every file.
func lookFor(t *testing.T, dir, printed string) {
	t.Helper()
	for _, text := range []string{secret, "Ze/bra", "Ze%2Fbra", "Zebra"} {
		if strings.Contains(printed, text) {
			t.Errorf("%q was printed:\n%s", text, printed)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("Ze/bra")) || bytes.Contains(data, []byte("Ze%2Fbra")) || strings.Contains(path, "Ze") {
			t.Errorf("it is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
