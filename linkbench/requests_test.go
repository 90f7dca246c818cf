package linkbench

import (
	"testing"
	"time"

	"insertbench/internal/load"
)

// Of two workers with a request each 100 ms, from 0 on, 20 are due within a second.
func TestReached(t *testing.T) {
	every := func(int) load.Pacer { return &load.Constant{PerSecond: 10, Batch: 1} }
	result := func(lastAck time.Duration, units ...int64) *load.Result {
		r := &load.Result{LastAck: lastAck}
		for _, n := range units {
			r.Workers = append(r.Workers, load.WorkerResult{Units: n})
		}
		return r
	}
	for _, c := range []struct {
		name    string
		res     *load.Result
		planned int64
		want    float64
	}{
		{"all due", result(time.Second, 10, 10), 0, 100},
		{"half of those due", result(time.Second, 6, 4), 0, 50},
		{"all planned, in time", result(900*time.Millisecond, 10, 10), 20, 100},
		// The tenth is due at 900 ms.
		{"all planned, in twice the time", result(1800*time.Millisecond, 10, 10), 20, 50},
		// Each ends with its fifth, of 0 to 400 ms, though one more answer comes late; 9 of 10 didn't fail.
		{"one failed and the last one late", result(time.Second, 5, 4), 10, 90},
		{"fewer than planned", result(time.Second, 5, 5), 40, 50},
	} {
		got := reached(c.res, c.planned, every)
		if got == nil || *got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := reached(result(0, 0), 0, every); got != nil {
		t.Errorf("nothing sent: %v", *got)
	}
}
