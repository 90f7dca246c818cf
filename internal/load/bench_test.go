package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// nothing is a task that costs nothing, so that what is left is ours.
type nothing struct{ left int }

func (n *nothing) Next() bool { n.left--; return n.left >= 0 }

func (*nothing) Do(context.Context, *Recorder) (Done, error) { return Done{Units: 100}, nil }

func (*nothing) Abort() {}

// BenchmarkOperation is what a worker pays per operation beside the work
// itself. The paced ones are always overdue: no time goes into waiting.
func BenchmarkOperation(b *testing.B) {
	const rate = 1_000_000_000_000
	for _, c := range []struct {
		name string
		w    Worker
	}{
		{"unpaced", Worker{}},
		{"constant", Worker{Pacer: Constant{rate, 1}}},
		{"ramp", Worker{Pacer: Ramp{rate, 2 * rate, time.Hour, 1}}},
		{"poisson", Worker{Pacer: &Poisson{PerSecond: rate, Batch: 1}}},
		{"dropping", Worker{Pacer: Constant{rate, 1}, DropAfter: time.Hour, MinGap: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			c.w.Task = &nothing{left: b.N}
			run := Run{Ops: []string{"insert", "delete", "query"}, Workers: []Worker{c.w}}
			if _, err := run.Do(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkTick is what the clock pays once a second for 64 paced workers that
// did 20 of each operation, of 0.1 to 10 ms.
func BenchmarkTick(b *testing.B) {
	for _, ops := range []int{3, 10} {
		b.Run(fmt.Sprintf("workers=64/ops=%d", ops), func(b *testing.B) {
			run := Run{Ops: make([]string, ops), Workers: slices.Repeat([]Worker{{Pacer: Constant{1, 1}}}, 64)}
			c := newClock(run)
			rng := rand.New(rand.NewPCG(1, 1))
			var spent time.Duration
			var longest time.Duration
			for i := range b.N {
				for _, rec := range c.recorders {
					for j := range 20 * ops {
						took := time.Duration(100_000 + rng.Int64N(9_900_000))
						rec.record(Done{Op: j % ops, Units: 1}, timing{answered: took})
					}
				}
				from := time.Now()
				c.merged.take(c.recorders, time.Duration(i+1)*time.Second, true)
				took := time.Since(from)
				spent += took
				longest = max(longest, took)
			}
			b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "µs/tick")
			b.ReportMetric(float64(longest.Microseconds()), "max-µs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkWorkerMemory shows in B/op what a worker holds, whatever the rows
// and but for four bytes a second the time.
func BenchmarkWorkerMemory(b *testing.B) {
	for _, ops := range []int{1, 3, 10} {
		for _, paced := range []bool{false, true} {
			b.Run(fmt.Sprintf("ops=%d/paced=%v", ops, paced), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					newRecorder(ops, paced)
				}
			})
		}
	}
}

func BenchmarkPacer(b *testing.B) {
	for _, c := range []struct {
		name string
		p    Pacer
	}{
		{"constant", Constant{1_000, 100}},
		{"ramp", Ramp{1_000, 2_000, time.Hour, 100}},
		{"poisson", &Poisson{PerSecond: 1_000, Batch: 100}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for n := range int64(b.N) {
				c.p.Start(n)
			}
		})
	}
}

// BenchmarkStartAccuracy is how well 16 writers at 1,000 a second keep their
// starts for two seconds of real time.
func BenchmarkStartAccuracy(b *testing.B) {
	run := Run{Ops: []string{"insert"}, Limit: 2 * time.Second}
	for range 16 {
		run.Workers = append(run.Workers, Worker{
			Task: &nothing{left: 1 << 60}, Pacer: Constant{1_000, 1}, LateAfter: 2 * time.Millisecond,
		})
	}
	for range b.N {
		res, err := run.Do(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		op, p := res.Ops[0], res.Pace()
		b.ReportMetric(float64(op.Response.ValueAtPercentile(50)), "p50-µs")
		b.ReportMetric(float64(op.Response.ValueAtPercentile(99)), "p99-µs")
		b.ReportMetric(float64(p.MaxDelayUS), "max-µs")
		b.ReportMetric(100*float64(p.Late)/float64(op.Count), "%-over-2ms")
	}
}
