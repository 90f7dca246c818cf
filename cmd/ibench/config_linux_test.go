package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"insertbench/ibench"
	"insertbench/internal/cli"
)

// flagCase shows what a flag does to the record: among the arguments with, it
// turns the text that the configuration has without it into want.
type flagCase struct {
	arg  string
	with []string
	want string
}

func flagCases(t *testing.T) map[string]flagCase {
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := put("mariadbd", "#!/bin/sh\necho 'mariadbd  Ver 10.11.6-MariaDB for Linux on x86_64 (test)'\n", 0o755)
	mysql, mongo, private := []string{"--dbms=mysql"}, []string{"--dbms=mongo"}, []string{"--server=" + program}
	return map[string]flagCase{
		"rows":              {"--rows=250k", nil, `"rows":250000`},
		"clients":           {"--clients=4", nil, `"clients":4`},
		"tables":            {"--tables=2", []string{"--clients=4"}, `"tables":2`},
		"rows-per-commit":   {"--rows-per-commit=7", nil, `"rows_per_commit":7`},
		"secondary-indexes": {"--secondary-indexes=1", nil, `"secondary_indexes":1`},
		"indexes-at":        {"--indexes-at=end", nil, `"indexes_at":"end"`},
		"drop":              {"--drop", nil, `"drop":true`},
		"verify":            {"--verify=count", nil, `"verify":"count"`},

		"seed":            {"--seed=18446744073709551615", nil, `"seed":18446744073709551615`},
		"cash-registers":  {"--cash-registers=5", nil, `"cash_registers":5`},
		"products":        {"--products=5k", nil, `"products":5000`},
		"customers":       {"--customers=5", nil, `"customers":5`},
		"max-price":       {"--max-price=7", nil, `"max_price":7`},
		"data-length-min": {"--data-length-min=5", nil, `"data_length_min_bytes":5`},
		"data-length-max": {"--data-length-max=50", nil, `"data_length_max_bytes":50`},
		"data-random-pct": {"--data-random-pct=7", nil, `"data_random_pct":7`},

		"dbms":              {"--dbms=fake", nil, `"dbms":"fake"`},
		"dsn":               {"--dsn=u@tcp(h:1)/d", nil, `"dsn":"u@tcp(h:1)/d"`},
		"socket":            {"--socket=/s", nil, `"socket":"/s"`},
		"host":              {"--host=h", nil, `"host":"h"`},
		"port":              {"--port=3307", nil, `"port":3307`},
		"user":              {"--user=u", nil, `"user":"u"`},
		"password":          {"--password=zebra", mysql, `"password":"***"`},
		"password-file":     {"--password-file=" + put("pw", "zebra\n", 0o600), mysql, `"password":"***"`},
		"ask-password":      {"--ask-password", mysql, `"password":"***"`},
		"database":          {"--database=d", mysql, `"database":"d"`},
		"tls":               {"--tls=required", nil, `"tls":"required"`},
		"path":              {"--path=p", nil, `"path":"p"`},
		"engine":            {"--engine=rocksdb", mysql, `"engine":"rocksdb"`},
		"engine-options":    {"--engine-options=row_format=compressed", nil, `"engine_options":"row_format=compressed"`},
		"connect-timeout":   {"--connect-timeout=1m30s", nil, `"connect_timeout_seconds":90`},
		"statement-timeout": {"--statement-timeout=500ms", nil, `"statement_timeout_seconds":0.5`},

		"uri":                {"--uri=mongodb://h:1", nil, `"uri":"mongodb://h:1"`},
		"mongo-w":            {"--mongo-w=majority", nil, `"w":"majority"`},
		"mongo-j":            {"--mongo-j=false", mongo, `"j":false`},
		"mongo-wtimeout":     {"--mongo-wtimeout=2s", mongo, `"wtimeout_seconds":2`},
		"mongo-read-concern": {"--mongo-read-concern=local", mongo, `"read_concern":"local"`},
		"mongo-id":           {"--mongo-id=int64", mongo, `"id":"int64"`},
		"mongo-transactions": {"--mongo-transactions", mongo, `"transactions":true`},
		"mongo-unordered":    {"--mongo-unordered", mongo, `"unordered":true`},
		"short-names":        {"--short-names", mongo, `"short_names":true`},

		"server":         {"--server=" + program, nil, `"program":"` + program + `"`},
		"server-wrapper": {"--server-wrapper=nice -n 1", private, `"wrapper":["nice","-n","1"]`},
		"server-config":  {"--server-config=my.cnf", private, `"config_file":"my.cnf"`},
		"data-dir":       {"--data-dir=d", private, `"data_dir":"d"`},
		"keep-data":      {"--keep-data", private, `"keep_data":true`},
		"cache":          {"--cache=1g", private, `"cache_bytes":1073741824`},

		"partitions":         {"--partitions=4", nil, `"partitions":4`},
		"rows-per-partition": {"--rows-per-partition=10k", []string{"--partitions=2"}, `"rows_per_partition":10000`},
		"column-families":    {"--column-families", nil, `"column_families":true`},
		"ddl-pre":            {"--ddl-pre=" + put("pre.sql", "SELECT 1", 0o644), nil, `pre.sql"`},
		"ddl-post":           {"--ddl-post=" + put("post.sql", "SELECT 1", 0o644), nil, `post.sql"`},
		"bulk-load":          {"--bulk-load", append([]string{"--indexes-at=end"}, mysql...), `"bulk_load":true`},
		"unique-checks":      {"--unique-checks=false", mysql, `"unique_checks":false`},

		"device":        {"--device=sda", nil, `"device":"sda"`},
		"server-pid":    {"--server-pid=12, 13", nil, `"server_pids":[12,13]`},
		"no-lock":       {"--no-lock", nil, `"no_lock":true`},
		"pss":           {"--pss", nil, `"pss":true`},
		"on-step-start": {"--on-step-start=true", nil, `"on_step_start":"true"`},
		"on-step-end":   {"--on-step-end=true", nil, `"on_step_end":"true"`},
		"hook-timeout":  {"--hook-timeout=5s", nil, `"hook_timeout_seconds":5`},
		"results":       {"--results=r", nil, `"results":"r"`},
		"tag":           {"--tag=x", nil, `"tag":"x"`},
		"json":          {"--json", nil, `"json":true`},
		"quiet":         {"--quiet", nil, `"quiet":true`},
		"wide":          {"--wide", nil, `"wide":true`},
	}
}

// TestEveryFlagIsRecorded walks all flags of load: each changes the
// configuration that is stored in the record, one without an entry fails.
func TestEveryFlagIsRecorded(t *testing.T) {
	cases := flagCases(t)
	cfg := loadConfig{Load: ibench.DefaultConfig()}
	for _, flag := range cfg.flags() {
		name := flag.Names()[0]
		c, ok := cases[name]
		if !ok {
			t.Errorf("no entry shows what --%s does to the record", name)
			continue
		}
		delete(cases, name)
		without, with := recorded(t, c.with...), recorded(t, append(slices.Clone(c.with), c.arg)...)
		if strings.Contains(without, c.want) || !strings.Contains(with, c.want) {
			t.Errorf("%s with %q: want %s to appear\nwithout: %s\nwith:    %s", c.arg, c.with, c.want, without, with)
		}
		if strings.Contains(with, "zebra") {
			t.Errorf("%s: the password is in the record: %s", c.arg, with)
		}
	}
	for name := range cases {
		t.Errorf("load has no flag --%s", name)
	}
}

// recorded is the configuration of a load with some arguments as the record holds it.
func recorded(t *testing.T, args ...string) string {
	t.Helper()
	p := &cli.Process{Stdin: terminal(t, "zebra\n"), Stderr: new(bytes.Buffer), Getenv: func(string) string { return "" }}
	cfg := loadConfig{Load: ibench.DefaultConfig()}
	app := &urfave.App{Flags: cfg.flags(), Action: func(c *urfave.Context) error { return cfg.resolve(c, p) }}
	if err := app.RunContext(t.Context(), append([]string{"ibench"}, args...)); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// terminal is a terminal on which something was typed already.
func terminal(t *testing.T, typed string) *os.File {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("a terminal: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { side.Close() })
	if _, err := user.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	return side
}
