// Package mysql runs both benchmarks on servers that speak MySQL's
// protocol: MySQL, MariaDB, Percona Server, with any storage engine.
package mysql

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"insertbench/drivers"
	"insertbench/ibench"
)

// Config says which server to use and how. The zero value is user "" at
// 127.0.0.1:3306 with database ib.
type Config struct {
	// DSN is go-sql-driver's form, user[:password]@net(address)/database?params.
	// Socket, Host and Port can't be given beside it; User, Password, Database
	// and TLS only where the DSN leaves them out.
	DSN string
	// Socket is the path of a unix socket. It excludes Host and Port.
	Socket string
	// Host is a name or an address, 127.0.0.1 unless set. It is always TCP,
	// "localhost" too.
	Host string
	// Port is the TCP port, 3306 unless set.
	Port     int
	User     string
	Password drivers.Secret
	// Database holds the tables; ib unless set.
	Database string
	// CreateDatabase makes the database where it is missing. It is meant for
	// a name that the user didn't choose; without it a missing database is an
	// error of kind drivers.ErrConnect.
	CreateDatabase bool
	// Engine is a storage engine by the server's name, in any case; empty is
	// the server's default. One the server doesn't offer is an error of kind
	// drivers.ErrConfig.
	Engine string
	// EngineOptions is appended to CREATE TABLE as it is, such as
	// "row_format=compressed".
	EngineOptions string
	// TLS is "" or "off"; "preferred", encrypted where the server can;
	// "required" or "true", encrypted and the certificate verified;
	// "skip-verify", encrypted without looking at the certificate.
	TLS string
	// ConnectTimeout bounds dialing, TLS, greeting and login; 5 s unless set.
	ConnectTimeout time.Duration
	// StatementTimeout bounds a statement's answer, 10 min unless set, by
	// deadlines on the socket. Index builds, drops and verification have none.
	StatementTimeout time.Duration
	// UniqueChecksOff sets unique_checks = 0 on the inserters' connections,
	// which spares MyRocks and TokuDB a read per row.
	UniqueChecksOff bool
}

const (
	defaultHost             = "127.0.0.1"
	defaultPort             = 3306
	defaultConnectTimeout   = 5 * time.Second
	defaultStatementTimeout = 10 * time.Minute
)

// tlsNames maps Config.TLS to go-sql-driver's names.
var tlsNames = map[string]string{
	"": "", "off": "false", "preferred": "preferred",
	"required": "true", "true": "true", "skip-verify": "skip-verify",
}

// Validate says what is wrong with the configuration, all of it at once, as
// an error of kind drivers.ErrConfig. It connects to nothing.
func (c Config) Validate() error {
	_, err := c.driverConfig()
	return err
}

// driverConfig is the configuration for go-sql-driver. Nothing in its errors
// comes from the DSN's text, since a DSN holds a password.
func (c Config) driverConfig() (*mysql.Config, error) {
	errs := c.fieldErrors()
	cfg := mysql.NewConfig()
	if c.DSN != "" {
		parsed, err := mysql.ParseDSN(c.DSN)
		if err != nil {
			return nil, drivers.Configf("%w", errors.Join(append(errs, dsnError(c.DSN, err))...))
		}
		cfg = parsed
		errs = append(errs, c.mergeDSN(cfg)...)
	} else {
		cfg.Net, cfg.Addr = c.address()
		cfg.User, cfg.Passwd, cfg.DBName = c.User, c.Password.Reveal(), c.Database
	}
	if len(errs) > 0 {
		return nil, drivers.Configf("%w", errors.Join(errs...))
	}
	if cfg.DBName == "" {
		cfg.DBName = ibench.DatabaseName
	}
	if name := tlsNames[c.TLS]; name != "" {
		cfg.TLSConfig, cfg.TLS = name, nil
	}
	cfg.Timeout = orDefault(c.ConnectTimeout, defaultConnectTimeout)
	cfg.MaxAllowedPacket = 0 // 0 makes the driver ask the server
	cfg.ClientFoundRows = false
	cfg.MultiStatements = false
	cfg.AllowAllFiles = false
	// A statement commits by itself, whatever the server's default.
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	cfg.Params["autocommit"] = "1"
	return cfg, nil
}

func (c Config) fieldErrors() []error {
	var errs []error
	if c.Socket != "" && (c.Host != "" || c.Port != 0) {
		errs = append(errs, errors.New("--socket can't be combined with --host or --port: a server is reached by one of them"))
	}
	if c.Port < 0 || c.Port > 65535 {
		errs = append(errs, fmt.Errorf("--port=%d: it must be from 1 to 65535", c.Port))
	}
	if _, ok := tlsNames[c.TLS]; !ok {
		errs = append(errs, fmt.Errorf("--tls=%s: it must be off, preferred, required, true or skip-verify", c.TLS))
	}
	if c.ConnectTimeout < 0 || c.StatementTimeout < 0 {
		errs = append(errs, errors.New("a timeout can't be negative"))
	}
	if strings.Trim(c.Engine, engineLetters) != "" {
		errs = append(errs, fmt.Errorf("--engine=%q: an engine's name has letters, digits and _ only", c.Engine))
	}
	if strings.ContainsAny(c.Database, "\x00/") {
		errs = append(errs, fmt.Errorf("--database=%q isn't a name for a database", c.Database))
	}
	return errs
}

const engineLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// mergeDSN fills what the DSN left out and says what was given twice.
func (c Config) mergeDSN(cfg *mysql.Config) []error {
	var errs []error
	twice := func(flag string) {
		errs = append(errs, fmt.Errorf("--%s was given beside a DSN that has it already: leave one of them out", flag))
	}
	if cfg.Net != "tcp" && cfg.Net != "unix" {
		errs = append(errs, errors.New("the DSN's network isn't tcp or unix: "+dsnForm))
	}
	if c.Socket != "" {
		twice("socket")
	}
	if c.Host != "" || c.Port != 0 {
		twice("host or --port")
	}
	fill := func(flag, field string, dst *string) {
		switch {
		case field == "":
		case *dst != "" && *dst != field:
			twice(flag)
		default:
			*dst = field
		}
	}
	fill("user", c.User, &cfg.User)
	fill("password", c.Password.Reveal(), &cfg.Passwd)
	fill("database", c.Database, &cfg.DBName)
	if tlsNames[c.TLS] != "" && cfg.TLSConfig != "" && tlsNames[c.TLS] != cfg.TLSConfig {
		twice("tls")
	}
	return errs
}

func (c Config) address() (network, address string) {
	if c.Socket != "" {
		return "unix", c.Socket
	}
	host, port := c.Host, c.Port
	if host == "" {
		host = defaultHost
	}
	if port == 0 {
		port = defaultPort
	}
	return "tcp", net.JoinHostPort(host, strconv.Itoa(port))
}

const dsnForm = "write user:password@tcp(host:3306)/database or user@unix(/path/to/socket)/database"

// dsnReasons are those of the driver's messages that quote nothing of the DSN.
// The others quote the part they stumbled over, which may be the password.
var dsnReasons = map[string]string{
	"invalid DSN: did you forget to escape a param value?":                  "a parameter's value has to be escaped as in a URL",
	"invalid DSN: network address not terminated (missing closing brace)":   "the address has no closing parenthesis",
	"invalid DSN: missing the slash separating the database name":           "there is no slash before the database's name",
	"invalid DSN: interpolateParams can not be used with unsafe collations": "interpolateParams can't be used with that collation",
}

func dsnError(dsn string, err error) error {
	reason := "it can't be read (its text isn't shown, since it may hold a password)"
	if strings.Contains(dsn, "://") {
		reason = "it isn't a URL"
	} else if known, ok := dsnReasons[err.Error()]; ok {
		reason = known
	}
	return fmt.Errorf("the DSN is refused: %s: %s", reason, dsnForm)
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}
