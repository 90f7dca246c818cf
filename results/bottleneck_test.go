package results

import "testing"

func TestBottlenecks(t *testing.T) {
	// 8 clients on 4 cores for 10 s have 40 s of CPU; 29 s are 72.5 %.
	run := func(cpuUS float64, clients, cpus int) *Run {
		return &Run{
			Environment: Environment{CPUs: cpus},
			Steps: []Step{{Name: "load", Clients: make([]Client, clients), Metrics: map[string]Metric{
				"client_cpu_us": {Value: Known(cpuUS)}, "window_seconds": {Value: Known(10)},
			}}},
		}
	}
	for _, c := range []struct {
		name string
		run  *Run
		want string
	}{
		{"above", run(29e6, 8, 4), "in load the client used 72 % of 4 cores: it may be the bottleneck, not the server"},
		{"below", run(27e6, 8, 4), ""},
		{"one client has one core", run(8e6, 1, 4), "in load the client used 80 % of one core: it may be the bottleneck, not the server"},
		{"unknown", &Run{Environment: Environment{CPUs: 4}, Steps: []Step{{Clients: make([]Client, 1)}}}, ""},
	} {
		var got string
		if lines := Bottlenecks(c.run); len(lines) > 0 {
			got = lines[0]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	short := run(10_000, 1, 4)
	short.Steps[0].Metrics["window_seconds"] = Metric{Value: Known(0.001)}
	if got := Bottlenecks(short); got != nil {
		t.Errorf("one tick of 10 ms in 1 ms is no 1000 %%, but %q", got)
	}
	embedded := run(29e6, 1, 4)
	embedded.Server.Embedded = true
	if got := Bottlenecks(embedded); got != nil {
		t.Errorf("an embedded database's client does the server's work too, but %q", got)
	}
}
