package server

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What programs print for --version. MariaDB's and MySQL 9's are as Debian's packages print them; the others are from the
// vendors' documentation.
var versionOutputs = []struct {
	out  string
	want Identity // zero: no server
}{
	{"mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n", Identity{MariaDB, "10.11.19-MariaDB-0+deb12u1"}},
	{"/usr/sbin/mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n", Identity{MariaDB, "10.11.19-MariaDB-0+deb12u1"}},
	{"/opt/my/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))\n", Identity{MySQL, "9.7.4-2"}},
	{"2026-01-01 0 [Warning] something first\n/usr/sbin/mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)\n", Identity{PerconaMySQL, "8.0.36-28"}},
	{"mysqld  Ver 5.6.51-log for Linux on x86_64 (MySQL Community Server (GPL))\n", Identity{MySQL, "5.6.51-log"}},
	{"my-own-build  Ver 8.4.2 for Linux on x86_64 (Source distribution)\n", Identity{MySQL, "8.4.2"}},
	{"db version v3.4.24\ngit version: 865b4f6a96d0f5425e39a18337105f33e8db504d\n", Identity{Mongod, "3.4.24"}},
	{"db version v7.0.0-rc1\nBuild Info: {\n    \"version\": \"7.0.0-rc1\"\n}\n", Identity{Mongod, "7.0.0-rc1"}},
	{"db version v6.0.4-3\nBuild Info: {\n    \"version\": \"6.0.4-3\"\n}\n", Identity{PerconaMongo, "6.0.4-3"}},
	{"mysql  Ver 15.1 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64) using  EditLine wrapper\n", Identity{}},
	{"mysql  Ver 9.4.0 for Linux on x86_64 ((Debian))\n", Identity{}},
	{"/usr/bin/mysqladmin  Ver 9.4.0 for Linux on x86_64 ((Debian))\n", Identity{}},
	{"mariadb-dump  Ver 10.19 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)\n", Identity{}},
	{"mongos version v7.0.5\n", Identity{}},
	{"MongoDB shell version v3.4.24\n", Identity{}},
	{"version: v2.7.0\ncommit: unknown\n", Identity{}},
	{"", Identity{}},
}

func TestParseVersion(t *testing.T) {
	for _, c := range versionOutputs {
		got, ok := parseVersion(c.out)
		if ok != (c.want != Identity{}) || got != c.want {
			t.Errorf("%q is %v, %v; want %v", c.out, got, ok, c.want)
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, c := range versionOutputs {
		f.Add(c.out)
	}
	f.Fuzz(func(t *testing.T, out string) {
		id, ok := parseVersion(out)
		if ok && (id.Product == "" || id.Version == "" || strings.ContainsAny(id.Version, " \n") || !strings.Contains(out, id.Version)) {
			t.Errorf("%q is %v", out, id)
		}
		id.atLeast(8, 0, 0)
	})
}

func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		version string
		a, b, c int
		want    bool
	}{
		{"8.0.30", 8, 0, 30, true}, {"8.0.29", 8, 0, 30, false}, {"9.4.0", 8, 0, 30, true}, {"10.11.19-MariaDB-0+deb12u1", 10, 5, 0, true},
		{"10.4.9-MariaDB", 10, 5, 0, false}, {"3.4.24", 4, 0, 0, false}, {"6.0.4-3", 6, 1, 0, false}, {"6.1.0", 6, 1, 0, true}, {"?", 1, 0, 0, false},
	} {
		if got := (Identity{Version: c.version}).atLeast(c.a, c.b, c.c); got != c.want {
			t.Errorf("%s at least %d.%d.%d: %v", c.version, c.a, c.b, c.c, got)
		}
	}
}

func TestReasons(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"MariaDB": {"2026-11-30 22:37:46 0 [Note] InnoDB: Starting shutdown...\n" +
			"2026-11-30 22:37:46 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'x=1'\n2026-11-30 22:37:46 0 [ERROR] Aborting\n" +
			"2026-11-30 22:37:46 0 [Note] gone\n",
			[]string{"2026-11-30 22:37:46 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'x=1'", "2026-11-30 22:37:46 0 [ERROR] Aborting"}},
		"mongod 3.4": {"2026-01-01T00:00:00.000+0000 I CONTROL  [main] starting\n2026-01-01T00:00:00.000+0000 E NETWORK  [initandlisten] listen(): bind() failed\n",
			[]string{"2026-01-01T00:00:00.000+0000 E NETWORK  [initandlisten] listen(): bind() failed"}},
		"the last three": {"[ERROR] 1\n[ERROR] 2\n[ERROR] 3\n[ERROR] 4\n", []string{"[ERROR] 2", "[ERROR] 3", "[ERROR] 4"}},
		"secrets": {"[ERROR] mariadbd: unknown variable 'x_password=ze'b ra'\n[ERROR] near 'IDENTIFIED VIA x USING 'y' BY 'zebra''\n[ERROR] no mongodb://u:ze@bra@h/\n",
			[]string{"[ERROR] mariadbd: unknown variable 'x_password=***", "[ERROR] near 'IDENTIFIED VIA x USING 'y' BY***", "[ERROR] no mongodb://u:***@h/"}},
		"no error at all": {"one\n\ntwo\n", []string{"one", "two"}},
		"empty":           {"", nil},
	} {
		if diff := cmp.Diff(c.want, reasons(c.log)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzReasons(f *testing.F) {
	f.Add("2026-11-30 22:37:46 0 [ERROR] Aborting\n{\"s\":\"E\"}\r\n\xff")
	f.Fuzz(func(t *testing.T, log string) {
		got := reasons(log)
		if len(got) > errorLines {
			t.Errorf("%d lines", len(got))
		}
		for _, line := range got {
			if line == "" || strings.Contains(line, "\n") {
				t.Errorf("line %q", line)
			}
		}
	})
}
