package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"insertbench/drivers"
	"insertbench/drivers/fake"
	"insertbench/drivers/sqlite"
)

// openers is the one list of databases, by --dbms.
var openers = map[string]func(context.Context, Connection) (drivers.Server, error){
	"mysql":  openMySQL,
	"mongo":  openMongo,
	"sqlite": openSQLite,
	"fake":   openFake,
}

// Open connects to the database that the flags name. A private server must
// have been started: without that there is no telling which one would answer.
func Open(ctx context.Context, c Connection) (drivers.Server, error) {
	if c.Private.Program != "" && c.Private.running == nil {
		return nil, fmt.Errorf("the private server %s was not started (a defect of this program)", c.Private.Program)
	}
	s, err := openers[c.DBMS](ctx, c)
	return s, c.Private.explainEngine(err)
}

// OpenUnmeasured is Open for a command that measures nothing. A private server
// is started first, and stopped by end, which closes the connection too.
func (p *Process) OpenUnmeasured(ctx context.Context, c Connection) (server drivers.Server, end func(), err error) {
	private, err := c.startPrivate(ctx)
	if err != nil {
		return nil, nil, err
	}
	end = func() {
		if server != nil {
			_ = server.Close() // nothing is left to say to it
		}
		p.stopPrivate(ctx, private)
	}
	if server, err = Open(ctx, c); err != nil {
		end()
		return nil, nil, err
	}
	return server, end, nil
}

func openSQLite(ctx context.Context, c Connection) (drivers.Server, error) {
	if _, err := os.Stat(c.Path); c.MustExist && errors.Is(err, fs.ErrNotExist) {
		return nil, drivers.Connectf("there is no SQLite database %s; name its file with --path", c.Path)
	}
	return asServer(sqlite.Open(ctx, sqlite.Config{Path: c.Path}))
}

func openFake(ctx context.Context, c Connection) (drivers.Server, error) {
	return asServer(fake.Open(ctx, fake.Config{Engine: c.Engine, KeepRows: c.KeepRows}))
}

// asServer keeps a failed opener's nil from becoming an interface that isn't nil.
func asServer[S drivers.Server](s S, err error) (drivers.Server, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
