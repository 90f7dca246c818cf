// Package drivers holds what every database shares: who answered, what was
// read back from it, where it runs, and how its errors are classed. The
// databases themselves are in the packages below it; the interfaces they
// implement are declared by the workloads that call them.
package drivers

import "context"

// Server is an open connection to a database server, or an embedded database.
// Its methods are not safe for concurrent use.
type Server interface {
	// Identity says who answered. It is read from the server when the
	// connection is opened, never from a flag or a program's name.
	Identity() Identity
	// Settings reads back the settings that decide what a number means:
	// durability, isolation, cache size, limits. Names are the server's own.
	Settings(ctx context.Context) ([]Setting, error)
	// Place says where the server claims to run; the claim is proven or
	// refuted elsewhere, from the kernel's tables.
	Place() Place
	// SizeBytes is the server's own figure for the space its tables take,
	// used only where the data directory can't be seen.
	SizeBytes(ctx context.Context) (int64, error)
	// Dumps reads the raw status and variables that are kept beside a
	// measured step. One that fails has its Err set and is never fatal.
	Dumps(ctx context.Context) []Dump
	// Close ends the connections. It is safe to call twice.
	Close() error
}

// Announced is a Server that is told how many workers a step will have before
// it opens the connections that query, because how a connection waits best
// depends on it. undo takes it back, and is called once they are closed.
type Announced interface {
	Announce(workers int) (undo func())
}

// Identity names a server by what it said of itself.
type Identity struct {
	// DBMS is the driver: mysql, mongo, sqlite or fake.
	DBMS string `json:"dbms"`
	// Product is the server's own name, such as MariaDB, MySQL, SQLite.
	Product string `json:"product"`
	// Version is the server's own version string.
	Version string `json:"version"`
	// Engine is the storage engine in use, in the server's spelling.
	Engine string `json:"engine"`
	// Durability is one phrase made of settings read back, such as
	// "flush at commit 1, binlog off".
	Durability string `json:"durability"`
	// Transport is how the client talks to it: "unix socket PATH",
	// "tcp HOST:PORT", either followed by ", TLSv1.3" where it is on;
	// "embedded" where there is no server.
	Transport string `json:"transport"`
	// Embedded is true where the database runs inside this process.
	Embedded bool `json:"embedded"`
}

// Setting is one setting as the server reported it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Place is where a server says it runs.
type Place struct {
	// Network is "unix" or "tcp"; empty for an embedded database.
	Network string
	// Address is the socket's path or host:port.
	Address string
	// DataDir is the data directory as the server names it, in its own mount
	// namespace; empty where the server doesn't tell.
	DataDir string
	// LogDirs are directories outside DataDir that the server also writes to,
	// such as a redo log on a disk of its own.
	LogDirs []string
}

// Dump is one raw status or variables listing.
type Dump struct {
	// Name is the file's name below dumps/, without a folder: "global_status.txt".
	Name string
	Text []byte
	Err  error
}
