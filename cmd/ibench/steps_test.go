package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
)

// resolved is a configuration as the record holds it.
func resolved(t *testing.T, flags []urfave.Flag, resolve func(*urfave.Context) error, cfg any, args []string) string {
	t.Helper()
	app := &urfave.App{Flags: flags, Action: resolve}
	if err := app.RunContext(t.Context(), append([]string{"ibench"}, args...)); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func testProcess() *cli.Process {
	return &cli.Process{Stderr: new(bytes.Buffer), Getenv: func(string) string { return "" }}
}

// resolvedLoad is the configuration of a load.
func resolvedLoad(t *testing.T, args ...string) string {
	cfg := &loadConfig{Load: ibench.DefaultConfig()}
	return resolved(t, cfg.flags(), func(c *urfave.Context) error { return cfg.resolve(c, testProcess()) }, cfg, args)
}

// resolvedRun is the configuration of a run; resolvedOLTP that of an oltp.
func resolvedRun(t *testing.T, args ...string) string {
	cfg, o := newRun()
	flags := slices.Concat(planFlags(o, cfg), tableFlags(&cfg.Data.Shape), longFlags(&o.long), rowFlags(&cfg.Data), cli.ConnectionFlags(), cli.MeasuringFlags(&cfg.Measuring))
	return resolved(t, flags, func(c *urfave.Context) error { return cfg.resolvePlan(c, testProcess(), o) }, cfg, args)
}

func resolvedOLTP(t *testing.T, args ...string) string {
	cfg := &stepsConfig{Data: ibench.DefaultConfig()}
	step := ibench.DefaultWrite()
	flags := slices.Concat(writeFlags(&step), []urfave.Flag{uniqueFlag(&cfg.Data, ""), strictFlag(&cfg.Strict)}, dataFlags(&cfg.Data), cli.ConnectionFlags(), cli.MeasuringFlags(&cfg.Measuring))
	return resolved(t, flags, func(c *urfave.Context) error {
		cfg.Steps = []ibench.Step{step}
		return cfg.resolve(c, testProcess())
	}, cfg, args)
}

type stepFlag struct {
	arg  string
	with []string
	want string
}

// TestEveryPlanFlagIsRecorded walks the flags that make a plan: each changes
// the steps or the data, and one without an entry fails.
func TestEveryPlanFlagIsRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(file, []byte("[[step]]\nname = 'fill'\ndo = 'load'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "mariadbd") // says what a server says, and is none
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'mariadbd  Ver 10.11.6-MariaDB for Linux on x86_64 (test)'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cfg, o := newRun()
	checkFlags(t, slices.Concat(planFlags(o, cfg), tableFlags(&cfg.Data.Shape), longFlags(&o.long)), resolvedRun, map[string]stepFlag{
		"restart-server":    {"--restart-server", []string{"--server=" + program}, `"restart_server":true`},
		"plan":              {"--plan=" + file, nil, `"steps":[{"name":"fill","do":"load","rows":250000`},
		"rates":             {"--rates=300:point", nil, `"name":"qp300"`},
		"query-seconds":     {"--query-seconds=7.5", nil, `"seconds":7.5`},
		"no-deletes":        {"--no-deletes", []string{"--plan=current", "--skip=qr100"}, `"name":"l.i2","do":"write","rows":10000,"seconds":0,"rows_per_commit":5,"writers":1,"rate_rows_per_second":0,"pacing":"constant","deletes":false`},
		"post-scan":         {"--post-scan", nil, `"name":"scan2"`},
		"from":              {"--from=q1000", nil, `"steps":[{"name":"q1000"`},
		"only":              {"--only=scan", nil, `"steps":[{"name":"scan"`},
		"skip":              {"--skip=load,scan", nil, `"steps":[{"name":"q1000"`},
		"strict":            {"--strict", nil, `"strict":true`},
		"rows":              {"--rows=20m", nil, `"do":"load","rows":20000000`},
		"rows2":             {"--rows2=5k", []string{"--plan=current"}, `"name":"l.i1","do":"write","rows":4000,`},
		"clients":           {"--clients=3", nil, `"clients":3,"tables":3`},
		"tables":            {"--tables=2", []string{"--clients=4"}, `"clients":4,"tables":2`},
		"secondary-indexes": {"--secondary-indexes=1", nil, `"indexes":1`},
		"bulk-load":         {"--bulk-load", []string{"--dbms=mysql", "--plan=current"}, `"bulk_load":true`},
		"unique-checks":     {"--unique-checks=false", []string{"--dbms=mysql"}, `"unique_checks":false`},
		"drop":              {"--drop", nil, `"drop":true`},
		"verify":            {"--verify=count", nil, `"verify":"count"`},

		"partitions":         {"--partitions=4", nil, `"partitions":4`},
		"rows-per-partition": {"--rows-per-partition=10k", []string{"--partitions=2"}, `"rows_per_partition":10000`},
		"column-families":    {"--column-families", nil, `"column_families":true`},
		"ddl-pre":            {"--ddl-pre=" + program, nil, `"ddl_pre_file":"` + program},
		"ddl-post":           {"--ddl-post=" + program, nil, `"ddl_post_file":"` + program},

		"htap-seconds":        {"--htap-seconds=1.5", nil, `"htap_seconds":1.5`},
		"long-reader-seconds": {"--long-reader-seconds=60", nil, `"long_reader_seconds":60`},
	}, "resume")
}

func TestEveryWriteFlagIsRecorded(t *testing.T) {
	end := []string{"--seconds=9"}
	step := ibench.DefaultWrite()
	data := ibench.DefaultConfig()
	flags := slices.Concat(writeFlags(&step), []urfave.Flag{uniqueFlag(&data, "")}, dataFlags(&data)[:3])
	checkFlags(t, flags, resolvedOLTP, map[string]stepFlag{
		"rows":                {"--rows=5k", end, `"rows":5000,"seconds":9`},
		"seconds":             {"--seconds=1.5", []string{"--rows=1k"}, `"rows":1000,"seconds":1.5`},
		"rate":                {"--rate=1k", end, `"rate_rows_per_second":1000`},
		"pacing":              {"--pacing=poisson", append([]string{"--rate=5"}, end...), `"pacing":"poisson"`},
		"rows-per-commit":     {"--rows-per-commit=7", end, `"rows_per_commit":7`},
		"writers":             {"--writers=0", end, `"writers":0`},
		"deletes":             {"--deletes", end, `"deletes":true`},
		"readers":             {"--readers=3", end, `"readers":3`},
		"query":               {"--query=point", end, `"query":"point"`},
		"rows-per-query":      {"--rows-per-query=20", end, `"rows_per_query":20`},
		"query-rate":          {"--query-rate=30", end, `"rate_queries_per_second":30`},
		"query-pacing":        {"--query-pacing=poisson", append([]string{"--query-rate=5"}, end...), `"query_pacing":"poisson"`},
		"ramp-from":           {"--ramp-from=10", append([]string{"--pacing=ramp", "--rate=5"}, end...), `"ramp_from_percent":10`},
		"ramp-seconds":        {"--ramp-seconds=4", append([]string{"--pacing=ramp", "--rate=5"}, end...), `"ramp_seconds":4`},
		"drop-after":          {"--drop-after=2", end, `"drop_after_seconds":2`},
		"htap-seconds":        {"--htap-seconds=1.5", end, `"htap_seconds":1.5`},
		"long-reader-seconds": {"--long-reader-seconds=60", end, `"long_reader_seconds":60`},
		"unique-checks":       {"--unique-checks=false", append([]string{"--dbms=mysql"}, end...), `"unique_checks":false`},
		"clients":             {"--clients=3", end, `"clients":3`},
		"tables":              {"--tables=2", append([]string{"--clients=4"}, end...), `"tables":2`},
		"verify":              {"--verify=off", end, `"verify":"off"`},
	})
}

// checkFlags wants an entry for every flag but the exempt ones, and what it
// says to appear with the flag and not without.
func checkFlags(t *testing.T, flags []urfave.Flag, resolve func(*testing.T, ...string) string, cases map[string]stepFlag, exempt ...string) {
	t.Helper()
	for _, flag := range flags {
		name := flag.Names()[0]
		c, ok := cases[name]
		if !ok {
			if !slices.Contains(exempt, name) {
				t.Errorf("no entry shows what --%s does to the record", name)
			}
			continue
		}
		delete(cases, name)
		without, with := resolve(t, c.with...), resolve(t, append(slices.Clone(c.with), c.arg)...)
		if strings.Contains(without, c.want) || !strings.Contains(with, c.want) {
			t.Errorf("%s with %q: want %s to appear\nwithout: %s\nwith:    %s", c.arg, c.with, c.want, without, with)
		}
	}
	for name := range cases {
		t.Errorf("there is no flag --%s", name)
	}
}
