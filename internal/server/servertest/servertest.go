// Package servertest gives Go tests the servers they need: a private MariaDB that the tests of
// one binary share, private ones to kill, and the addresses of servers that scripts/test.sh brought up.
//
// A package that uses it has
//
//	func TestMain(m *testing.M) { servertest.Main(m) }
//
// A server that isn't there skips the test with the reason, unless INSERTBENCH_REQUIRE, a list of
// names separated by commas, holds its name (mariadb, mysql, documentdb, mongod): then the test fails.
package servertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"insertbench/internal/server"
)

// Environment that scripts/test.sh sets for go test.
const (
	EnvRequire        = "INSERTBENCH_REQUIRE"         // servers whose absence is a failure, separated by commas
	EnvMySQL          = "INSERTBENCH_MYSQL"           // host:port of a MySQL, root without a password
	EnvMySQLSkip      = "INSERTBENCH_MYSQL_SKIP"      // why there is none
	EnvMySQLProgram   = "INSERTBENCH_MYSQLD"          // path of a MySQL's mysqld, for tests that start it themselves
	EnvDocumentDB     = "INSERTBENCH_DOCUMENTDB"      // URI of a server with MongoDB's protocol
	EnvDocumentDBSkip = "INSERTBENCH_DOCUMENTDB_SKIP" // why there is none
	EnvMongod         = "MONGO_URI"                   // URI of a real mongod
)

// shared is the one MariaDB of this test binary. Tests have no other way to share what outlives them.
var shared struct {
	sync.Mutex
	main   bool // Main runs
	server *server.Server
	err    error
}

// Main runs the tests, stops the shared server, looks for goroutines left behind and exits.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that has more to do: it returns the exit code.
func Run(m *testing.M) int {
	shared.main = true
	code := m.Run()
	if s := shared.server; s != nil {
		if err := s.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "servertest:", err)
			code = max(code, 1)
		}
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "servertest:", err)
			code = 1
		}
	}
	return code
}

// IgnoreServers is for goleak in a test that runs beside the shared server.
func IgnoreServers() goleak.Option {
	return goleak.IgnoreAnyFunction("insertbench/internal/server.(*process).run")
}

// MariaDB returns the binary's shared MariaDB, started by the first call: InnoDB, RocksDB and
// BLACKHOLE, root without a password over socket and TCP. Use a database of your own in it, and don't stop it.
func MariaDB(tb testing.TB) *server.Server {
	tb.Helper()
	cfg := mariadbConfig(tb)
	shared.Lock()
	defer shared.Unlock()
	if !shared.main {
		tb.Fatal("the package's TestMain must call servertest.Main or Run")
	}
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = server.Start(context.Background(), cfg)
	}
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.server
}

// PrivateMariaDB starts a MariaDB like that of MariaDB for this test alone, which may kill it. It is stopped when the test ends.
// extraArgs are more options for it.
func PrivateMariaDB(tb testing.TB, extraArgs ...string) *server.Server {
	tb.Helper()
	cfg := mariadbConfig(tb)
	cfg.ExtraArgs = append(cfg.ExtraArgs, extraArgs...)
	s, err := server.Start(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// MariaDBProgram returns the path of mariadbd, for tests that start it themselves.
func MariaDBProgram(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	missing(tb, "mariadb", "mariadbd isn't installed (scripts/install-mariadb.sh installs it)")
	return ""
}

// mariadbConfig is small and quick to start. It skips where there is no MariaDB with RocksDB.
func mariadbConfig(tb testing.TB) server.Config {
	tb.Helper()
	program := MariaDBProgram(tb)
	cfg := server.Config{Program: program, Engine: "innodb", CacheBytes: 64 << 20, ExtraArgs: []string{"--skip-name-resolve"}}
	for _, plugin := range []string{"ha_rocksdb", "ha_blackhole"} {
		if hasPlugin(program, plugin) {
			cfg.ExtraArgs = append(cfg.ExtraArgs, "--plugin-load-add="+plugin)
		} else if plugin == "ha_rocksdb" {
			missing(tb, "mariadb", "MariaDB's RocksDB plugin isn't installed (scripts/install-mariadb.sh installs it)")
		}
	}
	return cfg
}

// hasPlugin looks where distributions and tarballs keep plugins.
func hasPlugin(program, plugin string) bool {
	base := filepath.Dir(filepath.Dir(program))
	for _, dir := range []string{"lib/mysql/plugin", "lib64/mysql/plugin", "lib/plugin", "lib/mariadb/plugin", "lib64/mariadb/plugin"} {
		if _, err := os.Stat(filepath.Join(base, dir, plugin+".so")); err == nil {
			return true
		}
	}
	return false
}

// MySQL returns host:port of a MySQL with root and no password, which other test binaries use at the same time.
func MySQL(tb testing.TB) string {
	tb.Helper()
	return fromEnv(tb, "mysql", EnvMySQL, EnvMySQLSkip)
}

// MySQLProgram returns the path of a MySQL's mysqld, for tests that start it themselves.
func MySQLProgram(tb testing.TB) string {
	tb.Helper()
	return fromEnv(tb, "mysql", EnvMySQLProgram, EnvMySQLSkip)
}

// DocumentDB returns the URI of a server that has MongoDB's protocol and isn't mongod. Other test
// binaries use it at the same time. It has no transactions, and range reads need a hint.
func DocumentDB(tb testing.TB) string {
	tb.Helper()
	return fromEnv(tb, "documentdb", EnvDocumentDB, EnvDocumentDBSkip)
}

// Mongod returns the URI of a real mongod, which only the user can give.
func Mongod(tb testing.TB) string {
	tb.Helper()
	return fromEnv(tb, "mongod", EnvMongod, "")
}

func fromEnv(tb testing.TB, name, address, reason string) string {
	tb.Helper()
	if v := os.Getenv(address); v != "" {
		return v
	}
	why := address + " isn't set"
	if v := os.Getenv(reason); reason != "" && v != "" {
		why = v
	}
	missing(tb, name, why)
	return ""
}

// missing skips the test, or fails it where the server is required.
func missing(tb testing.TB, name, why string) {
	tb.Helper()
	if slices.Contains(strings.FieldsFunc(os.Getenv(EnvRequire), func(r rune) bool { return r == ',' || r == ' ' }), name) {
		tb.Fatalf("%s is required by %s: %s", name, EnvRequire, why)
	}
	tb.Skipf("no %s: %s", name, why)
}
