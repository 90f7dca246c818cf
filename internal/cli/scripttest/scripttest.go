//go:build unix

// Package scripttest runs the scripts that test a command as a user has it:
// real processes with real signals, exit codes and servers.
package scripttest

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"insertbench/internal/server"
	"insertbench/internal/server/servertest"
)

// patience bounds waiting for something that will come; it decides nothing
// where all is well.
const patience = time.Minute

// Run runs the scripts of a folder. The test binary must be the command under
// its name, by testscript.Main.
func Run(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                dir,
		Setup:              setUp,
		Condition:          condition,
		RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ends": ends, "begin": begin, "await": await, "signal": sendSignal, "finish": finish,
			"record": record, "sql": query, "await-sql": awaitSQL, "await-stderr": awaitStderr, "hold": hold, "kill-server": killServer,
			"mount": mountSmall, "fill": fill, "lines": lines,
		},
	})
}

// Keys of what a script keeps between its commands.
type (
	serverKey  struct{}
	processKey struct{}
)

// setUp gives scripts named mariadb-* the shared server and a database of
// their own, those named private-* a server that they may kill, and those named
// documentdb-* the address of a server with MongoDB's protocol and the name of
// a database of their own.
func setUp(env *testscript.Env) error {
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	env.Values[processKey{}] = &process{}
	tb, ok := env.T().(testing.TB)
	if !ok {
		return errors.New("the script's T is no testing.TB")
	}
	var s *server.Server
	switch {
	case strings.HasPrefix(name, "mariadb-"):
		s = servertest.MariaDB(tb)
	case strings.HasPrefix(name, "private-"):
		s = servertest.PrivateMariaDB(tb)
	case strings.HasPrefix(name, "documentdb-"):
		env.Setenv("URI", servertest.DocumentDB(tb))
		env.Setenv("DB", fmt.Sprintf("t_%s_%d", strings.ReplaceAll(name, "-", "_"), os.Getpid()))
		return nil
	default:
		return nil
	}
	database := "t_" + strings.ReplaceAll(name, "-", "_")
	db, err := sql.Open("mysql", "root@unix("+s.Socket+")/")
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec("CREATE DATABASE " + database); err != nil {
		return err
	}
	env.Setenv("SOCKET", s.Socket)
	env.Setenv("PORT", strconv.Itoa(s.Port))
	env.Setenv("DB", database)
	env.Values[serverKey{}] = s
	return nil
}

// condition knows root, who may mount.
func condition(name string) (bool, error) {
	if name == "mount" {
		return os.Geteuid() == 0 && canMount, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// ends runs a command to its end: ends CODE COMMAND ARGUMENTS...
func ends(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ends CODE COMMAND [ARGUMENTS...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		checkCode(ts, args[0], 0)
	case errors.As(err, &exit):
		checkCode(ts, args[0], exit.ExitCode())
	default:
		ts.Check(err)
	}
}

func checkCode(ts *testscript.TestScript, want string, got int) {
	if want != strconv.Itoa(got) {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// process is a command that a script runs beside itself.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *output
	ended          chan struct{}
	err            error
}

// output is what a process printed so far.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// awaitStderr waits until what begin started has printed a text to standard
// error: await-stderr TEXT
func awaitStderr(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await-stderr TEXT")
	}
	p := processOf(ts)
	poll(ts, "it printed "+args[0], func() bool { return strings.Contains(p.stderr.String(), args[0]) })
}

func processOf(ts *testscript.TestScript) *process {
	p, ok := ts.Value(processKey{}).(*process)
	if !ok || p.cmd == nil {
		ts.Fatalf("begin has started nothing")
	}
	return p
}

// begin starts a command beside the script: begin COMMAND ARGUMENTS...
func begin(ts *testscript.TestScript, neg bool, args []string) {
	p, ok := ts.Value(processKey{}).(*process)
	if neg || !ok || len(args) == 0 {
		ts.Fatalf("usage: begin COMMAND [ARGUMENTS...]")
	}
	*p = process{ended: make(chan struct{}), stdout: &output{}, stderr: &output{}}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		p.cmd.Env = append(p.cmd.Env, name+"="+ts.Getenv(name))
	}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	ts.Check(p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	ts.Defer(func() {
		_ = p.cmd.Process.Kill() // it has ended where all went well
		<-p.ended
	})
}

// finish waits for the end of what begin started: finish CODE. Its output is
// then looked at with stdout and stderr.
func finish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: finish CODE")
	}
	p := processOf(ts)
	select {
	case <-p.ended:
	case <-time.After(patience):
		ts.Fatalf("the command hangs")
	}
	fmt.Fprint(ts.Stdout(), p.stdout.String())
	fmt.Fprint(ts.Stderr(), p.stderr.String())
	checkCode(ts, args[0], p.cmd.ProcessState.ExitCode())
}

// sendSignal signals what begin started: signal INT
func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || unix.SignalNum("SIG"+args[0]) == 0 {
		ts.Fatalf("usage: signal NAME")
	}
	ts.Check(processOf(ts).cmd.Process.Signal(syscall.Signal(unix.SignalNum("SIG" + args[0]))))
}

// poll waits until ready says yes. What begin started must go on meanwhile.
func poll(ts *testscript.TestScript, what string, ready func() bool) {
	p := processOf(ts)
	for end := time.Now().Add(patience); !ready(); time.Sleep(5 * time.Millisecond) {
		select {
		case <-p.ended:
			ts.Fatalf("it ended before %s: %v\n%s%s", what, p.err, p.stdout, p.stderr)
		default:
		}
		if time.Now().After(end) {
			ts.Fatalf("waited in vain for %s", what)
		}
	}
}

// await waits until the run has written some lines to a file of its record,
// intervals unless named: await COUNT [FILE]
func await(ts *testscript.TestScript, neg bool, args []string) {
	args = append(args, "intervals.ndjson")
	count, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: await COUNT [FILE]")
	}
	poll(ts, args[0]+" lines of "+args[1]+" were written", func() bool {
		found, _ := filepath.Glob(ts.MkAbs("runs/*/" + args[1]))
		if len(found) == 0 {
			return false
		}
		text, err := os.ReadFile(found[len(found)-1])
		return err == nil && bytes.Count(text, []byte("\n")) >= count
	})
}

// record looks at a field of the one record below runs, whose JSON text must
// match a regular expression as a whole: record steps.0.complete false
func record(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: record FIELD PATTERN")
	}
	found, err := filepath.Glob(ts.MkAbs("runs/*/run.json"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d records, want one", len(found))
	}
	text := fieldOf(ts, []byte(ts.ReadFile(found[0])), args[0])
	if regexp.MustCompile(`(?s)^(?:`+args[1]+`)$`).MatchString(text) == neg {
		ts.Fatalf("%s is %s", args[0], text)
	}
}

// fieldOf is the JSON text of a field named by its path. A string is given
// without its quotes, what isn't there as "missing".
func fieldOf(ts *testscript.TestScript, data []byte, path string) string {
	var v any
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	ts.Check(in.Decode(&v))
	for part := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = at[part]; !ok {
				return "missing"
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(at) {
				return "missing"
			}
			v = at[i]
		default:
			return "missing"
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	ts.Check(err)
	return string(text)
}

// lines counts the lines of a file or of stdout's copy: lines FILE COUNT
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE COUNT")
	}
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(got) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], got, args[1])
	}
}

// openSQL opens the script's database.
func openSQL(ts *testscript.TestScript) *sql.DB {
	db, err := sql.Open("mysql", "root@unix("+ts.Getenv("SOCKET")+")/"+ts.Getenv("DB"))
	ts.Check(err)
	return db
}

// ask runs a statement and gives its rows, tabs between the columns.
func ask(db *sql.DB, statement string) (string, error) {
	rows, err := db.Query(statement)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	values, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
		for i, v := range values {
			fmt.Fprintf(&out, "%s%s", strings.Repeat("\t", min(i, 1)), v.String)
		}
		out.WriteString("\n")
	}
	return out.String(), rows.Err()
}

// query runs a statement in the script's database: sql STATEMENT
func query(ts *testscript.TestScript, neg bool, args []string) {
	db := openSQL(ts)
	defer db.Close()
	text, err := ask(db, strings.Join(args, " "))
	if (err != nil) != neg {
		ts.Fatalf("%v", err)
	}
	fmt.Fprint(ts.Stdout(), text)
}

// awaitSQL waits until a statement gives rows: await-sql STATEMENT
func awaitSQL(ts *testscript.TestScript, neg bool, args []string) {
	db := openSQL(ts)
	defer db.Close()
	poll(ts, strings.Join(args, " ")+" gave rows", func() bool {
		text, err := ask(db, strings.Join(args, " "))
		if err == nil {
			fmt.Fprint(ts.Stdout(), text)
		}
		return text != ""
	})
}

// hold runs a statement on a connection that stays open to the script's end.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	db := openSQL(ts)
	db.SetMaxOpenConns(1)
	ts.Defer(func() { db.Close() })
	_, err := db.Exec(strings.Join(args, " "))
	ts.Check(err)
}

// killServer kills the script's private server.
func killServer(ts *testscript.TestScript, neg bool, args []string) {
	s, ok := ts.Value(serverKey{}).(*server.Server)
	if !ok {
		ts.Fatalf("the script has no server")
	}
	s.Kill()
	<-s.Done()
}

// fill fills the disk that a folder is on: fill FOLDER
func fill(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Create(filepath.Join(ts.MkAbs(args[0]), "filler"))
	ts.Check(err)
	defer f.Close()
	// Whole pages, until not even one is left.
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		ts.Fatalf("the disk isn't full: %v", err)
	}
}
