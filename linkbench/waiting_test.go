package linkbench_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/internal/load"
	"insertbench/linkbench"
	"insertbench/linkbench/memory"
)

// slowIndex takes three seconds and a half over the index.
type slowIndex struct{ *memory.Store }

func (s slowIndex) CreateIndex(ctx context.Context, l linkbench.Layout) error {
	err := s.Store.CreateIndex(ctx, l)
	time.Sleep(3500 * time.Millisecond)
	return err
}

// TestIndexWaits: an index step counts nothing before its end, and says each
// second what it waits for instead; a load counts.
func TestIndexWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, db := workload(t, nil), slowIndex{memory.New()}
		s := session(t, db)
		var said []string
		s.Progress = func(goal linkbench.Goal) func(*load.Interval) {
			if (goal.Waiting != nil) != (goal.Step == "index") {
				t.Errorf("step %s says what it waits for: %v", goal.Step, goal.Waiting != nil)
			}
			return func(*load.Interval) {
				if goal.Waiting != nil {
					said = append(said, goal.Waiting())
				}
			}
		}
		if err := linkbench.CreateTables(t.Context(), db, linkbench.Layout{Index: linkbench.IndexCovering}, false); err != nil {
			t.Fatal(err)
		}
		if _, _, err := linkbench.Load(t.Context(), w, s); err != nil {
			t.Fatal(err)
		}
		if _, err := linkbench.BuildIndex(t.Context(), s, linkbench.Layout{Index: linkbench.IndexCovering}, 1000); err != nil {
			t.Fatal(err)
		}
		// Three whole intervals and the last half.
		const what = "building index id1_type"
		if diff := cmp.Diff([]string{what, what, what, what}, said); diff != "" {
			t.Errorf("what it waited for (-want +got):\n%s", diff)
		}
	})
}
