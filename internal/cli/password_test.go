package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// resolve runs the connection flags on a command line.
func resolve(t *testing.T, p *Process, args ...string) (Connection, error) {
	t.Helper()
	if p.Stderr == nil {
		p.Stderr = new(bytes.Buffer)
	}
	if p.Getenv == nil {
		p.Getenv = func(string) string { return "" }
	}
	var conn Connection
	var err error
	app := &cli.App{
		Flags: append(ConnectionFlags(), &cli.BoolFlag{Name: "quiet"}), Writer: p.Stderr, ErrWriter: p.Stderr,
		Action: func(c *cli.Context) error {
			conn, err = ResolveConnection(c, p)
			return nil
		},
	}
	if failed := app.RunContext(t.Context(), append([]string{"test"}, args...)); failed != nil {
		t.Fatalf("%q: %v", args, failed)
	}
	return conn, err
}

func TestPasswordSources(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "--password-file=" + path
	}
	const warned = "a password on the command line can be seen"
	for _, tc := range []struct {
		name, env string
		args      []string
		want      string
		warning   bool
	}{
		{"none", "", nil, "", false},
		{"environment", "zebra", nil, "zebra", false},
		{"flag", "", []string{"--password=zebra"}, "zebra", true},
		{"flag of a quiet run", "", []string{"--password=zebra", "--quiet"}, "zebra", false},
		{"an empty one", "lion", []string{"--password="}, "", true},
		{"file", "", []string{file("plain", "zebra")}, "zebra", false},
		{"file before environment", "lion", []string{file("line", "zebra\n")}, "zebra", false},
		{"file of Windows", "", []string{file("crlf", "zebra\r\nlion\r\n")}, "zebra", false},
		{"blanks belong to it", "", []string{file("blank", " ze bra \n")}, " ze bra ", false},
		{"any signs", "", []string{file("signs", "z\xff'\"\\:@/")}, "z\xff'\"\\:@/", false},
	} {
		out := new(bytes.Buffer)
		p := &Process{Stderr: out, Getenv: func(name string) string {
			if name == PasswordEnv {
				return tc.env
			}
			return ""
		}}
		conn, err := resolve(t, p, append([]string{"--user=u"}, tc.args...)...)
		if err != nil || conn.Password.Reveal() != tc.want {
			t.Errorf("%s: got %q, %v", tc.name, conn.Password.Reveal(), err)
		}
		if got := strings.Count(out.String(), warned); got > 1 || (got == 1) != tc.warning {
			t.Errorf("%s: warned %d times: %s", tc.name, got, out)
		}
	}
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"no file", []string{"--password-file=" + dir + "/none"}, "no such file"},
		{"a folder", []string{"--password-file=" + dir}, "directory"},
		{"empty file", []string{file("empty", "")}, "first line is empty"},
		{"empty first line", []string{file("empty2", "\nzebra")}, "first line is empty"},
		{"two sources", []string{file("two", "zebra"), "--password=lion"}, "give one of"},
		{"asking without a terminal", []string{"--ask-password"}, "standard input is no terminal"},
		{"a DSN that is none", []string{"--dsn=u:zebra/d"}, "the DSN is refused"},
		{"a DSN beside a user", []string{"--dsn=u:zebra@tcp(h)/d", "--user=x"}, "--dsn and --user"},
	} {
		stdin, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		out := new(bytes.Buffer)
		args := tc.args
		if !strings.HasPrefix(args[0], "--dsn") {
			args = append([]string{"--user=u"}, args...)
		}
		_, err = resolve(t, &Process{Stderr: out, Stdin: stdin}, args...)
		if CodeOf(err) != Usage || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: exit code %d, %v", tc.name, CodeOf(err), err)
		}
		if strings.Contains(out.String()+err.Error(), "zebra") {
			t.Errorf("%s: the password is in %q or %v", tc.name, out, err)
		}
		stdin.Close()
	}
}

func TestDSN(t *testing.T) {
	out := new(bytes.Buffer)
	conn, err := resolve(t, &Process{Stderr: out}, "--dsn=u:zebra@tcp(h:3307)/d")
	if err != nil || conn.DBMS != "mysql" || conn.DSNShown != "u:***@tcp(h:3307)/d" || conn.DSN.Reveal() != "u:zebra@tcp(h:3307)/d" {
		t.Errorf("got %q, %q, %v", conn.DBMS, conn.DSNShown, err)
	}
	if strings.Count(out.String(), "a password on the command line") != 1 {
		t.Errorf("warned: %s", out)
	}
	out.Reset()
	if _, err := resolve(t, &Process{Stderr: out}, "--dsn=u@tcp(h:3307)/d"); err != nil || out.Len() > 0 {
		t.Errorf("without a password: %v, warned: %s", err, out)
	}
}
