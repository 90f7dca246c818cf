package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
)

// Deltas are how far the counters moved between the two ends of a window or
// an interval. A counter that wasn't read is nil. Kilobytes are 1,024 bytes.
type Deltas struct {
	// Disk counters, summed over the devices under the data directory.
	Reads       *float64 `json:"reads"`
	Writes      *float64 `json:"writes"`
	ReadKB      *float64 `json:"read_kb"`
	WrittenKB   *float64 `json:"written_kb"`
	Flushes     *float64 `json:"flushes"`
	Discards    *float64 `json:"discards"`
	DiscardedKB *float64 `json:"discarded_kb"`
	// HostBusyUS is user + nice + system + irq + softirq over all cores, in
	// microseconds; HostTotalUS the same with idle, iowait and steal.
	HostBusyUS  *float64 `json:"host_cpu_us"`
	HostTotalUS *float64 `json:"host_total_us"`
	// CPU of the server's process tree and of this client, all cores together.
	ServerCPUUS     *float64 `json:"server_cpu_us"`
	ClientCPUUS     *float64 `json:"client_cpu_us"`
	ContextSwitches *float64 `json:"context_switches"`
}

// Interval is one line of intervals.ndjson.
type Interval struct {
	Step string `json:"step"`
	// Second is the interval's index in its step, from 0.
	Second int `json:"second"`
	// StartSeconds and EndSeconds count from the start of the step's window.
	// They are what the clock said, so a late tick makes a longer interval.
	StartSeconds float64 `json:"start_seconds"`
	EndSeconds   float64 `json:"end_seconds"`
	// Rows and Queries are what each client got acknowledged in the interval.
	Rows    []int64 `json:"rows,omitempty"`
	Queries []int64 `json:"queries,omitempty"`
	// Operations are the latencies of the statements that ended in it.
	Operations []IntervalOperation `json:"operations,omitempty"`
	Deltas
	// Levels at the interval's end, in bytes.
	ServerRSSBytes *int64 `json:"server_rss_bytes"`
	DirtyBytes     *int64 `json:"dirty_bytes"`
	// Stalled are the clients that got no acknowledgement in it.
	Stalled []int `json:"stalled,omitempty"`
}

// IntervalOperation is one operation's latency in one interval, microseconds.
type IntervalOperation struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
	P50US *int64 `json:"p50_us"`
	P95US *int64 `json:"p95_us"`
	P99US *int64 `json:"p99_us"`
	MaxUS *int64 `json:"max_us"`
}

// ParseInterval reads one line of intervals.ndjson. Fields it doesn't know
// are passed over.
func ParseInterval(line []byte) (Interval, error) {
	var iv Interval
	if err := json.Unmarshal(line, &iv); err != nil {
		return Interval{}, err
	}
	if iv.EndSeconds < iv.StartSeconds {
		return Interval{}, fmt.Errorf("it ends at %g s, before it starts at %g s", iv.EndSeconds, iv.StartSeconds)
	}
	return iv, nil
}

// Intervals reads the lines of intervals.ndjson one after the other. A last
// line without its line end was cut off by the end of the run: it is left out.
// The first error ends the sequence.
func Intervals(r io.Reader) iter.Seq2[Interval, error] {
	return func(yield func(Interval, error) bool) {
		in := bufio.NewReader(r)
		for number := 1; ; number++ {
			line, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Interval{}, fmt.Errorf("reading intervals at line %d: %w", number, err))
				return
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			iv, err := ParseInterval(line)
			if err != nil {
				yield(Interval{}, fmt.Errorf("reading intervals: line %d is damaged: %w", number, err))
				return
			}
			if !yield(iv, nil) {
				return
			}
		}
	}
}

// LoadIntervals reads all intervals of the run in dir.
func LoadIntervals(dir string) ([]Interval, error) {
	path := filepath.Join(dir, intervalsFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, sentence("reading the intervals", path, err)
	}
	defer f.Close()
	var all []Interval
	for iv, err := range Intervals(f) {
		if err != nil {
			return all, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, iv)
	}
	return all, nil
}
