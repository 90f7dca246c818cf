package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mysql"
	"insertbench/internal/step"
)

var update = flag.Bool("update", false, "write the pages made from tables anew")

// page compares a page of the documentation with what the program's own table
// makes of it.
func page(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s isn't what the program's table says; go test ./cmd/ibench -run %s -update writes it anew", path, t.Name())
	}
}

// TestEngineCountersPage makes docs/engine-counters.md of the drivers' tables,
// and has every counter once, with a unit and a meaning.
func TestEngineCountersPage(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# The storage engines' own counters\n\n" +
		"They are read right before and right after a step's window, outside it, and kept in `run.json` as how far they moved;\n" +
		"of a level, what was at the end. `ibench tables --table=engine RUN` prints them. What a server doesn't have is `-`,\n" +
		"and so is what was reset meanwhile. This page is made from the tables the program reads them by.\n")
	for _, family := range []struct {
		title   string
		engines []drivers.EngineCounters
	}{
		{"`SHOW GLOBAL STATUS` of a MySQL-protocol server", mysql.EngineCounters},
		{"`serverStatus` of a MongoDB-protocol server", mongo.EngineCounters},
	} {
		fmt.Fprintf(&b, "\n## %s\n", family.title)
		for _, e := range family.engines {
			fmt.Fprintf(&b, "\n### %s\n\n| counter | unit | meaning | the server's name |\n|---|---|---|---|\n", e.Engine)
			var seen []string
			for _, c := range e.Counters {
				if c.Name == "" || c.Unit == "" || c.Meaning == "" || len(c.Sources) == 0 || slices.Contains(seen, c.Name) {
					t.Errorf("counter %+v is without something, or there twice", c)
				}
				seen = append(seen, c.Name)
				meaning := c.Meaning
				if c.Level {
					meaning += " (level)"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", c.Name, c.Unit, meaning, strings.Join(c.Sources, "`, else `"))
			}
		}
	}
	page(t, "../../docs/engine-counters.md", b.Bytes())
}

// TestHooksPage makes docs/hooks.md of the table of facts.
func TestHooksPage(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Commands at the ends of a step\n\n" +
		"`--on-step-start=COMMAND` runs a command in the shell when a step is ready for its first statement, `--on-step-end=COMMAND` after its last answer,\n" +
		"both outside the measured window. Each step of a run calls them. What they print is in `dumps/STEP-start-hook.txt` and `dumps/STEP-end-hook.txt`.\n\n" +
		"- One that fails at the start ends the run (exit 1) before the step: what it was to prepare isn't so. One that fails at the end is a warning\n" +
		"  and a note in the record. It is called after an interrupted step too.\n" +
		"- `--hook-timeout` (1 minute) ends a command that is still running. What is to go on during the step is left in the background with `&`.\n" +
		"- They have the environment of the program, without the database password. The commands are in the record: keep passwords in files.\n\n" +
		"```\n" +
		"ibench run --server=mariadbd --on-step-start='perf record -g -o $INSERTBENCH_RUN_DIR/$INSERTBENCH_STEP.perf -p $INSERTBENCH_SERVER_PID & echo $! >/tmp/perf.pid' \\\n" +
		"           --on-step-end='kill -INT $(cat /tmp/perf.pid)'\n" +
		"ibench scan --on-step-start='sync; echo 3 >/proc/sys/vm/drop_caches'\n" +
		"```\n\n| variable | meaning |\n|---|---|\n")
	for _, f := range step.HookFacts {
		fmt.Fprintf(&b, "| `%s%s` | %s |\n", step.FactPrefix, f.Name, f.Meaning)
	}
	b.WriteString("\nWhat isn't known is empty.\n")
	page(t, "../../docs/hooks.md", b.Bytes())
}
