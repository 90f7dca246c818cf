package servertest

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// Sysbench is sysbench's oltp_point_select with prepared statements, over the unix socket of a MySQL or MariaDB, to hold our own
// queries beside. Its table is sbtest1.
type Sysbench struct {
	program string
	options []string
}

// PrepareSysbench fills the table. The database has to be there. A benchmark is skipped where sysbench isn't installed.
func PrepareSysbench(tb testing.TB, socket, database, engine string, rows, threads int) Sysbench {
	tb.Helper()
	program, err := exec.LookPath("sysbench")
	if err != nil {
		tb.Skip("sysbench isn't installed (apt-get install sysbench)")
	}
	s := Sysbench{program, []string{"oltp_point_select", "--mysql-socket=" + socket, "--mysql-user=root", "--mysql-db=" + database,
		"--mysql-storage-engine=" + engine, "--db-ps-mode=auto", "--tables=1", "--table-size=" + strconv.Itoa(rows), "--threads=" + strconv.Itoa(threads)}}
	s.command(tb, "cleanup") // of an earlier round of the same benchmark
	s.command(tb, "prepare")
	return s
}

// Run sends queries for so many seconds. It returns queries per second, as sysbench says, and the CPU that sysbench itself took for
// each, in microseconds.
func (s Sysbench) Run(tb testing.TB, seconds int) (perSecond, cpuUS float64) {
	tb.Helper()
	out, cmd := s.command(tb, "--time="+strconv.Itoa(seconds), "run")
	queries, perSecond, err := sysbenchQueries(out)
	if err != nil {
		tb.Fatal(err)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return perSecond, float64(cpu.Nanoseconds()) / 1e3 / float64(queries)
}

func (s Sysbench) command(tb testing.TB, arguments ...string) ([]byte, *exec.Cmd) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), s.program, append(s.options[:len(s.options):len(s.options)], arguments...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%s: %v: %s", cmd, err, bytes.TrimSpace(out))
	}
	return out, cmd
}

// sysbenchLine is as sysbench 1.0.20 prints it: "    queries:                             206718 (20668.93 per sec.)".
var sysbenchLine = regexp.MustCompile(`(?m)^ +queries: +(\d+) +\(([\d.]+) per sec\.\)$`)

func sysbenchQueries(out []byte) (queries int64, perSecond float64, err error) {
	found := sysbenchLine.FindSubmatch(out)
	if found == nil {
		return 0, 0, fmt.Errorf("sysbench told no number of queries: %s", bytes.TrimSpace(out))
	}
	if queries, err = strconv.ParseInt(string(found[1]), 10, 64); err == nil {
		perSecond, err = strconv.ParseFloat(string(found[2]), 64)
	}
	if err == nil && queries == 0 {
		err = fmt.Errorf("sysbench made no query: %s", bytes.TrimSpace(out))
	}
	return queries, perSecond, err
}
