package cli

import (
	"context"
	"errors"
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

// Open connects to the database that the flags name.
func Open(ctx context.Context, c Connection) (drivers.Server, error) {
	return openers[c.DBMS](ctx, c)
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
