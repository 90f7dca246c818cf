package mongo_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
)

const shortConnect = 700 * time.Millisecond

// freePort is a port at which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestOpenErrors: every way of not getting in is a sentence of the right
// kind, says what to do, and comes within the connect timeout.
func TestOpenErrors(t *testing.T) {
	tlsConfig, _ := certificate(t)
	const secret = "hunter2"
	for _, tt := range []struct {
		name   string
		server *wiretest.Config
		// uri is built from the server's host:port.
		uri    func(address string) string
		config mongo.Config
		kind   error
		want   []string
	}{
		{"not a URI", nil, func(string) string { return "localhost:27017" }, mongo.Config{}, drivers.ErrConfig, []string{"mongodb://"}},
		{"bad option", nil, func(string) string { return "mongodb://u:" + secret + "@127.0.0.1/?w=-1" }, mongo.Config{}, drivers.ErrConfig, []string{"u:***@"}},
		{"password with an at sign", nil, func(string) string { return "mongodb://u:" + secret + "@@127.0.0.1/" }, mongo.Config{}, drivers.ErrConfig, []string{"not usable"}},
		{"load balanced", nil, func(string) string { return "mongodb://127.0.0.1/?loadBalanced=true" }, mongo.Config{}, drivers.ErrConfig, []string{"loadBalanced"}},
		{"w:0 in the URI", nil, func(string) string { return "mongodb://127.0.0.1/?w=0" }, mongo.Config{}, drivers.ErrConfig, []string{"w=0", "acknowledged"}},
		{"w:0 as a flag", nil, func(string) string { return "mongodb://127.0.0.1/" }, mongo.Config{W: "0"}, drivers.ErrConfig, []string{"w=0"}},
		{"negative w", nil, func(string) string { return "mongodb://127.0.0.1/" }, mongo.Config{W: "-3"}, drivers.ErrConfig, []string{"w=-3"}},
		{"id kind", nil, func(string) string { return "mongodb://127.0.0.1/" }, mongo.Config{IDKind: "uuid"}, drivers.ErrConfig, []string{"--mongo-id=uuid", "objectid or int64"}},
		{"database name", nil, func(string) string { return "mongodb://127.0.0.1/" }, mongo.Config{Database: "a/b"}, drivers.ErrConfig, []string{`"a/b"`}},
		{"password without user", nil, func(string) string { return "mongodb://127.0.0.1/" }, mongo.Config{Password: drivers.NewSecret(secret)}, drivers.ErrConfig, []string{"--user"}},

		{"nothing listens", nil, func(string) string { return "mongodb://" + freePort(t) + "/" }, mongo.Config{}, drivers.ErrConnect, []string{"nothing listens at 127.0.0.1:", "start the server"}},
		{"no socket", nil, func(string) string { return "mongodb://%2Fno%2Fsuch.sock/" }, mongo.Config{}, drivers.ErrConnect, []string{"no socket /no/such.sock"}},
		{"name unknown", nil, func(string) string { return "mongodb://no.such.host.invalid/" }, mongo.Config{}, drivers.ErrConnect, []string{"no.such.host.invalid", "not known"}},
		{"never answers", &wiretest.Config{Silent: true}, plainURI, mongo.Config{}, drivers.ErrConnect, []string{"answer", "within 700ms"}},
		{"wrong password", &wiretest.Config{User: "bench", Password: "right"}, plainURI, mongo.Config{User: "bench", Password: drivers.NewSecret(secret)}, drivers.ErrConnect, []string{`login of "bench" was refused`, "Authentication failed", "authSource"}},
		{"wrong user", &wiretest.Config{User: "bench", Password: secret}, plainURI, mongo.Config{User: "root", Password: drivers.NewSecret(secret)}, drivers.ErrConnect, []string{`login of "root" was refused`}},
		{"no login", &wiretest.Config{User: "bench", Password: secret}, plainURI, mongo.Config{}, drivers.ErrConnect, []string{"wants a login", "requires authentication", "--user"}},
		{"mechanism unknown to the server", &wiretest.Config{User: "bench", Password: secret}, func(a string) string { return "mongodb://bench:" + secret + "@" + a + "/?authMechanism=SCRAM-SHA-1" }, mongo.Config{}, drivers.ErrConnect, []string{"SCRAM-SHA-1 was refused", "Unsupported mechanism", "SCRAM-SHA-256"}},
		{"mechanism unknown to the client", nil, func(a string) string { return "mongodb://bench:" + secret + "@127.0.0.1/?authMechanism=SCRAM-SHA-3" }, mongo.Config{}, drivers.ErrConfig, []string{"SCRAM-SHA-3"}},

		{"TLS against plain", &wiretest.Config{}, func(a string) string { return "mongodb://" + a + "/?tls=true" }, mongo.Config{}, drivers.ErrConnect, []string{"no TLS", "tlsCAFile"}},
		{"plain against TLS", &wiretest.Config{TLS: tlsConfig}, plainURI, mongo.Config{}, drivers.ErrConnect, []string{"tls=true"}},
		{"certificate of nobody", &wiretest.Config{TLS: tlsConfig}, func(a string) string { return "mongodb://" + a + "/?tls=true" }, mongo.Config{}, drivers.ErrConnect, []string{"certificate", "tlsCAFile"}},

		{"another replica set", &wiretest.Config{ReplicaSet: "rs0"}, setURI("rs1"), mongo.Config{}, drivers.ErrConnect, []string{`replica set "rs0", not "rs1"`}},
		{"no replica set", &wiretest.Config{}, setURI("rs1"), mongo.Config{}, drivers.ErrConnect, []string{"no member of a replica set", "replicaSet=rs1"}},
		{"no primary", &wiretest.Config{ReplicaSet: "rs0", Secondary: true}, setURI("rs0"), mongo.Config{}, drivers.ErrConnect, []string{`replica set "rs0"`, "no primary"}},
		{"a secondary", &wiretest.Config{ReplicaSet: "rs0", Secondary: true, Hosts: []string{"db1.invalid:27017"}}, func(a string) string { return "mongodb://" + a + "/?directConnection=true" }, mongo.Config{}, drivers.ErrConnect, []string{"secondary", "db1.invalid:27017", "replicaSet=rs0"}},
		{"too old", &wiretest.Config{Hello: bson.D{{Key: "maxWireVersion", Value: int32(4)}}}, plainURI, mongo.Config{}, drivers.ErrConnect, []string{"wire version 4", "3.6"}},
		{"read-only", &wiretest.Config{Hello: bson.D{{Key: "readOnly", Value: true}}}, plainURI, mongo.Config{}, drivers.ErrConnect, []string{"read-only"}},

		{"w:5 on one node", &wiretest.Config{}, plainURI, mongo.Config{W: "5"}, drivers.ErrConfig, []string{"w=5", "single node"}},
		{"w:5 on one member", &wiretest.Config{ReplicaSet: "rs0"}, setURI("rs0"), mongo.Config{W: "5"}, drivers.ErrConfig, []string{"w=5", "Not enough data-bearing nodes"}},
		{"a tag on one node", &wiretest.Config{}, plainURI, mongo.Config{W: "east"}, drivers.ErrConfig, []string{"w=east"}},
		{"transactions on one node", &wiretest.Config{}, plainURI, mongo.Config{Transactions: true}, drivers.ErrConfig, []string{"has none"}},
		{"transactions refused", &wiretest.Config{ReplicaSet: "rs0"}, setURI("rs0"), mongo.Config{Transactions: true}, drivers.ErrConfig, []string{"has none", "Transaction numbers are only allowed"}},
		{"transactions ignored", &wiretest.Config{Transactions: wiretest.Ignored}, plainURI, mongo.Config{Transactions: true}, drivers.ErrConfig, []string{"pretends"}},
		{"another engine", &wiretest.Config{}, plainURI, mongo.Config{StorageEngine: "rocksdb"}, drivers.ErrConfig, []string{"rocksdb is asked for", "wiredTiger", "--storageEngine=rocksdb"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address := ""
			if tt.server != nil {
				address = wiretest.Start(t, *tt.server).Address()
			}
			tt.config.URI, tt.config.ConnectTimeout = tt.uri(address), shortConnect
			began := time.Now()
			db, err := mongo.Open(context.Background(), tt.config)
			if err == nil {
				db.Close()
				t.Fatal("Open succeeded")
			}
			if !errors.Is(err, tt.kind) {
				t.Errorf("kind of %q is not %q", err, tt.kind)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q doesn't say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q holds the password", err)
			}
			if text := err.Error(); strings.ContainsAny(text, "\n") || strings.HasSuffix(text, ".") || strings.Contains(text, ".;") {
				t.Errorf("%q is not one sentence without a period", err)
			}
			// Generous: the machine may be busy. The point is seconds, not minutes.
			if took := time.Since(began); took > shortConnect+5*time.Second {
				t.Errorf("it took %s with a connect timeout of %s", took, shortConnect)
			}
		})
	}
}

func plainURI(address string) string { return "mongodb://" + address + "/" }

func setURI(set string) func(string) string {
	return func(address string) string { return "mongodb://" + address + "/?replicaSet=" + set }
}

// certificate makes a self-signed one for 127.0.0.1, and a file with it.
func certificate(t *testing.T) (server *tls.Config, caFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, caFile
}

// TestWaysIn: TLS, a login and a socket work, and the transport says so.
func TestWaysIn(t *testing.T) {
	tlsConfig, caFile := certificate(t)
	dir, err := os.MkdirTemp("", "wt") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, tt := range []struct {
		name      string
		server    wiretest.Config
		uri       func(s *wiretest.Server) string
		config    mongo.Config
		transport func(s *wiretest.Server) string
	}{
		{"tcp", wiretest.Config{}, (*wiretest.Server).URI, mongo.Config{}, func(s *wiretest.Server) string { return "tcp " + s.Address() }},
		{"TLS", wiretest.Config{TLS: tlsConfig}, func(s *wiretest.Server) string { return s.URI() + "?tls=true&tlsCAFile=" + caFile }, mongo.Config{},
			func(s *wiretest.Server) string { return "tcp " + s.Address() + ", TLSv1.3" }},
		{"socket", wiretest.Config{Unix: dir}, (*wiretest.Server).URI, mongo.Config{}, func(s *wiretest.Server) string { return "unix socket " + s.Address() }},
		{"before 4.4.2", wiretest.Config{NoHello: true, Hello: bson.D{{Key: "maxWireVersion", Value: int32(6)}}}, (*wiretest.Server).URI, mongo.Config{StorageEngine: "wiredtiger"},
			func(s *wiretest.Server) string { return "tcp " + s.Address() }},
		{"login by flags", wiretest.Config{User: "bench", Password: "p@:/ss"}, (*wiretest.Server).URI, mongo.Config{User: "bench", Password: drivers.NewSecret("p@:/ss")},
			func(s *wiretest.Server) string { return "tcp " + s.Address() }},
		{"login by URI", wiretest.Config{User: "bench", Password: "pw"}, func(s *wiretest.Server) string {
			return "mongodb://bench:pw@" + s.Address() + "/?authMechanism=SCRAM-SHA-256"
		}, mongo.Config{},
			func(s *wiretest.Server) string { return "tcp " + s.Address() }},
		{"password over the URI's", wiretest.Config{User: "bench", Password: "pw"}, func(s *wiretest.Server) string { return "mongodb://bench:old@" + s.Address() + "/" }, mongo.Config{Password: drivers.NewSecret("pw")},
			func(s *wiretest.Server) string { return "tcp " + s.Address() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Start(t, tt.server)
			tt.config.URI = tt.uri(s)
			db := open(t, tt.config)
			if got, want := db.Identity().Transport, tt.transport(s); got != want {
				t.Errorf("transport %q, want %q", got, want)
			}
			if p := db.Place(); p.Address != s.Address() || p.DataDir != "/data/db" {
				t.Errorf("place %+v, want address %s and /data/db", p, s.Address())
			}
			in := openInserter(t, db, "pi1")
			fill(in, 0, 10)
			if err := in.Insert(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRedactURI(t *testing.T) {
	for _, tt := range []struct{ uri, want string }{
		{"mongodb://h/", "mongodb://h/"},
		{"mongodb://u@h/", "mongodb://u@h/"},
		{"mongodb://u:pw@h1,h2/ib?w=1", "mongodb://u:***@h1,h2/ib?w=1"},
		{"mongodb+srv://u:p:w@h/", "mongodb+srv://u:***@h/"},
		{"mongodb://u:p@w@h/", "mongodb://u:***@h/"},
		{"mongodb://u:p/w@h/", "mongodb://u:***@h/"},
		{"mongodb://u:p@/?w@h/ib", "mongodb://u:***@h/ib"},
		{"u:p\nw@h", "u:***@h"},
		{"mongodb://h/?tlsCertificateKeyFilePassword=pw&w=1", "mongodb://h/?tlsCertificateKeyFilePassword=***&w=1"},
		{"mongodb://h/?w=1&authMechanismProperties=AWS_SESSION_TOKEN:x", "mongodb://h/?w=1&authMechanismProperties=***"},
		{"", ""},
	} {
		if got := mongo.RedactURI(tt.uri); got != tt.want {
			t.Errorf("RedactURI(%q) = %q, want %q", tt.uri, got, tt.want)
		}
	}
}

// TestProbeLeavesNothing: neither where transactions are only pretended nor
// where they are kept does the probe leave its collection behind.
func TestProbeLeavesNothing(t *testing.T) {
	for _, transactions := range []wiretest.Transactions{wiretest.Ignored, wiretest.Kept} {
		s := wiretest.Start(t, wiretest.Config{Transactions: transactions})
		db, err := mongo.Open(context.Background(), mongo.Config{URI: s.URI(), Transactions: true, W: "1"})
		if (err == nil) != (transactions == wiretest.Kept) {
			t.Errorf("transactions %v: %v", transactions, err)
		}
		if err == nil {
			db.Close()
		}
		if made, dropped := len(s.Commands("create")), len(s.Commands("drop")); made != 1 || dropped != 1 {
			t.Errorf("transactions %v: %d collections made and %d dropped, want one each", transactions, made, dropped)
		}
	}
}

// TestMongos: workers take the routers of the URI in turn, and each stays on
// its own.
func TestMongos(t *testing.T) {
	routers := []*wiretest.Server{wiretest.Start(t, wiretest.Config{Mongos: true}), wiretest.Start(t, wiretest.Config{Mongos: true})}
	db := open(t, mongo.Config{URI: "mongodb://" + routers[0].Address() + "," + routers[1].Address() + "/"})
	for range 4 {
		in := openInserter(t, db, "pi1")
		for n := range int64(3) {
			in.Reset()
			fill(in, n, n+1)
			// The wire servers know nothing of each other, and a second worker
			// sends the same keys: only where they go is looked at.
			_ = in.Insert(context.Background())
		}
	}
	for i, s := range routers {
		if n := s.Count("insert"); n != 6 {
			t.Errorf("router %d got %d inserts, want 6: 2 workers of 3", i, n)
		}
	}
}

func FuzzRedactURI(f *testing.F) {
	f.Add("u", "pw", "h1,h2/ib?w=1")
	f.Add("a@b", "p:/@?", "h")
	f.Fuzz(func(t *testing.T, user, password, rest string) {
		// A password that could be part of anything else proves nothing, and
		// the URI grammar wants / and ? escaped in it.
		password = "s3cr3t" + strings.Map(func(r rune) rune {
			if strings.ContainsRune("/?", r) {
				return -1
			}
			return r
		}, password)
		user = strings.NewReplacer("/", "", "?", "", ":", "").Replace(user)
		if strings.Contains(rest, "s3cr3t") || strings.Contains(user, "s3cr3t") {
			return
		}
		if got := mongo.RedactURI("mongodb://" + user + ":" + password + "@" + rest); strings.Contains(got, "s3cr3t") {
			t.Errorf("%q still holds the password", got)
		}
	})
}
