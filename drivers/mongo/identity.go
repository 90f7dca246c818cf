package mongo

import (
	"context"
	"crypto/tls"
	"fmt"
	"regexp"
	"strings"

	"insertbench/drivers"

	"go.mongodb.org/mongo-driver/bson"
)

// unknownEngine is the engine of a server that doesn't name one.
const unknownEngine = "unknown"

// keepNothingEngine stores nothing (mongod --storageEngine=devnull).
const keepNothingEngine = "devnull"

// self is what a server says of itself, from buildInfo and serverStatus.
type self struct {
	Version        string   `bson:"version"`
	GitVersion     string   `bson:"gitVersion"`
	StorageEngines []string `bson:"storageEngines"`
	PSMDBVersion   string   `bson:"psmdbVersion"`
	Ferret         *struct {
		Version string `bson:"version"`
	} `bson:"ferretdb"`
	FerretVersion string `bson:"ferretdbVersion"`
	Process       string `bson:"process"`
	StorageEngine struct {
		Name string `bson:"name"`
	} `bson:"storageEngine"`
}

var (
	gitHash = regexp.MustCompile(`^[0-9a-f]{40}$`)
	// mongodProcess is serverStatus' process, a program's name with or without a path.
	mongodProcess = regexp.MustCompile(`(?i)(^|[/\\])mongo[ds](\.exe)?$`)
)

// product names a server by what it says of itself. It is MongoDB only if
// everything that mongod tells is there and nothing says otherwise: many
// servers speak the protocol and report one of its versions.
func product(build, status self, h hello, hints []string) (name, version string) {
	ferret := build.FerretVersion
	if build.Ferret != nil {
		ferret = build.Ferret.Version
	}
	switch {
	case build.Ferret != nil || ferret != "":
		return "FerretDB", strings.TrimPrefix(ferret, "v")
	case build.PSMDBVersion != "":
		return "Percona Server for MongoDB", build.PSMDBVersion
	case len(hints) > 0 || len(h.hints) > 0:
		return compatible, build.Version
	case !gitHash.MatchString(build.GitVersion),
		len(build.StorageEngines) == 0 && !h.isMongos(),
		status.Process != "" && !mongodProcess.MatchString(status.Process):
		return compatible, build.Version
	default:
		return "MongoDB", build.Version
	}
}

// compatible is the name of a server that doesn't say whose it is.
const compatible = "MongoDB-protocol server"

// identify reads back who answered and how it will keep what it is sent.
func (s *Server) identify(ctx context.Context, address string, tlsVersion uint16) error {
	rawBuild, err := s.readAdmin(ctx, bson.D{{Key: "buildInfo", Value: 1}})
	if err != nil {
		return drivers.Connectf("%s: asking for buildInfo: %s", RedactURI(s.cfg.URI), s.cfg.redact(err))
	}
	var build, status self
	if err := bson.Unmarshal(rawBuild, &build); err != nil {
		return drivers.Connectf("%s: its buildInfo can't be read: %w", RedactURI(s.cfg.URI), err)
	}
	// serverStatus needs a role; without it the engine is unknown.
	rawStatus, err := s.readAdmin(ctx, bson.D{{Key: "serverStatus", Value: 1}})
	if err == nil {
		if err := bson.Unmarshal(rawStatus, &status); err != nil {
			return drivers.Connectf("%s: its serverStatus can't be read: %w", RedactURI(s.cfg.URI), err)
		}
	}
	hints := append(foreignFields(rawBuild), foreignFields(rawStatus)...)
	name, version := product(build, status, s.hello, hints)
	engine := status.StorageEngine.Name
	if engine == "" {
		engine = unknownEngine
	}
	s.keepsNothing = engine == keepNothingEngine
	if want := s.cfg.StorageEngine; want != "" && !strings.EqualFold(want, engine) {
		if engine == unknownEngine {
			return drivers.Configf("storage engine %s is asked for, but %s %s doesn't tell which it runs; leave the engine out", want, name, version)
		}
		return drivers.Configf("storage engine %s is asked for, but %s %s runs %s; start it with --storageEngine=%s, or leave the engine out", want, name, version, engine, want)
	}
	s.place = s.findPlace(ctx, address)
	s.identity = drivers.Identity{
		DBMS: "mongo", Product: name, Version: version, Engine: engine,
		Durability: s.durability(ctx, engine),
		Transport:  transport(s.place, tlsVersion),
	}
	return nil
}

// findPlace is the other end of the connection, and the data directory where
// the server tells it.
func (s *Server) findPlace(ctx context.Context, address string) drivers.Place {
	p := drivers.Place{Network: "tcp", Address: address}
	if peer := s.dial.peer(address); peer != nil {
		p.Network = peer.Network()
		if p.Network != "unix" {
			p.Address = peer.String()
		}
	}
	raw, err := s.readAdmin(ctx, bson.D{{Key: "getCmdLineOpts", Value: 1}})
	if err != nil {
		return p
	}
	p.DataDir = text(raw, "parsed", "storage", "dbPath")
	return p
}

// transport is "tcp HOST:PORT" or "unix socket PATH", with TLS where it is on.
func transport(p drivers.Place, tlsVersion uint16) string {
	t := p.Network + " " + p.Address
	if p.Network == "unix" {
		t = "unix socket " + p.Address
	}
	if tlsVersion != 0 {
		t += ", " + strings.Replace(tls.VersionName(tlsVersion), "TLS ", "TLSv", 1)
	}
	return t
}

// durability is the write concern as it is sent, or the server's default
// where none is, and what else decides whether a write survives.
func (s *Server) durability(ctx context.Context, engine string) string {
	var phrase string
	if s.concern.isSet() {
		phrase = "write concern " + s.concern.String()
	} else {
		phrase = s.defaultConcern(ctx)
	}
	switch {
	case s.hello.isMongos():
		phrase += ", through mongos"
	case s.hello.SetName != "":
		phrase += fmt.Sprintf(", replica set %s of %d", s.hello.SetName, len(s.hello.Hosts))
	}
	if s.cfg.Transactions {
		phrase += ", a transaction per statement"
	}
	switch engine {
	case "inMemory", "ephemeralForTest", keepNothingEngine:
		phrase += ", nothing kept on disk"
	}
	return phrase
}

// defaultConcern is the server's default write concern, where it tells it.
func (s *Server) defaultConcern(ctx context.Context) string {
	raw, err := s.readAdmin(ctx, bson.D{{Key: "getDefaultRWConcern", Value: 1}})
	if err != nil {
		return "the server's default write concern, which it doesn't tell"
	}
	w := text(raw, "defaultWriteConcern", "w")
	if w == "" {
		return "the server's default write concern, w=1"
	}
	return "the server's default write concern, w=" + w
}

// text is a value below raw as text: strings as they are, numbers and
// booleans in decimal; "" where there is none.
func text(raw bson.Raw, path ...string) string {
	if raw == nil {
		return ""
	}
	v, err := raw.LookupErr(path...)
	if err != nil {
		return ""
	}
	if s, ok := v.StringValueOK(); ok {
		return s
	}
	if n, ok := v.AsInt64OK(); ok {
		return fmt.Sprint(n)
	}
	if b, ok := v.BooleanOK(); ok {
		return fmt.Sprint(b)
	}
	return ""
}
