package iostat

import (
	"bufio"
	"os/exec"
	"testing"
)

// A shell whose children burn CPU and end between two readings: what the kernel says the shell and
// all it waited for used is what the tree gives.
func TestTreeLive(t *testing.T) {
	const burn = `i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done`
	cmd := exec.Command("sh", "-c", `echo ready; read x; for n in 1 2 3; do sh -c '`+burn+`'; done; (`+burn+`) & wait; echo done; read x`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	defer in.Close()
	lines := bufio.NewScanner(out)
	lines.Scan()
	s, err := NewSampler(Root{}, Watch{Server: []int{cmd.Process.Pid}})
	if err != nil {
		t.Fatal(err)
	}
	a := s.SampleEnds(false)
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	lines.Scan()
	d := Between(a, s.SampleEnds(false)).Server
	in.Close()
	for lines.Scan() {
	}
	_ = cmd.Wait() // the last read ends at the end of input, which is the shell's status
	// The kernel's own sum over the shell and what it waited for, in nanoseconds; ticks are rounded
	// down for each of six processes.
	want := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()
	if got := d.CPUUS; !got.OK || got.V > want+tickUS || got.V < want-8*tickUS {
		t.Errorf("want %d µs less rounding, got %v", want, got)
	}
}
