package load

import (
	"testing"
	"testing/synctest"
	"time"
)

// Of ten operations of one second, every second one fails: five are counted,
// and the last answer counted is the ninth's, at 9 s.
func TestFailedOperationsAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		task := scripted(10, func(n int, rec *Recorder) (Done, error) {
			time.Sleep(time.Second)
			if n%2 == 0 {
				return Done{Units: 1}, nil
			}
			rec.Error("1064", "fatal")
			return Done{Units: 1, Failed: true}, nil
		})
		res, err := Run{Ops: []string{"request"}, Workers: []Worker{{Task: task}}}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if res.Ops[0].Count != 5 || res.Units() != 5 || res.LastAck != 9*time.Second {
			t.Errorf("%d operations, %d units until %v, want 5, 5 until 9s", res.Ops[0].Count, res.Units(), res.LastAck)
		}
		if len(res.Errors) != 1 || res.Errors[0].Count != 5 {
			t.Errorf("errors %v, want one key counted 5 times", res.Errors)
		}
	})
}
