package mysql_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

const password = "hunter2-S3CRET"

// wantRefused opens a connection that must fail with an error of a kind.
func wantRefused(t *testing.T, c mysql.Config, kind error, parts ...string) {
	t.Helper()
	db, err := mysql.Open(context.Background(), c)
	if err == nil {
		_ = db.Close()
	}
	if !errors.Is(err, kind) {
		t.Fatalf("got error %v, want one of kind %q", err, kind)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got error %q, want %q in it", err, part)
		}
	}
	if all := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(all, password) {
		t.Errorf("the password is in the error: %s", all)
	}
}

func TestOpenRefused(t *testing.T) {
	s := servertest.MariaDB(t)
	unused := freePort(t)
	secret := drivers.NewSecret(password)
	for _, test := range []struct {
		name   string
		config mysql.Config
		kind   error
		want   []string
	}{
		{"wrong password", mysql.Config{Socket: s.Socket, User: "root", Password: secret}, drivers.ErrConnect, []string{"1045", "user \"root\"", "a password was given"}},
		{"wrong password in a DSN", mysql.Config{DSN: "root:" + password + "@unix(" + s.Socket + ")/ib"}, drivers.ErrConnect, []string{"1045"}},
		{"unknown user", mysql.Config{Host: "127.0.0.1", Port: s.Port, User: "nobody-here", Password: secret}, drivers.ErrConnect, []string{"nobody-here"}},
		{"unknown database", mysql.Config{Socket: s.Socket, User: "root", Database: "not_there"}, drivers.ErrConnect, []string{`"not_there" doesn't exist`, "CREATE DATABASE"}},
		{"unknown engine", mysql.Config{Socket: s.Socket, User: "root", Engine: "tokudb", Database: "mysql"}, drivers.ErrConfig, []string{"tokudb", "InnoDB", "ROCKSDB"}},
		{"unknown variable", mysql.Config{DSN: "root@unix(" + s.Socket + ")/mysql?no_such_thing=1"}, drivers.ErrConfig, []string{"no_such_thing"}},
		{"no such socket", mysql.Config{Socket: filepath.Join(t.TempDir(), "s.sock"), User: "root"}, drivers.ErrConnect, []string{"no such socket", "--socket"}},
		{"nothing listens", mysql.Config{Host: "127.0.0.1", Port: unused}, drivers.ErrConnect, []string{"nothing listens there"}},
		{"unknown host", mysql.Config{Host: "no-such-host.invalid"}, drivers.ErrConnect, []string{"no-such-host.invalid"}},
		{"TLS refused", mysql.Config{Host: "127.0.0.1", Port: s.Port, User: "root", TLS: "required"}, drivers.ErrConnect, []string{"TLS"}},
	} {
		t.Run(test.name, func(t *testing.T) { wantRefused(t, test.config, test.kind, test.want...) })
	}
}

// Whatever answers, opening ends with a sentence within its timeout.
func TestOpenNotMySQL(t *testing.T) {
	for _, test := range []struct{ name, greeting, want string }{
		{"silent", "", "no MySQL greeting"},
		{"silent halfway", "\x40\x00\x00\x00\x0a9.7", "no MySQL greeting"},
		{"SSH", "SSH-2.0-OpenSSH_9.2\r\n", "didn't greet as a MySQL server"},
		{"HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", "didn't greet as a MySQL server"},
		{"short packet", "\x02\x00\x00\x00\x0a\x00", "didn't greet as a MySQL server"},
		{"no terminator", "\x05\x00\x00\x00\x0aabcd", "didn't greet as a MySQL server"},
		{"old protocol", "\x05\x00\x00\x00\x09abc\x00", "didn't greet as a MySQL server"},
		{"cut short", "\x16\x00\x00\x00\x0a9.7\x0001234567890123456", "didn't greet as a MySQL server"},
		{"empty packet", "\x00\x00\x00\x00", "didn't greet as a MySQL server"},
		{"too many connections", "\x0a\x00\x00\x00\xff\x10\x04enough!", "enough!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			host, port := greeter(t, test.greeting)
			wantRefused(t, mysql.Config{Host: host, Port: port, User: "root", Password: drivers.NewSecret(password), ConnectTimeout: 200 * time.Millisecond},
				drivers.ErrConnect, test.want)
		})
	}
}

// greeter listens, sends its greeting to whoever comes, and keeps the
// connection open; an empty greeting is silence.
func greeter(t *testing.T, greeting string) (host string, port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var conns []net.Conn
		for {
			conn, err := listener.Accept()
			if err != nil {
				break
			}
			conns = append(conns, conn)
			_, _ = conn.Write([]byte(greeting)) // the client may be gone
		}
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	address := listener.Addr().(*net.TCPAddr)
	return address.IP.String(), address.Port
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func TestDatabaseIsMadeOnlyWhenAllowed(t *testing.T) {
	s := servertest.MariaDB(t)
	const name = "made `here`"
	db, err := mysql.Open(context.Background(), mysql.Config{Socket: s.Socket, User: "root", Database: name, CreateDatabase: true})
	if err != nil {
		t.Fatal(err)
	}
	admin := openAdmin(t, "root@unix("+s.Socket+")/")
	defer admin.exec(t, "DROP DATABASE `made ``here```")
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// A login with a password, the right one, shows it nowhere.
func TestPasswordWorks(t *testing.T) {
	s := servertest.MariaDB(t)
	admin := openAdmin(t, "root@unix("+s.Socket+")/")
	admin.exec(t, "CREATE DATABASE secrets")
	admin.exec(t, "CREATE USER bencher IDENTIFIED BY '"+password+"'")
	admin.exec(t, "GRANT ALL ON secrets.* TO bencher")
	defer admin.exec(t, "DROP DATABASE secrets")
	defer admin.exec(t, "DROP USER bencher")
	for _, c := range []mysql.Config{
		{Host: "127.0.0.1", Port: s.Port, User: "bencher", Password: drivers.NewSecret(password), Database: "secrets"},
		{DSN: "bencher:" + password + "@tcp(" + s.Addr() + ")/secrets"},
		{DSN: "bencher@tcp(" + s.Addr() + ")/secrets", Password: drivers.NewSecret(password)},
	} {
		db, err := mysql.Open(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		dumps := db.Dumps(context.Background())
		settings, err := db.Settings(context.Background())
		if err != nil {
			t.Error(err)
		}
		for _, d := range dumps {
			settings = append(settings, drivers.Setting{Name: d.Name, Value: string(d.Text)})
		}
		if all := fmt.Sprintf("%+v %+v %+v", db.Identity(), db.Place(), settings); strings.Contains(all, password) {
			t.Error("the password is in what the server read back")
		}
		if got := db.Place(); got.Network != "tcp" || got.Address != s.Addr() || got.DataDir != s.DataDir {
			t.Errorf("Place is %+v, want tcp, %s and %s", got, s.Addr(), s.DataDir)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An engine that the server swaps for another is found out, and the table is gone.
func TestEngineSubstitution(t *testing.T) {
	s := servertest.PrivateMariaDB(t, "--enforce-storage-engine=Aria", "--sql-mode=")
	db, err := mysql.Open(context.Background(), mysql.Config{Socket: s.Socket, User: "root", CreateDatabase: true, Engine: "innodb"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.CreateTable(context.Background(), ibench.Table{Name: "pi1"})
	if !errors.Is(err, drivers.ErrConfig) || !strings.Contains(err.Error(), "Aria") {
		t.Errorf("got error %v, want one of kind ErrConfig that names Aria", err)
	}
	if names, err := db.ListTables(context.Background()); err != nil || len(names) != 0 {
		t.Errorf("tables are %v (error %v), want none", names, err)
	}
}

// A server that dies under an insert leaves its outcome unknown.
func TestServerDies(t *testing.T) {
	s := servertest.PrivateMariaDB(t)
	db, err := mysql.Open(context.Background(), mysql.Config{Socket: s.Socket, User: "root", CreateDatabase: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(context.Background(), "pi1")
	if err != nil {
		t.Fatal(err)
	}
	row := ibench.Row{Data: []byte("a")}
	in.Append(&row)
	s.Kill()
	<-s.Done()
	for n, want := range []drivers.Class{drivers.Unknown, drivers.Fatal} {
		err := in.Insert(context.Background())
		if err == nil || drivers.ClassOf(err) != want {
			t.Errorf("insert %d after the server died: got %v with class %v, want %v", n+1, err, drivers.ClassOf(err), want)
		}
	}
	if err := in.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, _, err := db.Sums(context.Background(), "pi1"); err == nil {
		t.Error("Sums of a dead server gave no error")
	}
}

// A server that stops answering: an insert ends at the statement's deadline
// with its outcome unknown, a statement without a deadline when the server
// gives no sign of life.
func TestServerHangs(t *testing.T) {
	s := servertest.PrivateMariaDB(t)
	db, err := mysql.Open(context.Background(), mysql.Config{
		Socket: s.Socket, User: "root", CreateDatabase: true, ConnectTimeout: time.Second, StatementTimeout: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(context.Background(), "pi1")
	if err != nil {
		t.Fatal(err)
	}
	in.Append(&ibench.Row{Data: []byte("a")})
	stopProcess(t, s.PID)
	err = in.Insert(context.Background())
	if err == nil || drivers.ClassOf(err) != drivers.Unknown || drivers.CodeOf(err) != "timeout" {
		t.Errorf("Insert: got %v with class %v and code %q, want an unknown outcome by timeout", err, drivers.ClassOf(err), drivers.CodeOf(err))
	}
	if err := in.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, _, err := db.Sums(context.Background(), "pi1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Sums: got error %v, want the deadline of its first, short statement", err)
	}
	if err := db.CreateIndexes(context.Background(), "pi1", ibench.Indexes); err == nil || !strings.Contains(err.Error(), "no sign of life") {
		t.Errorf("CreateIndexes: got error %v, want one that the server gives no sign of life", err)
	}
}

func TestBatchLimitIsTheServers(t *testing.T) {
	s := servertest.PrivateMariaDB(t, "--max-allowed-packet=1M")
	db, err := mysql.Open(context.Background(), mysql.Config{Socket: s.Socket, User: "root", CreateDatabase: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	if err := db.CreateTable(ctx, ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(ctx, "pi1")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	const dataBytes = 1000
	largest := 1
	for db.CheckBatch(ctx, largest+1, dataBytes) == nil {
		largest++
	}
	err = db.CheckBatch(ctx, largest+1, dataBytes)
	if !errors.Is(err, drivers.ErrConfig) || !strings.Contains(err.Error(), strconv.Itoa(1<<20)) {
		t.Errorf("got error %v, want one of kind ErrConfig with the limit of %d", err, 1<<20)
	}
	// The largest that is allowed is one that the server takes.
	row := ibench.Row{CashRegisterID: -2147483648, CustomerID: -2147483648, ProductID: -2147483648, Price: -2147483648, Data: []byte(strings.Repeat("x", dataBytes))}
	for range largest {
		in.Append(&row)
	}
	if err := in.Insert(ctx); err != nil {
		t.Errorf("inserting %d rows, the most that CheckBatch allows: %v", largest, err)
	}
	in.Reset()
	for range 2 * largest {
		in.Append(&row)
	}
	if err := in.Insert(ctx); drivers.ClassOf(err) != drivers.Fatal {
		t.Errorf("a statement above the limit: got %v with class %v, want fatal", err, drivers.ClassOf(err))
	}
}

// MySQL makes itself a certificate that nobody signed.
func TestTLS(t *testing.T) {
	address := servertest.MySQL(t)
	dsn := "root@tcp(" + address + ")/mysql"
	for _, mode := range []string{"preferred", "skip-verify"} {
		db, err := mysql.Open(context.Background(), mysql.Config{DSN: dsn, TLS: mode})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := db.Identity().Transport, "tcp "+address+", TLSv1.3"; got != want {
			t.Errorf("--tls=%s: transport %q, want %q", mode, got, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	wantRefused(t, mysql.Config{DSN: dsn, TLS: "required"}, drivers.ErrConnect, "certificate isn't trusted", "--tls=skip-verify")
}
