// Package server starts and stops a private database server: mariadbd, mysqld or mongod on a
// data directory of its own, on 127.0.0.1 and a unix socket of its own. It stops what it started
// and nothing else.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	startTimeout = 5 * time.Minute
	// A temporary server's data is thrown away, so there is nothing to wait for.
	graceTemporary = 30 * time.Second
	// InnoDB writes every dirty page back before it exits, which takes minutes with a large cache.
	graceKept = 10 * time.Minute
	// pollPeriod is how often a starting server is asked whether it answers.
	pollPeriod = 20 * time.Millisecond
)

// Config says which server to start and how.
type Config struct {
	// Program is mariadbd, mysqld or mongod, looked for in PATH and the usual sbin directories, or
	// a path. What it is is read from what it prints for --version.
	Program string
	// Wrapper is a command that runs the server, such as numactl --interleave=all. It is put
	// before the program each time the program is run.
	Wrapper []string
	// Engine is the storage engine that our configuration is written for: innodb (the default) or
	// rocksdb and any other by name for a MySQL server, wiredTiger (the default) or rocksdb for mongod.
	Engine string
	// CacheBytes sizes the engine's cache in our configuration; 0 leaves the server's default.
	CacheBytes int64
	// DataDir is the directory to work in, new, empty, or kept by an earlier run. The data itself is
	// in its subdirectory "data". "" is a temporary one, removed when the server stops.
	DataDir string
	// ConfigFile is used instead of our configuration. Data directory, addresses, user, log and pid
	// file are ours all the same.
	ConfigFile string
	// Keep keeps a temporary directory after the server has stopped.
	Keep bool
	// ExtraArgs are put at the end of the server's command line, also when it makes its data directory.
	ExtraArgs []string
	// Grace is how long Stop waits before it kills; 0 is 30 s for a temporary directory and 10 minutes otherwise.
	Grace time.Duration
}

// Server is a running private server.
type Server struct {
	Product string // as Identify names it
	Version string
	PID     int    // of the server itself, also under a wrapper that stays
	Socket  string // path of the unix socket
	Port    int    // on 127.0.0.1
	// DataDir is the directory the server keeps its data in (below Config.DataDir), whose size counts.
	DataDir    string
	ConfigFile string // the option file in use, ours or the user's
	LogFile    string

	process *process
	home    *home
	grace   time.Duration
	logFrom int64 // where this run's part of the log begins
	// What Restart starts again.
	cfg     Config
	program string
	id      Identity

	mu      sync.Mutex
	killed  bool
	stopped bool
	stopErr error
}

// ErrRefused is in Start's error when nothing was started because of what it was asked for: a program, a wrapper, a
// configuration or a data directory that can't be used.
var ErrRefused = errors.New("refused before anything was started")

// refused marks an error with ErrRefused and keeps its sentence.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

func (refused) Is(target error) bool { return target == ErrRefused }

// Start prepares the data directory, starts the server and returns when it answers. The context
// bounds starting only. When it returns an error nothing is left running, and no temporary
// directory is left behind.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	program, err := findProgram(cfg.Program)
	if err != nil {
		return nil, refused{err}
	}
	if cfg.ConfigFile, err = checkConfigFile(cfg.ConfigFile); err != nil {
		return nil, refused{err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it did not answer within %v", startTimeout))
	defer cancel()
	id, err := Identify(ctx, program, cfg.Wrapper)
	if err != nil {
		return nil, refused{err}
	}
	h, err := openHome(cfg.DataDir, id, cfg.Keep)
	if err != nil {
		return nil, refused{fmt.Errorf("can't start %s: %w", id, err)}
	}
	s, err := launch(ctx, cfg, program, id, h)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("can't start %s (%s): %w", id, program, err), h.close())
	}
	return s, nil
}

// launch starts the server in its home and waits until it answers.
func launch(ctx context.Context, cfg Config, program string, id Identity, h *home) (*Server, error) {
	k := id.kind()
	in := instance{program: program, wrapper: cfg.Wrapper, id: id, home: h, config: cfg.ConfigFile, extra: cfg.ExtraArgs}
	if in.config == "" {
		in.config, in.ourConfig = filepath.Join(h.root, k.configName), true
		text, err := Template(id, cfg.Engine, cfg.CacheBytes)
		if err != nil {
			return nil, refused{err}
		}
		if err := os.WriteFile(in.config, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write its configuration: %w", err)
		}
	}
	if !h.initialised {
		if err := k.initialise(ctx, in); err != nil {
			return nil, fmt.Errorf("make its data directory %s: %w", h.data, err)
		}
		if err := h.markInitialised(id); err != nil {
			return nil, err
		}
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	in.port, in.socket = port, k.socket(h.socketDir, port)
	logFrom := fileSize(h.log)
	p, err := startProcess(in.command(k.args(in)...), h.log, len(cfg.Wrapper) > 0)
	if err != nil {
		return nil, err
	}
	if err := awaitAnswer(ctx, p, k, in, logFrom); err != nil {
		p.kill()
		return nil, err
	}
	s := &Server{Product: id.Product, Version: id.Version, PID: p.pid(), Socket: in.socket, Port: port,
		DataDir: h.data, ConfigFile: in.config, LogFile: h.log, process: p, home: h, grace: cfg.Grace, logFrom: logFrom,
		cfg: cfg, program: program, id: id}
	if pid, err := readPID(h.pidFile); err == nil && p.owns(pid) {
		s.PID = pid
	}
	if s.grace == 0 {
		s.grace = graceKept
		if h.remove {
			s.grace = graceTemporary
		}
	}
	return s, nil
}

// awaitAnswer returns when the server answers, or with the reason why it won't.
func awaitAnswer(ctx context.Context, p *process, k *kind, in instance, logFrom int64) error {
	tick := time.NewTicker(pollPeriod)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return diedError(p, in.home.log, logFrom)
		case <-ctx.Done():
			return fmt.Errorf("waiting for it to answer at 127.0.0.1:%d: %w (its log is %s)%s", in.port, context.Cause(ctx), in.home.log, logTail(in.home.log, logFrom))
		case <-tick.C:
		}
		// A server that is already up answers at once; one that is starting refuses at once.
		if k.answers(ctx, in) {
			return nil
		}
	}
}

// diedError says how the server ended and what its log says about it.
func diedError(p *process, log string, logFrom int64) error {
	how := "it ended by itself (a configuration must not make it a daemon)"
	if p.err != nil {
		how = "it died: " + p.err.Error()
	}
	return errors.New(how + logTail(log, logFrom))
}

// Addr is the TCP address, host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Done is closed when the server has ended, for whatever reason.
func (s *Server) Done() <-chan struct{} { return s.process.done }

// Stop asks the server to shut down, waits for it, kills it after the grace period or when the
// context ends, and removes a temporary directory. It says so when the server had to be killed or had died
// before; stopping after Kill is no error. A second call returns what the first did.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return s.stopErr
	}
	s.stopped = true
	var err error
	select {
	case <-s.process.done:
		if !s.killed {
			err = fmt.Errorf("%s %s (pid %d) had ended before it was stopped: %w", s.Product, s.Version, s.PID, diedError(s.process, s.LogFile, s.logFrom))
		}
	default:
		err = s.terminate(ctx)
	}
	s.stopErr = errors.Join(err, s.home.close())
	return s.stopErr
}

func (s *Server) terminate(ctx context.Context) error {
	defer s.process.kill() // what a wrapper left of its group
	if err := s.process.terminate(s.PID); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ask %s (pid %d) to stop: %w; it was killed", s.Product, s.PID, err)
	}
	timer := time.NewTimer(s.grace)
	defer timer.Stop()
	select {
	case <-s.process.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("%s (pid %d) did not stop within %v and was killed", s.Product, s.PID, s.grace)
	case <-ctx.Done():
		return fmt.Errorf("%s (pid %d) was killed before it had stopped: %w", s.Product, s.PID, context.Cause(ctx))
	}
}

// Kill ends the server and its wrapper at once, as a crash would, and returns when they are gone.
// Its directory stays until Stop.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.killed = true
	s.process.kill()
}

// freePort finds a port nobody listens on. Another process may take it before the server does;
// the server's own message says so then.
func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port on 127.0.0.1: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func readPID(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

func checkConfigFile(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("the server's configuration file %s: %w", path, err)
	}
	f, err := os.Open(abs)
	if err != nil {
		return "", fmt.Errorf("the server's configuration file can't be read: %w", err)
	}
	return abs, f.Close()
}
