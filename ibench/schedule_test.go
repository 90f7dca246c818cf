package ibench

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// schedule is when each worker of a step is to send its first hundred statements.
func schedule(seed uint64, number int) [][]time.Duration {
	b := &Bench{Config: Config{Seed: seed, Clients: 2}, number: number}
	s := Step{Rate: 1000, RowsPerCommit: 10, Pacing: PoissonPacing, QueryRate: 100, QueryPacing: PoissonPacing, Readers: 1, Seconds: 60}
	w := &writing{
		bench: b, step: s,
		writers: []*insertTask{{client: 0}, {client: 1}}, readers: []*readTask{{reader: 0}, {reader: 1}},
	}
	var out [][]time.Duration
	for _, worker := range w.spec().Run.Workers {
		var starts []time.Duration
		for n := range int64(100) {
			starts = append(starts, worker.Pacer.Start(n))
		}
		out = append(out, starts)
	}
	return out
}

// TestPoissonScheduleIsOfTheSeed: two runs of a seed intend the same; another
// seed, another step and each of a step's workers have gaps of their own.
func TestPoissonScheduleIsOfTheSeed(t *testing.T) {
	first := schedule(7, 1)
	if diff := cmp.Diff(first, schedule(7, 1)); diff != "" {
		t.Errorf("the same seed gave another schedule:\n%s", diff)
	}
	all := slices.Concat(first, schedule(8, 1), schedule(7, 2))
	if len(all) != 12 {
		t.Fatalf("%d workers, want 4 in each of 3 steps", len(all))
	}
	for i, a := range all {
		for j, b := range all[:i] {
			if slices.Equal(a, b) {
				t.Errorf("workers %d and %d have the same schedule", j, i)
			}
		}
	}
}

// TestPunctual: who keeps a rate waits for the kernel's timers where the bench says so.
func TestPunctual(t *testing.T) {
	for _, want := range []bool{false, true} {
		w := &writing{bench: &Bench{Config: Config{Clients: 1}, Punctual: want}, step: Step{Rate: 10, RowsPerCommit: 1}, writers: []*insertTask{{}}}
		if got := w.spec().Run.Punctual; got != want {
			t.Errorf("a bench with Punctual %v measures with %v", want, got)
		}
	}
}
