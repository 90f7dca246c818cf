package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/host"
	"github.com/shirou/gopsutil/v3/mem"

	"insertbench/drivers"
	"insertbench/internal/server"
	"insertbench/internal/step"
	"insertbench/iostat"
	"insertbench/iostat/doctor"
	"insertbench/results"
)

// Session is one measuring command from its connection to its exit code: the
// server, the meter, the record, and what is printed.
type Session struct {
	Server drivers.Server
	Meter  *step.Meter
	Writer *results.Writer
	// Run is the record; its Steps and Verify are the caller's to fill, its
	// LinkBench before Record.
	Run results.Run
	// Resume is the command that goes on with the run where it doesn't complete,
	// as in "ibench run"; empty where none can.
	Resume string
	// NeedBytes is about what the run will take on disk, where it is known.
	NeedBytes iostat.Opt[int64]

	process   *Process
	conn      Connection
	measuring Measuring
	unlock    func()
	// private is the server started for this run, nil without one.
	private *server.Server
}

// StartSession takes the host's lock, connects, finds the server's process
// and disks, and prints the line that names them. Nothing was touched yet when
// it returns.
func StartSession(ctx context.Context, p *Process, conn Connection, m Measuring) (*Session, error) {
	s := &Session{process: p, conn: conn, measuring: m, unlock: func() {}}
	if !m.NoLock {
		unlock, err := LockHost()
		if err != nil {
			return nil, err
		}
		s.unlock = unlock
	}
	var err error
	if s.private, err = s.conn.startPrivate(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if !m.Quiet {
		fmt.Fprintln(p.Stderr, s.headLine())
		if dir := s.conn.Private.keptDir; dir != "" {
			fmt.Fprintf(p.Stderr, "data: stays in %s, where --data-dir=%[1]s finds it again\n", dir)
		}
		for _, w := range s.Meter.Warnings() {
			p.Warnf("%s", w)
		}
	}
	return s, nil
}

// connect opens the database and finds its process and disks.
func (s *Session) connect(ctx context.Context) error {
	opened, err := Open(ctx, s.conn)
	if err != nil {
		return err
	}
	s.Server = opened
	m := s.measuring
	s.Meter, err = step.NewMeter(iostat.Root{}, step.Target{Server: s.Server, Device: m.Device, ServerPIDs: m.ServerPIDs, PSS: m.PSS})
	if err != nil {
		return err
	}
	s.Meter.SetHooks(m.hooks(s.process))
	return nil
}

// Restart shuts the private server down and starts it again on its data, so
// that its caches are empty; Server and Meter are new afterwards. A server that
// this run didn't start is never restarted.
func (s *Session) Restart(ctx context.Context) error {
	if s.private == nil {
		return Usagef("a server that --server didn't start is not restarted")
	}
	_ = s.Server.Close() // nothing is left to say to it
	s.Server = nil
	if err := s.private.Restart(ctx); err != nil {
		return drivers.Connectf("%w", err)
	}
	s.conn.pointAt(s.private)
	return s.connect(ctx)
}

// headLine names the server, what was read back of it, and the disks priced.
func (s *Session) headLine() string {
	id := s.Server.Identity()
	parts := []string{fmt.Sprintf("%s %s", id.Product, id.Version)}
	if id.Engine != "" && !strings.EqualFold(id.Engine, id.Product) {
		parts = append(parts, "engine "+id.Engine)
	}
	parts = append(parts, id.Durability, id.Transport)
	if disks := s.Meter.DiskNames(); disks != "" {
		parts = append(parts, "disk "+disks)
	}
	return "server: " + strings.Join(parts, "; ")
}

// Record makes the run's folder and the first, incomplete, record in it.
func (s *Session) Record(ctx context.Context, workload, plan string, config any) error {
	id := s.Server.Identity()
	settings, err := s.Server.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read back the server's settings: %w", err)
	}
	s.Run = results.Run{
		Workload: workload, Plan: plan, Command: Redact(s.process.Args), ToolVersion: Version(),
		StartedUTC: time.Now().UTC(), Tag: s.measuring.Tag, DBMS: id.DBMS, Engine: engineLabel(id), Config: config,
		LinkBench: s.Run.LinkBench, Environment: environment(),
		Server: results.Server{
			Product: id.Product, Version: id.Version, Durability: id.Durability, Transport: id.Transport, Embedded: id.Embedded,
		},
		Warnings: s.Meter.Warnings(),
	}
	for _, x := range settings {
		s.Run.Server.Settings = append(s.Run.Server.Settings, results.Setting(x))
	}
	s.Meter.Describe(&s.Run)
	s.examine()
	s.Writer, err = results.Create(s.measuring.Results, s.Run)
	if err != nil && !results.IsFull(err) {
		return &Error{Code: Usage, Err: err} // --results names what can't be a folder
	}
	return err
}

// engineLabel is what a table calls the engine; a server that doesn't name
// one goes by its product.
func engineLabel(id drivers.Identity) string {
	if id.Engine == "" || id.Engine == "unknown" {
		return id.Product
	}
	return id.Engine
}

// examine puts what on this host may spoil the numbers into the record, and
// names the warnings among it.
func (s *Session) examine() {
	root, dataDir, pids := s.Meter.Host()
	about := doctor.About{Server: pids, Client: os.Getpid(), NeedBytes: s.NeedBytes}
	if dataDir != "" {
		about.Dirs = []string{dataDir}
	}
	var names []string
	for _, f := range doctor.Examine(root, about) {
		s.Run.Environment.Findings = append(s.Run.Environment.Findings, results.Finding{Name: f.Check, Value: f.Value, Why: f.Why, Advice: f.Change})
		if f.Level == doctor.Warning {
			names = append(names, f.Check+" ("+f.Value+")")
		}
	}
	if len(names) > 0 && !s.measuring.Quiet {
		s.process.Warnf("this host may spoil the numbers: %s; ibench doctor says why", strings.Join(names, ", "))
	}
}

// environment reads what kind of host this is; what can't be read stays empty.
func environment() results.Environment {
	e := results.Environment{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), GoVersion: runtime.Version()}
	e.Hostname, _ = os.Hostname()
	e.Kernel, _ = host.KernelVersion()
	if list, err := cpu.Info(); err == nil && len(list) > 0 {
		e.CPUModel = list[0].ModelName
	}
	if vm, err := mem.VirtualMemory(); err == nil {
		total := int64(vm.Total)
		e.MemoryBytes = &total
	}
	return e
}

// Progress begins the progress of a step; a quiet run shows none.
func (s *Session) Progress(name, unit string, total int64) *Progress {
	if s.measuring.Quiet {
		return nil
	}
	return s.process.NewProgress(name, unit, total)
}

// TimedProgress is Progress of a step that time ends.
func (s *Session) TimedProgress(name, unit string, limit time.Duration) *Progress {
	if s.measuring.Quiet {
		return nil
	}
	return s.process.NewTimedProgress(name, unit, limit)
}

// WaitingProgress is Progress of a step that counts nothing before its end.
func (s *Session) WaitingProgress(name string) *Progress {
	if s.measuring.Quiet {
		return nil
	}
	return s.process.NewWaitingProgress(name)
}

// afterRecord takes from an error the exit codes that promise that nothing was
// touched: whatever its kind, it came after the run had begun.
func afterRecord(err error) error {
	if code := CodeOf(err); code == Usage || code == Connect {
		return &Error{Code: Failed, Err: err}
	}
	return err
}

// Finish completes and saves the record, prints it or its tables, and returns
// the run's error, or the one of saving.
func (s *Session) Finish(runErr error, sections func(*results.Run) []results.Section) error {
	runErr = afterRecord(runErr)
	ended := time.Now().UTC()
	s.Run.EndedUTC = &ended
	// A missed rate is a result: all was done and nothing is missing.
	s.Run.Complete = runErr == nil || CodeOf(runErr) == RateMissed
	for _, line := range results.Bottlenecks(&s.Run) {
		s.Run.Warnings = append(s.Run.Warnings, line)
		if !s.measuring.Quiet {
			s.process.Warnf("%s", line)
		}
	}
	if runErr != nil {
		s.Run.Reason = runErr.Error()
	}
	code := int(CodeOf(runErr))
	s.Run.ExitCode = &code
	saveErr := s.Writer.Save(s.Run)
	if runErr == nil && saveErr == nil && s.measuring.Quiet && !s.measuring.JSON {
		return s.Writer.Close()
	}
	printErr := s.print(sections)
	return errors.Join(runErr, saveErr, s.Writer.Close(), printErr)
}

// print writes the record or the tables to standard output.
func (s *Session) print(sections func(*results.Run) []results.Section) error {
	if s.measuring.JSON {
		data, err := results.Encode(s.Run)
		if err != nil {
			return fmt.Errorf("print the record: %w", err)
		}
		_, err = s.process.Stdout.Write(data)
		return err
	}
	if err := results.WriteSections(s.process.Stdout, sections(&s.Run), s.measuring.Wide); err != nil {
		return fmt.Errorf("print the tables: %w", err)
	}
	if err := results.WriteSummary(s.process.Stdout, &s.Run); err != nil {
		return fmt.Errorf("print the summary: %w", err)
	}
	lines := fmt.Sprintf("\nrecord: %s\n", s.Writer.Dir())
	if s.Resume != "" && !s.Run.Complete && s.conn.outlives() {
		lines += fmt.Sprintf("go on:  %s --resume=%s\n", s.Resume, s.Writer.Dir())
	}
	_, err := io.WriteString(s.process.Stdout, lines)
	return err
}

// Close gives back the connection, the private server and the lock.
func (s *Session) Close() {
	if s.Server != nil {
		_ = s.Server.Close() // nothing is left to say to it
	}
	s.process.stopPrivate(context.Background(), s.private)
	s.unlock()
}
