package mongo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"insertbench/drivers"
	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readpref"
)

// Server is a connection to one deployment, for everything but inserts:
// each Inserter has a connection of its own.
type Server struct {
	cfg     Config
	options *options.ClientOptions
	client  *mongo.Client
	dial    *dialer
	names   fieldNames
	concern writeConcern
	// readConcern is the level of reads; empty sends none.
	readConcern string

	hello    hello
	identity drivers.Identity
	place    drivers.Place
	// keepsNothing is true for an engine that stores nothing.
	keepsNothing bool

	inserters atomic.Int64
	closed    atomic.Bool
}

var _ ibench.Database = (*Server)(nil)

// Its counters are optional: without this line one that no longer fits would
// be left out of records instead of failing the build.
var _ drivers.Counting = (*Server)(nil)

// Open finds the server that can be written to, reads back who it is, and
// tries what was asked for: the write concern, and transactions where they
// are on. Errors are of kind drivers.ErrConnect or drivers.ErrConfig.
func Open(ctx context.Context, c Config) (*Server, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	o, err := c.clientOptions()
	if err != nil {
		return nil, err
	}
	concern, err := newWriteConcern(c, o)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: c, options: o, concern: concern, readConcern: readConcernLevel(c, o), names: longNames}
	if c.ShortNames {
		s.names = shortNames
	}
	if err := s.connect(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.probe(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// connect logs in to the server that can be written to and asks who it is.
func (s *Server) connect(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, s.cfg.ConnectTimeout)
	defer cancel()
	w := newWatch(len(s.options.Hosts), cancel)
	var tlsVersion atomic.Uint32
	s.dial = newDialer()
	own := options.Client().SetDialer(s.dial).SetServerMonitor(w.serverMonitor()).SetPoolMonitor(w.poolMonitor())
	if s.options.TLSConfig != nil {
		own.SetTLSConfig(noteVersion(s.options.TLSConfig, &tlsVersion))
	}
	client, err := mongo.Connect(bounded, s.options, own)
	if err != nil {
		return drivers.Connectf("%s: %s", RedactURI(s.cfg.URI), s.cfg.redact(err))
	}
	s.client = client
	raw, err := runOn(bounded, client.Database("admin"), bson.D{{Key: "hello", Value: 1}})
	if commandCode(err) == codeCommandNotFound {
		// Servers before 4.4.2 know it by its older name.
		raw, err = runOn(bounded, client.Database("admin"), bson.D{{Key: "isMaster", Value: 1}})
	}
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("connecting to %s: %w", RedactURI(s.cfg.URI), ctx.Err())
		}
		return explain(err, s.cfg, s.options, w)
	}
	if s.hello, err = parseHello(raw); err != nil {
		return drivers.Connectf("%s: %w", RedactURI(s.cfg.URI), err)
	}
	if err := s.hello.mustBeWritable(w.pooledAddress()); err != nil {
		return err
	}
	// hello and buildInfo need no login; this does.
	if _, err := s.ListTables(bounded); err != nil {
		return explain(err, s.cfg, s.options, w)
	}
	return s.identify(ctx, w.pooledAddress(), uint16(tlsVersion.Load()))
}

// noteVersion notes the TLS version of the connections made with a configuration.
func noteVersion(c *tls.Config, version *atomic.Uint32) *tls.Config {
	c = c.Clone()
	verify := c.VerifyConnection
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		version.Store(uint32(cs.Version))
		if verify != nil {
			return verify(cs)
		}
		return nil
	}
	return c
}

// runOn runs one command on the primary and gives the reply.
func runOn(ctx context.Context, db *mongo.Database, cmd any) (bson.Raw, error) {
	return db.RunCommand(ctx, cmd, options.RunCmd().SetReadPreference(readpref.Primary())).Raw()
}

// database is where the benchmark's collections are.
func (s *Server) database() *mongo.Database { return s.client.Database(s.cfg.Database) }

// readOn runs a command that only reads, and once more where the connection
// had broken: it may have since its last use, as when the server restarted.
func readOn(ctx context.Context, db *mongo.Database, cmd bson.D) (bson.Raw, error) {
	raw, err := runOn(ctx, db, cmd)
	if mongo.IsNetworkError(err) && !mongo.IsTimeout(err) && ctx.Err() == nil {
		raw, err = runOn(ctx, db, cmd)
	}
	return raw, err
}

// read reads from the benchmark's database within the statement timeout.
func (s *Server) read(ctx context.Context, cmd bson.D) (bson.Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StatementTimeout)
	defer cancel()
	return readOn(ctx, s.database(), cmd)
}

// readAdmin reads from the database admin within the statement timeout.
func (s *Server) readAdmin(ctx context.Context, cmd bson.D) (bson.Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StatementTimeout)
	defer cancel()
	return readOn(ctx, s.client.Database("admin"), cmd)
}

// change runs a command that makes or removes something, once.
func (s *Server) change(ctx context.Context, cmd bson.D) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StatementTimeout)
	defer cancel()
	_, err := runOn(ctx, s.database(), cmd)
	return err
}

// commandCode is the server's code for a command that failed; 0 where the
// error isn't the server's.
func commandCode(err error) int {
	var ce mongo.CommandError
	if errors.As(err, &ce) {
		return int(ce.Code)
	}
	var we mongo.WriteException
	if errors.As(err, &we) {
		switch {
		case len(we.WriteErrors) > 0:
			return we.WriteErrors[0].Code
		case we.WriteConcernError != nil:
			return we.WriteConcernError.Code
		}
	}
	return 0
}

// Identity says who answered.
func (s *Server) Identity() drivers.Identity { return s.identity }

// Place says where the server listens and keeps its data.
func (s *Server) Place() drivers.Place { return s.place }

// Close ends the connections. It is safe to call twice.
func (s *Server) Close() error {
	if s.client == nil || !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	return disconnect(s.client, goodbyeTimeout)
}

// The goodbye of a client (endSessions) may take a while, but not over a
// connection that is known to be broken.
const (
	goodbyeTimeout = time.Second
	brokenTimeout  = 50 * time.Millisecond
)

// disconnect closes a client's connections, those in use too.
func disconnect(c *mongo.Client, goodbye time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if err := c.Disconnect(ctx); err != nil && !errors.Is(err, mongo.ErrClientDisconnected) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("closing the connection: %w", err)
	}
	return nil
}
