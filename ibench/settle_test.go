package ibench_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"insertbench/drivers/fake"
	"insertbench/ibench"
	"insertbench/results"
)

// slowToRestore settles until it is interrupted, and then takes long over
// putting back what it has changed.
type slowToRestore struct {
	*fake.Server
	restoring time.Duration
}

func (s slowToRestore) Settle(ctx context.Context, _ []string, _ time.Duration) (ibench.Settled, error) {
	<-ctx.Done()
	time.Sleep(s.restoring)
	return ibench.Settled{Unverified: []string{"put it back by hand"}}, ctx.Err()
}

// TestSettleRestoring: an interrupted settle has the half minute that drivers
// may take to put a server's variables back, and what it says then is kept.
func TestSettleRestoring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := slowToRestore{openFake(t, fake.Config{}), 30 * time.Second}
		b := newBench(t, oneClient(), db)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		done, err := b.Do(ctx, ibench.Step{Name: "settle", Do: ibench.ActionSettle, LimitSeconds: 60})
		if err == nil || len(done) != 1 {
			t.Fatalf("the step gave %+v, %v", done, err)
		}
		want := results.Event{Kind: "unverified", Text: "put it back by hand"}
		if events := done[0].Events; len(events) != 1 || events[0] != want {
			t.Errorf("events %+v, want %+v", events, want)
		}
	})
}
