package results

import "fmt"

// busyClient is the share of its cores above which a client may be what limits
// the rate rather than the server.
const busyClient = 0.7

// shortWindow is the seconds below which CPU, which is counted in ticks of 10 ms
// as a rule, says nothing about a share.
const shortWindow = 1

// Bottlenecks says of which steps the client may have been the bottleneck: a
// client thread uses one core at most, so with fewer clients than cores the
// budget is a core a client.
func Bottlenecks(run *Run) []string {
	var lines []string
	if run.Server.Embedded {
		return nil
	}
	for i := range run.Steps {
		step := &run.Steps[i]
		cores := float64(min(len(step.Clients), run.Environment.CPUs))
		used, window := step.Metrics["client_cpu_us"].Value, step.Metrics["window_seconds"].Value
		if used == nil || window == nil || cores == 0 || *window < shortWindow {
			continue
		}
		share := *used / 1e6 / *window / cores
		if share > busyClient {
			of := fmt.Sprintf("%g cores", cores)
			if cores == 1 {
				of = "one core"
			}
			lines = append(lines, fmt.Sprintf("in %s the client used %.0f %% of %s: it may be the bottleneck, not the server", step.Name, 100*share, of))
		}
	}
	return lines
}
