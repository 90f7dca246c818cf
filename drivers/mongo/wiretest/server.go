package wiretest

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// Transactions says what the server does with the fields of a transaction.
type Transactions int

const (
	// Refused: an error, as from a mongod that is no replica set.
	Refused Transactions = iota
	// Ignored: they are taken and have no effect, as some servers do.
	Ignored
	// Kept: writes are kept at commit and forgotten at abort.
	Kept
)

// Config is what the server is. The zero value is a standalone mongod 7.0.5
// with WiredTiger.
type Config struct {
	// ReplicaSet is the set that it is the primary of, and Hosts its members;
	// empty Hosts means itself alone. Secondary makes it a read-only member.
	ReplicaSet string
	Hosts      []string
	Secondary  bool
	Mongos     bool
	// Nodes is how many members acknowledge; w above it is refused. 0 means 1.
	Nodes        int
	Transactions Transactions
	// BuildInfo, Status, CmdLine, DBStats and CollStats replace the answers.
	BuildInfo, Status, CmdLine, DBStats, CollStats bson.D
	// Hello is laid over the answer to hello. NoHello makes it know that
	// command by its older name only, as before 4.4.2.
	Hello   bson.D
	NoHello bool
	// TLS makes it speak TLS only.
	TLS *tls.Config
	// User and Password make it want a login with SCRAM-SHA-256.
	User, Password string
	// Unix makes it listen on a socket in this directory instead of a port.
	Unix string
	// Discard makes it record and keep nothing, for benchmarks.
	Discard bool
	// Silent makes it accept connections and never answer.
	Silent bool
}

// Command is one command as it came.
type Command struct {
	// Name is the first key; DB its $db.
	Name, DB string
	// Body is the whole document as the client sent it.
	Body bson.Raw
	// Conn numbers the connection, from 1.
	Conn int
}

// Keys lists the keys of the command in order.
func (c Command) Keys() []string {
	elements, err := c.Body.Elements()
	if err != nil {
		return nil
	}
	keys := make([]string, len(elements))
	for i, e := range elements {
		keys[i] = e.Key()
	}
	return keys
}

// Step is what happens to the next command of its name, in place of what the
// server would do by itself.
type Step struct {
	// Delay comes before anything else.
	Delay time.Duration
	// Execute makes the command have its effect first.
	Execute bool
	// Reply replaces the answer.
	Reply bson.D
	// Hang keeps the answer back until the server is closed.
	Hang bool
	// Cut closes the connection instead of answering.
	Cut bool
}

// Server is a running server.
type Server struct {
	config   Config
	network  string
	address  string
	listener net.Listener
	store    *store
	done     chan struct{}
	wait     sync.WaitGroup

	mu       sync.Mutex
	commands []Command
	script   map[string][]Step
	conns    map[net.Conn]int
	lastConn int
	stopped  bool
	counts   map[string]int
}

// Start runs a server until the test ends.
func Start(tb testing.TB, c Config) *Server {
	tb.Helper()
	s, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// New runs a server until Close.
func New(c Config) (*Server, error) {
	s := &Server{config: c, network: "tcp", address: "127.0.0.1:0", store: newStore(c.Transactions), done: make(chan struct{}),
		script: make(map[string][]Step), conns: make(map[net.Conn]int), counts: make(map[string]int)}
	if c.Unix != "" {
		s.network, s.address = "unix", filepath.Join(c.Unix, "mongodb.sock")
	}
	if err := s.Restart(); err != nil {
		return nil, err
	}
	return s, nil
}

// Stop closes the port and every connection, as a server that is killed does.
// What was kept stays kept.
func (s *Server) Stop() {
	s.listener.Close()
	s.mu.Lock()
	s.stopped = true // a connection that was just accepted is closed, too
	s.mu.Unlock()
	s.CutAll()
	s.wait.Wait()
}

// Restart listens again where Stop has ended it.
func (s *Server) Restart() error {
	if s.network == "unix" {
		os.Remove(s.address)
	}
	l, err := net.Listen(s.network, s.address)
	if err != nil {
		return err
	}
	s.address = l.Addr().String()
	if s.config.TLS != nil {
		l = tls.NewListener(l, s.config.TLS)
	}
	s.listener = l
	s.mu.Lock()
	s.stopped = false
	s.mu.Unlock()
	s.wait.Add(1)
	go s.accept(l)
	return nil
}

// Address is host:port, or the socket's path.
func (s *Server) Address() string { return s.address }

// URI connects to the server.
func (s *Server) URI() string {
	if s.config.Unix != "" {
		return "mongodb://" + escapePath(s.Address())
	}
	return "mongodb://" + s.Address() + "/"
}

func escapePath(path string) string {
	var out []byte
	for i := range len(path) {
		if path[i] == '/' {
			out = append(out, "%2F"...)
		} else {
			out = append(out, path[i])
		}
	}
	return string(out)
}

// Script queues what happens to the next commands of a name.
func (s *Server) Script(name string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script[name] = append(s.script[name], steps...)
}

// Commands are those that came with one of the names, in order; all of them
// without a name.
func (s *Server) Commands(names ...string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Command
	for _, c := range s.commands {
		if len(names) == 0 || slices.Contains(names, c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// Forget drops what was recorded.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = nil
}

// Count is how many commands of a name came, whether recorded or not.
func (s *Server) Count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[name]
}

// Documents are those of a collection, in the order of their arrival.
func (s *Server) Documents(db, collection string) []bson.Raw {
	return s.store.documents(db + "." + collection)
}

// Cut closes the connection that the last command of a name came over.
func (s *Server) Cut(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := 0
	for _, c := range s.commands {
		if c.Name == name {
			number = c.Conn
		}
	}
	for c, n := range s.conns {
		if n == number {
			c.Close()
		}
	}
}

// CutAll closes every open connection.
func (s *Server) CutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Close stops the server and waits for its connections to end.
func (s *Server) Close() {
	select {
	case <-s.done:
		return
	default:
	}
	close(s.done)
	s.Stop()
}

func (s *Server) accept(l net.Listener) {
	defer s.wait.Done()
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.lastConn++
		s.conns[nc] = s.lastConn
		number := s.lastConn
		if s.stopped {
			nc.Close()
		}
		s.mu.Unlock()
		s.wait.Add(1)
		go func() {
			defer s.wait.Done()
			defer func() {
				s.mu.Lock()
				delete(s.conns, nc)
				s.mu.Unlock()
				nc.Close()
			}()
			s.serve(nc, number)
		}()
	}
}
