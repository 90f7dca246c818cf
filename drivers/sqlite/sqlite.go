// Package sqlite runs both benchmarks on an SQLite file inside this
// process, for a run that needs no server.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"

	"insertbench/drivers"
	"insertbench/ibench"
)

// Config says which file to use.
type Config struct {
	// Path is the database's file. It is made where it is missing; its
	// directory must exist. An existing SQLite file is taken as it is, and
	// turned to WAL, which stays with the file.
	Path string
	// LockTimeout is how long a statement waits while another process writes
	// to the file; 10 min unless set. Writers in this process wait for each
	// other without a limit.
	LockTimeout time.Duration
}

const defaultLockTimeout = 10 * time.Minute

// Validate says what is wrong with the configuration, as an error of kind
// drivers.ErrConfig. It opens nothing.
func (c Config) Validate() error {
	switch {
	case c.Path == "":
		return drivers.Configf("no file was named for SQLite: give one with --path")
	case c.Path == ":memory:" || strings.ContainsRune(c.Path, 0):
		return drivers.Configf("%q isn't a file's path: each worker opens the file for itself", c.Path)
	case c.LockTimeout < 0:
		return drivers.Configf("a timeout can't be negative")
	}
	return nil
}

// dsn has the settings of every connection: WAL with a sync of the log at each
// commit, so that a commit survives a power loss.
func (c Config) dsn() string {
	timeout := c.LockTimeout
	if timeout == 0 {
		timeout = defaultLockTimeout
	}
	path := filepath.ToSlash(c.Path)
	if filepath.VolumeName(c.Path) != "" {
		path = "/" + path // file:///C:/x, as SQLite wants it
	}
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cache_size(-65536)",
		(&url.URL{Path: path}).EscapedPath(), timeout.Milliseconds())
}

// Server is an open SQLite file. It implements ibench.Database.
//
// SQLite has one writer at a time. Inserters of one Server take turns in the
// order in which they asked, and the time spent waiting is part of their
// statement's time: it is what a user of SQLite would wait.
type Server struct {
	db        *sql.DB
	connector driver.Connector
	path      string
	// turn holds one token while a writer is at work. Goroutines blocked on
	// a channel are served first come, first served.
	turn     chan struct{}
	identity drivers.Identity
}

var _ ibench.Database = (*Server)(nil)

// What the server can do beyond ibench.Database: without these lines a method
// that no longer fits would make its tests skip instead of fail.
var (
	_ ibench.Scripter     = (*Server)(nil)
	_ ibench.LongDatabase = (*Server)(nil)
)

// Open opens or makes the file. Errors are of kind drivers.ErrConfig.
func Open(ctx context.Context, c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, drivers.Configf("opening SQLite file %s: %w", c.Path, err)
	}
	c.Path = path
	if err := checkPath(path); err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(c.dsn())
	if err != nil {
		return nil, drivers.Configf("opening SQLite file %s: %w", path, err)
	}
	s := &Server{db: sql.OpenDB(connector), connector: connector, path: path, turn: make(chan struct{}, 1)}
	s.db.SetMaxIdleConns(1)
	if err := s.identify(ctx); err != nil {
		return nil, errors.Join(openError(err, path), s.db.Close())
	}
	return s, nil
}

func checkPath(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return drivers.Configf("opening SQLite file %s: directory %s doesn't exist: make it first", path, dir)
	case err != nil:
		return drivers.Configf("opening SQLite file %s: %w", path, err)
	case !info.IsDir():
		return drivers.Configf("opening SQLite file %s: %s isn't a directory", path, dir)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return drivers.Configf("opening SQLite file %s: it isn't a regular file", path)
	}
	return nil
}

func (s *Server) identify(ctx context.Context) error {
	var version, journal string
	var synchronous int
	// The first statement that reads the file, and the one that fails where
	// the file isn't SQLite's.
	if err := s.db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
		return err
	}
	if err := s.db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous); err != nil {
		return err
	}
	if err := s.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	s.identity = drivers.Identity{
		DBMS: "sqlite", Product: "SQLite", Version: version, Engine: "SQLite",
		Durability: "journal " + journal + ", synchronous " + synchronousName(synchronous),
		Transport:  "embedded", Embedded: true,
	}
	return nil
}

// synchronousName is the name of PRAGMA synchronous's number, from SQLite's
// documentation of pragmas.
func synchronousName(n int) string {
	names := []string{"OFF", "NORMAL", "FULL", "EXTRA"}
	if n < 0 || n >= len(names) {
		return fmt.Sprint(n)
	}
	return names[n]
}

// Identity says which SQLite this is, as read at Open.
func (s *Server) Identity() drivers.Identity { return s.identity }

// Place is the directory of the file, which this process writes itself.
func (s *Server) Place() drivers.Place { return drivers.Place{DataDir: filepath.Dir(s.path)} }

// SizeBytes is the size of the file, its log and the log's index on disk.
func (s *Server) SizeBytes(context.Context) (int64, error) {
	var total int64
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(s.path + suffix)
		switch {
		case err == nil:
			total += info.Size()
		case suffix == "" || !errors.Is(err, fs.ErrNotExist):
			return 0, fmt.Errorf("reading the size of SQLite file %s: %w", s.path+suffix, err)
		}
	}
	return total, nil
}

// pragmas are read back as settings.
var pragmas = []string{
	"journal_mode", "synchronous", "page_size", "cache_size", "mmap_size", "wal_autocheckpoint", "journal_size_limit",
	"auto_vacuum", "busy_timeout", "locking_mode", "encoding", "temp_store", "foreign_keys",
}

// Settings reads the pragmas back, as set on a connection like the inserters'.
func (s *Server) Settings(ctx context.Context) ([]drivers.Setting, error) {
	var out []drivers.Setting
	for _, name := range pragmas {
		var value string
		err := s.db.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading pragma %s of SQLite file %s: %w", name, s.path, err)
		}
		out = append(out, drivers.Setting{Name: name, Value: value})
	}
	return out, nil
}

// Dumps are the pragmas, the options SQLite was built with, and the schema.
func (s *Server) Dumps(ctx context.Context) []drivers.Dump {
	settings, err := s.Settings(ctx)
	var text strings.Builder
	for _, x := range settings {
		fmt.Fprintf(&text, "%s\t%s\n", x.Name, x.Value)
	}
	out := []drivers.Dump{{Name: "pragmas.txt", Text: []byte(text.String()), Err: err}}
	for _, d := range []struct{ file, query string }{
		{"compile_options.txt", "PRAGMA compile_options"},
		{"schema.txt", "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"},
	} {
		lines, err := s.strings(ctx, d.query)
		out = append(out, drivers.Dump{Name: d.file, Text: []byte(strings.Join(append(lines, ""), "\n")), Err: err})
	}
	return out
}

// strings reads a query of one text column.
func (s *Server) strings(ctx context.Context, query string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("reading SQLite file %s (%s): %w", s.path, query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, fmt.Errorf("reading SQLite file %s (%s): %w", s.path, query, err)
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading SQLite file %s (%s): %w", s.path, query, err)
	}
	return out, nil
}

// Close ends the connection. It is safe to call twice.
func (s *Server) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing SQLite file %s: %w", s.path, err)
	}
	return nil
}
