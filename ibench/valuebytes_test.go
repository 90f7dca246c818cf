package ibench_test

import (
	"testing"

	"insertbench/drivers/fake"
	"insertbench/ibench"
)

// TestValueBytes: a row of 15 bytes of data has 8 + 8 + 4×4 + 15 = 47.
func TestValueBytes(t *testing.T) {
	c := paired()
	c.DataLengthMin, c.DataLengthMax = 15, 15
	b := newBench(t, c, openFake(t, fake.Config{KeepRows: true}))
	grow, queue := ibench.DefaultWrite(), ibench.DefaultWrite()
	grow.Rows, queue.Rows, queue.Deletes = 300, 200, true
	for _, s := range []struct {
		step           ibench.Step
		inserted, held float64 // rows; inserted is negative where nothing is
	}{
		{loadStep(1000, 0), 1000, 1000}, {ibench.Step{Name: "index", Do: ibench.ActionIndex}, -1, 1000},
		{grow, 300, 1300}, {queue, 200, 1300},
	} {
		m := mustDo(t, b, s.step)[0].Metrics
		if got := *m["logical_bytes"].Value; got != 47*s.held {
			t.Errorf("%s: the tables hold %v bytes, want %v", s.step.Name, got, 47*s.held)
		}
		inserted, known := m["inserted_bytes"]
		if known != (s.inserted >= 0) || known && *inserted.Value != 47*s.inserted {
			t.Errorf("%s: %+v inserted, want %v rows", s.step.Name, inserted, s.inserted)
		}
	}
}
