package cli

import (
	"cmp"
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
)

// Mongo is what the flags say of a MongoDB-protocol server.
type Mongo struct {
	URI drivers.Secret `json:"-"`
	// URIShown is the URI without its password.
	URIShown     string  `json:"uri"`
	W            string  `json:"w"`
	Journal      *bool   `json:"j"`
	WTimeout     Seconds `json:"wtimeout_seconds"`
	ReadConcern  string  `json:"read_concern"`
	ID           string  `json:"id"`
	Transactions bool    `json:"transactions"`
	Unordered    bool    `json:"unordered"`
	ShortNames   bool    `json:"short_names"`
}

const mongoPort = 27017

var mongoFlagNames = []string{
	"uri", "mongo-w", "mongo-j", "mongo-wtimeout", "mongo-read-concern", "mongo-id", "mongo-transactions", "mongo-unordered", "short-names",
}

func mongoFlags() []cli.Flag {
	const category = "MongoDB protocol"
	text := func(name, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage, Category: category}
	}
	yes := func(name, usage string) cli.Flag { return &cli.BoolFlag{Name: name, Usage: usage, Category: category} }
	return []cli.Flag{
		text("uri", "`URI` of the server, as mongodb://h1,h2/?replicaSet=rs0&w=majority (default mongodb://127.0.0.1:27017)"),
		text("mongo-w", "write concern `W`: a number, majority, or a tag (default: the URI's, else the server's)"),
		yes("mongo-j", "acknowledge a write when it is in the journal; --mongo-j=false when it isn't yet (default: the URI's, else the server's)"),
		&cli.DurationFlag{Name: "mongo-wtimeout", Usage: "`TIME` the server may wait for the write concern", DefaultText: "the URI's, else no limit", Category: category},
		text("mongo-read-concern", "read concern `LEVEL`, as local or majority (default: the URI's, else the server's)"),
		text("mongo-id", "`KIND` of _id: objectid or int64 (default objectid)"),
		yes("mongo-transactions", "insert each batch in a transaction of its own"),
		yes("mongo-unordered", "let the server go on after a document that fails"),
		yes("short-names", "the original's short field names: ts, caid, cuid, prod, prid"),
	}
}

// resolveMongo reads the flags of a MongoDB-protocol server.
func (conn *Connection) resolveMongo(c *cli.Context, p *Process) error {
	if conn.DBMS != "mongo" {
		return nil
	}
	m := Mongo{
		URI: conn.Mongo.URI, W: c.String("mongo-w"), WTimeout: Seconds(c.Duration("mongo-wtimeout")),
		ReadConcern: c.String("mongo-read-concern"), ID: c.String("mongo-id"), Transactions: c.Bool("mongo-transactions"),
		Unordered: c.Bool("mongo-unordered"), ShortNames: c.Bool("short-names"),
	}
	if c.IsSet("uri") {
		m.URI = drivers.NewSecret(c.String("uri"))
	}
	if c.IsSet("mongo-j") {
		j := c.Bool("mongo-j")
		m.Journal = &j
	}
	switch {
	case conn.Private.Program != "" && c.IsSet("uri"):
		return Usagef("--server starts a server, and --uri names one that runs; give one of them")
	case m.ID != "" && m.ID != string(mongo.ObjectID) && m.ID != string(mongo.Int64):
		return Usagef("--mongo-id=%s: it must be objectid or int64", m.ID)
	case m.WTimeout < 0:
		return Usagef("--mongo-wtimeout can't be negative")
	}
	if !m.URI.IsSet() && conn.Host != "" {
		m.URI = drivers.NewSecret("mongodb://" + net.JoinHostPort(conn.Host, strconv.Itoa(cmp.Or(conn.Port, mongoPort))))
		conn.Host, conn.Port = "", 0
	}
	if !m.URI.IsSet() {
		m.URI = drivers.NewSecret("mongodb://127.0.0.1:27017")
	}
	m.URIShown = mongo.RedactURI(m.URI.Reveal())
	if c.IsSet("uri") && m.URIShown != m.URI.Reveal() && strings.Contains(m.URIShown, redacted) {
		warnOfPassword(c, p)
	}
	conn.Mongo = m
	return nil
}

func openMongo(ctx context.Context, c Connection) (drivers.Server, error) {
	m := c.Mongo
	return asServer(mongo.Open(ctx, mongo.Config{
		URI: m.URI.Reveal(), Database: c.Database, User: c.User, Password: c.Password, W: m.W, Journal: m.Journal,
		WTimeout: time.Duration(m.WTimeout), ReadConcern: m.ReadConcern, ShortNames: m.ShortNames, IDKind: mongo.IDKind(m.ID),
		Transactions: m.Transactions, Unordered: m.Unordered, StorageEngine: c.Engine,
		ConnectTimeout: time.Duration(c.ConnectTimeout), StatementTimeout: time.Duration(c.StatementTimeout),
	}))
}
