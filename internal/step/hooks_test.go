package step_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"insertbench/internal/load"
	"insertbench/internal/step"
	"insertbench/results"
)

// TestHooks: hooks that take long are outside the window and its costs, and
// know the step; one that fails at the start ends the run before the step, one
// that fails at the end is a note.
func TestHooks(t *testing.T) {
	for _, tc := range []struct {
		name            string
		startErr, opErr error
		end             error
		facts           []string
		note, err       string
	}{
		{name: "both", facts: []string{"EDGE=end", "STEP=load", "KIND=load", "SERVER_PID=100", "DBMS=fake", "DISKS=sda", "COMPLETE=true", "SECONDS=1.4", "ROWS=200", "QUERIES="}},
		{name: "the one at the end fails", end: errors.New("no perf"), note: "the hook at the end of step load: no perf"},
		{name: "the step fails", opErr: errors.New("no more"), err: "no more", facts: []string{"COMPLETE=false", "REASON=no more", "ROWS=100"}},
		{name: "the one at the start fails", startErr: errors.New("no caches"), err: "the hook at the start of step load: no caches"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				server := h.server(local(), false)
				m, err := step.NewMeter(h.root(), step.Target{Server: server})
				if err != nil {
					t.Fatal(err)
				}
				var calls []string
				var facts []string
				slow := func(edge string, result error) func(context.Context, []string, *os.File) error {
					return func(_ context.Context, told []string, out *os.File) error {
						calls, facts = append(calls, edge), told
						h.move(7) // it works the disk
						time.Sleep(time.Hour)
						_, err := fmt.Fprintln(out, "hello from", edge)
						return errors.Join(result, err)
					}
				}
				m.SetHooks(step.Hooks{Start: slow("start", tc.startErr), End: slow("end", tc.end)})
				w := h.writer()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				got, err := m.Run(ctx, w, step.Spec{Name: "load", Kind: results.KindLoad, Server: server, Rates: true,
					Run: load.Run{Ops: []string{"insert"}, Workers: []load.Worker{{Task: &script{host: h, ops: beats(2), err: tc.opErr}}}}})
				if fmt.Sprint(err) != cmp.Or(tc.err, "<nil>") || got.Complete != (tc.err == "") || got.Reason != tc.err {
					t.Errorf("complete %v, reason %q, error %v", got.Complete, got.Reason, err)
				}
				if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, tc.note) || tc.note == "" && strings.Contains(notes, "hook") {
					t.Errorf("notes %q, want %q", notes, tc.note)
				}
				if tc.startErr != nil {
					if !slices.Equal(calls, []string{"start"}) || got.EndedUTC == nil {
						t.Errorf("called %v, ended %v", calls, got.EndedUTC)
					}
					return
				}
				// Two operations, or one that counts, are as many units of work.
				units := 2.0
				if tc.opErr != nil {
					units = 1
				}
				check(t, got.Metrics, map[string]float64{"rows": 100 * units, "reads": 10 * units})
				if !slices.Equal(calls, []string{"start", "end"}) {
					t.Errorf("called %v", calls)
				}
				for _, want := range tc.facts {
					if !slices.Contains(facts, step.FactPrefix+want) {
						t.Errorf("facts %q lack %s", facts, want)
					}
				}
				if len(facts) != len(step.HookFacts) {
					t.Errorf("%d facts, the table has %d", len(facts), len(step.HookFacts))
				}
				text, err := os.ReadFile(filepath.Join(w.Dir(), "dumps", "load-end-hook.txt"))
				if err != nil || string(text) != "hello from end\n" {
					t.Errorf("it printed %q, %v", text, err)
				}
			})
		})
	}
}
