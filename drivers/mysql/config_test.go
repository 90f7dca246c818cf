package mysql

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"insertbench/drivers"
)

const secret = "hunter2-S3CRET"

func TestConfig(t *testing.T) {
	for _, test := range []struct {
		name                                string
		config                              Config
		net, addr, user, password, database string
	}{
		{"nothing", Config{}, "tcp", "127.0.0.1:3306", "", "", "ib"},
		{"socket", Config{Socket: "/run/s.sock", User: "root"}, "unix", "/run/s.sock", "root", "", "ib"},
		{"host", Config{Host: "db1", User: "u", Password: drivers.NewSecret("p"), Database: "x"}, "tcp", "db1:3306", "u", "p", "x"},
		{"IPv6", Config{Host: "::1", Port: 3307}, "tcp", "[::1]:3307", "", "", "ib"},
		{"DSN", Config{DSN: "bench@tcp(10.0.0.5:3306)/ib"}, "tcp", "10.0.0.5:3306", "bench", "", "ib"},
		{"DSN with password", Config{DSN: "bench:p@ss/word@tcp(10.0.0.5:3306)/d"}, "tcp", "10.0.0.5:3306", "bench", "p@ss/word", "d"},
		{"DSN with the password beside it", Config{DSN: "bench@unix(/s.sock)/", Password: drivers.NewSecret("p")}, "unix", "/s.sock", "bench", "p", "ib"},
		{"DSN and fields that agree", Config{DSN: "u@tcp(h:1)/d", User: "u", Database: "d"}, "tcp", "h:1", "u", "", "d"},
		{"DSN without a port", Config{DSN: "u@tcp(h)/d"}, "tcp", "h:3306", "u", "", "d"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := test.config.driverConfig()
			if err != nil {
				t.Fatal(err)
			}
			got := []string{cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName}
			want := []string{test.net, test.addr, test.user, test.password, test.database}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if cfg.ClientFoundRows || cfg.MultiStatements || cfg.MaxAllowedPacket != 0 || cfg.Params["autocommit"] != "1" || cfg.Timeout != 5*time.Second {
				t.Errorf("got %+v, want found rows and multiple statements off, the server's packet limit, autocommit on, 5 s to connect", cfg)
			}
		})
	}
}

func TestConfigKeepsWhatItNeedsOverTheDSN(t *testing.T) {
	c := Config{DSN: "u@tcp(h)/d?clientFoundRows=true&multiStatements=true&maxAllowedPacket=1000&autocommit=0&timeout=1h&sql_log_bin=0"}
	cfg, err := c.driverConfig()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.ClientFoundRows || cfg.MultiStatements || cfg.MaxAllowedPacket != 0 || cfg.Params["autocommit"] != "1" || cfg.Timeout != 5*time.Second {
		t.Errorf("got %+v", cfg)
	}
	if cfg.Params["sql_log_bin"] != "0" {
		t.Errorf("the DSN's own variable is lost: %v", cfg.Params)
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		config Config
		want   string
	}{
		{"socket and host", Config{Socket: "/s", Host: "h"}, "can't be combined"},
		{"port", Config{Port: 70000}, "--port=70000"},
		{"TLS", Config{TLS: "maybe"}, "--tls=maybe"},
		{"engine", Config{Engine: "innodb; drop"}, "letters, digits"},
		{"timeout", Config{StatementTimeout: -1}, "negative"},
		{"database", Config{Database: "a/b"}, "isn't a name"},
		{"DSN and socket", Config{DSN: "u@tcp(h)/d", Socket: "/s"}, "--socket was given beside a DSN"},
		{"DSN and another user", Config{DSN: "u@tcp(h)/d", User: "v"}, "--user was given beside a DSN"},
		{"two passwords", Config{DSN: "u:" + secret + "@tcp(h)/d", Password: drivers.NewSecret("other")}, "--password was given"},
		{"TLS twice", Config{DSN: "u@tcp(h)/d?tls=skip-verify", TLS: "off"}, "--tls was given"},
		{"no slash", Config{DSN: "root:" + secret + "@tcp(h)"}, "no slash"},
		{"no at", Config{DSN: "root:" + secret + "/ib"}, "can't be read"},
		{"no at, with address", Config{DSN: "root:" + secret + "(h)/ib"}, "isn't tcp or unix"},
		{"URL", Config{DSN: "mysql://root:" + secret + "@h/ib"}, "isn't a URL"},
		{"slash in the wrong place", Config{DSN: "root:x@tcp(h)/" + secret + "%zz"}, "can't be read"},
		{"bad parameter", Config{DSN: "root:x@tcp(h)/d?tls=" + secret}, "can't be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.config.Validate()
			if !errors.Is(err, drivers.ErrConfig) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want one of kind ErrConfig with %q", err, test.want)
			}
			wantNoSecret(t, err, secret)
		})
	}
}

// wantNoSecret looks for a password in everything an error can print.
func wantNoSecret(t testing.TB, err error, password string) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), password) {
			t.Errorf("the password is in the error: %v", err)
		}
	}
}

func TestConfigPrintsNoPassword(t *testing.T) {
	c := Config{Password: drivers.NewSecret(secret)}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%s %v %+v %#v", text, c, c, c); strings.Contains(all, secret) {
		t.Errorf("the password is printed: %s", all)
	}
}

// FuzzDSN: a DSN is taken or refused with an error of the right kind, and
// neither panics. What is refused isn't quoted, since it may be a password.
func FuzzDSN(f *testing.F) {
	for _, seed := range []string{
		"", "/", "bench@tcp(10.0.0.5:3306)/ib", "u:p@unix(/run/s.sock)/ib?tls=preferred", "root:PASSWORD/ib", "mysql://u:PASSWORD@h/d",
		"u:PASSWORD@tcp(h:1/d", "u:PASSWORD@tcp(h))/d%zz", "u@tcp(h)/d?tls=PASSWORD", "PASSWORD(h)/x", "@/", "u@udp(h)/d", "u@tcp([::1]:3306)/d?charset=utf8mb4,utf8&collation=x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, dsn string) {
		err := Config{DSN: dsn}.Validate()
		if err == nil {
			return
		}
		if !errors.Is(err, drivers.ErrConfig) {
			t.Errorf("%q: got error %v, want one of kind ErrConfig", dsn, err)
		}
		if strings.Contains(dsn, "PASSWORD") && strings.Contains(err.Error(), "PASSWORD") {
			t.Errorf("%q is quoted in %q", dsn, err)
		}
	})
}
