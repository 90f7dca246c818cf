package mongo

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"insertbench/drivers"
	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/mongo/options"
)

// IDKind is the type of the documents' _id.
type IDKind string

const (
	// ObjectID makes an _id of the usual shape: 4 bytes of the row's time in
	// seconds, 5 bytes of the client's number, 3 bytes of the row's number.
	// 16,777,216 rows can share a second; the stream puts 1,000 into each.
	ObjectID IDKind = "objectid"
	// Int64 makes an _id of client × 2^40 + row, so each client counts up in a
	// range of its own: 2^23 clients of 2^40 rows.
	Int64 IDKind = "int64"
)

const (
	defaultURI              = "mongodb://127.0.0.1:27017"
	defaultConnectTimeout   = 5 * time.Second
	defaultStatementTimeout = 10 * time.Minute
	// transactionReadConcern is what iibench.py starts its transactions with
	// (mdcallag/mytools, bench/ibench).
	transactionReadConcern = "snapshot"
)

// Config says what to connect to and how to write. The zero value is a
// server at mongodb://127.0.0.1:27017 with its own defaults.
type Config struct {
	// URI is a connection string; empty means mongodb://127.0.0.1:27017. It may
	// hold a password: print it through RedactURI only. Its retryWrites,
	// timeouts and heartbeats are not used: a statement is never sent again by
	// the client, and deadlines are the ones below.
	URI string
	// Database is where the tables live; empty means ibench.DatabaseName.
	Database string
	// User and Password replace those of the URI where they are set.
	User     string
	Password drivers.Secret
	// W, Journal and WTimeout are the write concern. What isn't set comes from
	// the URI, else from the server's default. W is a number, "majority" or
	// the name of a tag set; 0 is refused, since nothing would be acknowledged.
	W        string
	Journal  *bool
	WTimeout time.Duration
	// ReadConcern is the level of reads and transactions; empty means the
	// URI's, else the server's default, and "snapshot" in transactions.
	ReadConcern string
	// ShortNames takes iibench.py's short field names: ts, caid, cuid, prod, prid.
	ShortNames bool
	// IDKind is the type of _id; empty means ObjectID.
	IDKind IDKind
	// Transactions puts each statement into a transaction of its own.
	Transactions bool
	// Unordered lets the server go on after a document that fails.
	Unordered bool
	// ConnectTimeout bounds finding the server and logging in; 0 means 5 s.
	ConnectTimeout time.Duration
	// StatementTimeout bounds one answer; 0 means 10 minutes. Index builds and
	// Sums may take longer, as long as the server answers pings meanwhile.
	StatementTimeout time.Duration
	// StorageEngine is the engine that the server must report, in any case;
	// empty takes any.
	StorageEngine string
}

func (c Config) withDefaults() Config {
	if c.URI == "" {
		c.URI = defaultURI
	}
	if c.Database == "" {
		c.Database = ibench.DatabaseName
	}
	if c.IDKind == "" {
		c.IDKind = ObjectID
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = defaultConnectTimeout
	}
	if c.StatementTimeout == 0 {
		c.StatementTimeout = defaultStatementTimeout
	}
	return c
}

func (c Config) validate() error {
	if c.IDKind != ObjectID && c.IDKind != Int64 {
		return drivers.Configf("--mongo-id=%s: it must be %s or %s", c.IDKind, ObjectID, Int64)
	}
	if c.ConnectTimeout < 0 || c.StatementTimeout < 0 || c.WTimeout < 0 {
		return drivers.Configf("a timeout is negative: connect %s, statement %s, write concern %s", c.ConnectTimeout, c.StatementTimeout, c.WTimeout)
	}
	if strings.ContainsAny(c.Database, "/\\. \"$\x00") || len(c.Database) > 63 {
		return drivers.Configf("database name %q: MongoDB allows neither / \\ . \" $ nor spaces in it, and 63 bytes at most", c.Database)
	}
	return nil
}

// clientOptions reads the URI and lays the configuration over it.
func (c Config) clientOptions() (*options.ClientOptions, error) {
	o := options.Client().ApplyURI(c.URI)
	if err := o.Validate(); err != nil {
		return nil, drivers.Configf("the URI %s is not usable: %s; the form is mongodb://[user:password@]host[:port][,host…]/[?option=value&…]",
			RedactURI(c.URI), c.redact(err))
	}
	if o.LoadBalanced != nil && *o.LoadBalanced {
		return nil, drivers.Configf("the URI %s asks for loadBalanced=true, which hides the server that is measured; name the server itself", RedactURI(c.URI))
	}
	if c.User != "" || c.Password.IsSet() {
		auth := options.Credential{}
		if o.Auth != nil {
			auth = *o.Auth
		}
		if c.User != "" {
			auth.Username = c.User
		}
		if c.Password.IsSet() {
			auth.Password, auth.PasswordSet = c.Password.Reveal(), true
		}
		if auth.Username == "" {
			return nil, drivers.Configf("a password is given without a user; give --user, or put the user into the URI")
		}
		o.SetAuth(auth)
	}
	if o.AppName == nil {
		o.SetAppName("ibench")
	}
	// A client-wide timeout would add maxTimeMS to every command.
	o.Timeout = nil
	// Heartbeats are asked for when something failed, not every 10 s: a server
	// that stalls for longer than they wait would have its connections cut by
	// the client, and a stall is data.
	// Reads are repeated once where the connection had broken; writes never are.
	return o.SetRetryWrites(false).SetRetryReads(true).
		SetConnectTimeout(c.ConnectTimeout).SetServerSelectionTimeout(c.ConnectTimeout).
		SetServerMonitoringMode("poll").SetHeartbeatInterval(24 * time.Hour).
		SetMinPoolSize(0).SetMaxConnIdleTime(0), nil
}

// isSRV says whether the hosts come from a DNS record.
func (c Config) isSRV() bool { return strings.HasPrefix(c.URI, "mongodb+srv://") }

var (
	// userInfo goes to the last @, since a password that wasn't escaped as it
	// has to be may hold any sign. An @ in an option so hides the host as well.
	userInfo      = regexp.MustCompile(`(?s)^([a-zA-Z0-9+.-]*://)?(.*)@`)
	secretOptions = regexp.MustCompile(`(?i)([?&](?:[^=&]*password|authMechanismProperties)=)[^&]*`)
)

// RedactURI is the URI with asterisks for its password, and for options that hold secrets.
func RedactURI(uri string) string {
	if m := userInfo.FindStringSubmatch(uri); m != nil {
		if user, password, found := strings.Cut(m[2], ":"); found && password != "" {
			uri = m[1] + user + ":***" + uri[len(m[0])-1:]
		}
	}
	return secretOptions.ReplaceAllString(uri, "${1}***")
}

// redact takes the URI's password and the configured one out of a message.
func (c Config) redact(err error) string {
	text := strings.ReplaceAll(err.Error(), c.URI, RedactURI(c.URI))
	if m := userInfo.FindStringSubmatch(c.URI); m != nil {
		if _, password, found := strings.Cut(m[2], ":"); found && password != "" {
			text = strings.ReplaceAll(text, password, "***")
		}
	}
	if c.Password.IsSet() {
		text = strings.ReplaceAll(text, c.Password.Reveal(), "***")
	}
	return text
}

// String is the configuration without secrets.
func (c Config) String() string {
	return fmt.Sprintf("%s database %s", RedactURI(c.URI), c.Database)
}

// GoString is what String gives, for %#v.
func (c Config) GoString() string { return c.String() }
