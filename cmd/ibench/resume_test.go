package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/ibench"
	"insertbench/results"
)

// measuredSteps are the steps that names and "!" for an incomplete one say.
func measuredSteps(text string) []results.Step {
	var steps []results.Step
	for name := range strings.FieldsSeq(text) {
		name, cut := strings.CutSuffix(name, "!")
		steps = append(steps, results.Step{Name: name, Complete: !cut, State: ibench.State{Clients: []ibench.Position{{Inserted: int64(len(steps))}}, Indexes: 3}})
	}
	return steps
}

func TestRemaining(t *testing.T) {
	plan, err := ibench.BuiltIn("classic", ibench.PlanOptions{Rows: 10, Indexes: 3, QuerySeconds: 1})
	if err != nil {
		t.Fatal(err)
	}
	const scan = " scan.1.pk scan.2.marketsegment scan.3.registersegment scan.4.pdc scan.5.pk2"
	for _, c := range []struct {
		name, has  string
		killed     bool
		kept, rest string
		inserted   int64
	}{
		{"the load was interrupted", "load!", false, "", "load scan q1000 q100", 0},
		{"killed at once", "", true, "", "load scan q1000 q100", 0},
		{"the scan was interrupted", "load scan.1.pk scan.2.marketsegment!", false, "load", "scan q1000 q100", 0},
		{"killed in the scan", "load", true, "load", "scan q1000 q100", 0},
		{"the scan failed between two of its parts", "load scan.1.pk", false, "load", "scan q1000 q100", 0},
		{"between the scan and q1000", "load" + scan, false, "load" + scan, "q1000 q100", 5},
		{"q1000 was interrupted", "load" + scan + " q1000!", false, "", "load scan q1000 q100", 0},
		{"killed in q100", "load" + scan + " q1000", true, "", "load scan q1000 q100", 0},
		{"nothing is left", "load" + scan + " q1000 q100", false, "-", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := &results.Run{Steps: measuredSteps(c.has)}
			if !c.killed {
				run.EndedUTC = &time.Time{}
			}
			e, rest, err := remaining(run, plan.Steps, "RUN")
			if c.kept == "-" {
				if err == nil {
					t.Errorf("got %v", rest)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var kept, left []string
			for _, s := range e.steps {
				kept = append(kept, s.Name)
			}
			for _, s := range rest {
				left = append(left, s.Name)
			}
			if diff := cmp.Diff([]string{strings.TrimSpace(c.kept), c.rest}, []string{strings.Join(kept, " "), strings.Join(left, " ")}); diff != "" {
				t.Errorf("kept and left (-want +got):\n%s", diff)
			}
			if len(kept) > 0 && e.state.Clients[0].Inserted != int64(len(kept)-1) {
				t.Errorf("the state is that after %d steps, want %d", e.state.Clients[0].Inserted+1, len(kept))
			}
		})
	}
}
