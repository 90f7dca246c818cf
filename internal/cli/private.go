package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"insertbench/drivers"
	"insertbench/internal/server"
)

// Private is what the flags say of a server to start for the run alone.
type Private struct {
	Program    string   `json:"program"`
	Wrapper    []string `json:"wrapper"`
	ConfigFile string   `json:"config_file"`
	DataDir    string   `json:"data_dir"`
	KeepData   bool     `json:"keep_data"`
	CacheBytes int64    `json:"cache_bytes"`

	// dbms and product are what the program's --version says.
	dbms, product string
	// keptDir is where a temporary folder stays, once the server runs.
	keptDir string
	// running is the server once it was started.
	running *server.Server
}

var privateFlagNames = []string{"server", "server-wrapper", "server-config", "data-dir", "keep-data", "cache"}

// minCacheBytes is less than a server is of use with: below it a unit was forgotten.
const minCacheBytes = 1 << 20

func privateFlags() []cli.Flag {
	const category = "Private server"
	text := func(name, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage, Category: category}
	}
	return []cli.Flag{
		text("server", "start `PROGRAM` for this run and stop it afterwards: mariadbd, mysqld, mongod, or a path"),
		text("server-wrapper", "`COMMAND` to run it with, as 'numactl --interleave=all'; words are split at blanks"),
		text("server-config", "its option `FILE`, instead of the built-in one"),
		text("data-dir", "its data `FOLDER`, new, empty or kept by an earlier run; it stays (default: a temporary one, removed)"),
		&cli.BoolFlag{Name: "keep-data", Usage: "keep a temporary data folder", Category: category},
		text("cache", "`BYTES` of the engine's cache, as 512m or 4g (1,024 each step; default: the server's)"),
	}
}

// resolvePrivate reads the flags of a private server, and asks its program
// what it is.
func (conn *Connection) resolvePrivate(c *cli.Context, _ *Process) error {
	s := Private{
		Program: c.String("server"), Wrapper: strings.Fields(c.String("server-wrapper")), ConfigFile: c.String("server-config"),
		DataDir: c.String("data-dir"), KeepData: c.Bool("keep-data"),
	}
	if s.Program == "" {
		for _, flag := range privateFlagNames {
			if c.IsSet(flag) {
				return Usagef("--%s is of a server that --server starts; add --server, or leave it out", flag)
			}
		}
		return nil
	}
	for _, flag := range []string{"user", "password", "password-file", "ask-password"} {
		if c.IsSet(flag) {
			return Usagef("--server starts a server without passwords; leave out --%s", flag)
		}
	}
	if c.IsSet("cache") {
		n, err := ParseBytes(c.String("cache"))
		if err != nil || n < minCacheBytes {
			return Usagef("--cache=%s is no size of 1 MiB or more; write it as 512m or 4g", c.String("cache"))
		}
		if s.ConfigFile != "" {
			return Usagef("--cache sizes the built-in configuration, and --server-config replaces it; give one of them")
		}
		s.CacheBytes = n
	}
	id, err := server.Identify(c.Context, s.Program, s.Wrapper)
	if err != nil {
		return &Error{Usage, err}
	}
	s.product, s.dbms = id.String(), "mysql"
	if id.Product == server.Mongod || id.Product == server.PerconaMongo {
		s.dbms = "mongo"
	}
	conn.Private = s
	return nil
}

// startPrivate starts the server that the flags ask for, if they do, and
// points the connection at it; nil where they don't.
func (conn *Connection) startPrivate(ctx context.Context) (*server.Server, error) {
	s := conn.Private
	if s.Program == "" {
		return nil, nil
	}
	srv, err := server.Start(ctx, server.Config{
		Program: s.Program, Wrapper: s.Wrapper, Engine: conn.Engine, CacheBytes: s.CacheBytes,
		DataDir: s.DataDir, ConfigFile: s.ConfigFile, Keep: s.KeepData,
	})
	if errors.Is(err, server.ErrRefused) {
		return nil, drivers.Configf("start a private server: %w", err)
	}
	if err != nil {
		return nil, drivers.Connectf("start a private server: %w", err)
	}
	if s.KeepData && s.DataDir == "" {
		conn.Private.keptDir = filepath.Dir(srv.DataDir)
	}
	conn.Private.running = srv
	conn.pointAt(srv)
	return srv, nil
}

// pointAt makes the connection lead to a private server.
func (conn *Connection) pointAt(srv *server.Server) {
	conn.Socket = srv.Socket
	if conn.Private.dbms == "mongo" {
		conn.Mongo.URI = drivers.NewSecret("mongodb://127.0.0.1:" + strconv.Itoa(srv.Port))
		conn.Mongo.URIShown = conn.Mongo.URI.Reveal()
	}
}

// explainEngine adds to the error of an engine that a private server doesn't
// have what its log says of it, and what to try.
func (s *Private) explainEngine(err error) error {
	var missing *drivers.EngineError
	if s.running == nil || !errors.As(err, &missing) {
		return err
	}
	lines := s.running.Complaints(missing.Engine)
	if len(lines) == 0 {
		return err
	}
	said := strings.Join(lines, " | ")
	advice := "keep its log with --keep-data to see all of it"
	if s.DataDir != "" || s.KeepData {
		advice = "all of it is in " + s.running.LogFile
	}
	if strings.EqualFold(missing.Engine, "rocksdb") && strings.Contains(said, "Corruption") {
		advice += fmt.Sprintf("; a torn write-ahead log is taken up to the tear with rocksdb_wal_recovery_mode=2 in a copy of %s as --server-config; or begin anew with another --data-dir",
			s.running.ConfigFile)
	}
	return fmt.Errorf("%w; its log says: %s; %s", err, said, advice)
}

// stopPrivate stops a private server in its own time, whatever ended the run,
// and warns where that went wrong. A nil one was not asked for.
func (p *Process) stopPrivate(ctx context.Context, srv *server.Server) {
	if srv == nil {
		return
	}
	if err := srv.Stop(context.WithoutCancel(ctx)); err != nil {
		p.Warnf("stop the private server: %v", err)
	}
}
