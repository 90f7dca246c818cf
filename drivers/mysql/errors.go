package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"insertbench/drivers"
)

// errNotMySQL is what answers with something that isn't MySQL's greeting.
var errNotMySQL = errors.New("what answered didn't greet as a MySQL server")

// Error numbers of the server, from MySQL's "Server Error Message Reference"
// and MariaDB's "MariaDB Error Codes".
const (
	errDatabaseDenied   = 1044
	errAccessDenied     = 1045
	errNoDatabase       = 1049
	errUnknownColumn    = 1054
	errTableExists      = 1050
	errUnknownTable     = 1051
	errShutdown         = 1053
	errNoPrivilege      = 1227
	errUnknownVariable  = 1193
	errDuplicateKey     = 1062
	errWrongValue       = 1231
	errLockWaitTimeout  = 1205
	errDeadlock         = 1213
	errUnknownEngine    = 1286
	errAccessDeniedNoPw = 1698
	errDatabaseExists   = 1007
)

// unknownOutcome are the errors after which nobody can say whether the
// statement was committed: the server ended it or the connection halfway.
var unknownOutcome = map[uint16]bool{
	errShutdown: true,
	1078:        true,                                     // got signal, aborting
	1079:        true,                                     // normal shutdown
	1080:        true,                                     // forced close of a thread
	1152:        true,                                     // aborted connection
	1158:        true, 1159: true, 1160: true, 1161: true, // reading or writing packets
	1180: true, // error during COMMIT
	1184: true, // aborted connection, with host
	1317: true, // query killed
	1598: true, // can't write the binary log
	1927: true, // MariaDB: connection killed
	3169: true, // MySQL: session killed
	4031: true, // MySQL: the server closed an idle connection
}

// beforeExecution are errors raised before the first row is written. For an
// engine without transactions every other error may leave part of a statement.
var beforeExecution = map[uint16]bool{
	errDatabaseDenied: true, errNoDatabase: true,
	1046: true, 1054: true, 1064: true, 1142: true, 1143: true, 1146: true, 1153: true,
	1290: true, 1792: true, 1836: true,
}

// statementError classes the failure of an INSERT. transactional is whether
// the table's engine rolls a failed statement back.
//
// A lock wait timeout (1205) is retryable for every engine: with one statement
// per transaction InnoDB and MyRocks roll all of it back, and engines that lock
// whole tables time out on the metadata lock, before the first row.
func statementError(err error, doing string, transactional bool) *drivers.Error {
	var server *mysql.MySQLError
	if errors.Is(err, mysql.ErrPktTooLarge) {
		return &drivers.Error{Class: drivers.Fatal, Code: "statement too long",
			Err: fmt.Errorf("%s: the statement is above max_allowed_packet and wasn't sent: lower --rows-per-commit or raise max_allowed_packet", doing)}
	}
	if !errors.As(err, &server) {
		word, advice := lostWord(err)
		return &drivers.Error{Class: drivers.Unknown, Code: word,
			Err: fmt.Errorf("%s: %s, whether the rows were kept isn't known: %w (%s)", doing, word, err, advice)}
	}
	out := &drivers.Error{Class: drivers.Fatal, Code: strconv.Itoa(int(server.Number)), Err: fmt.Errorf("%s: %w", doing, err)}
	switch n := server.Number; {
	case n == errDeadlock || n == errLockWaitTimeout:
		out.Class = drivers.Retryable
	case unknownOutcome[n]:
		out.Class = drivers.Unknown
	case !transactional && !beforeExecution[n]:
		out.Class = drivers.Unknown
		out.Err = fmt.Errorf("%s: the engine has no transactions and may have kept part of the rows: %w", doing, err)
	}
	return out
}

// lostWord is the code of a statement without an answer, and what to try.
func lostWord(err error) (word, advice string) {
	switch {
	case errors.Is(err, net.ErrClosed):
		return "aborted", "the client closed the connection"
	case isTimeout(err):
		return "timeout", "the statement timeout can be raised"
	default:
		return "connection lost", "see whether the server still runs and what its error log says"
	}
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

// connectError turns a failure to connect into a sentence. where is the
// server's address as shown to the user, user and database who asked for what.
func connectError(err error, where string, cfg *mysql.Config) error {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return loginError(server, where, cfg)
	}
	doing := "connecting to MySQL at " + where
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var hostname x509.HostnameError
	switch {
	case errors.As(err, &dns):
		return drivers.Connectf("%s: the host isn't known (%w): check --host", doing, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return drivers.Connectf("%s: nothing listens there: start the server, or check the address", doing)
	case errors.Is(err, os.ErrNotExist):
		return drivers.Connectf("%s: there is no such socket: start the server, or name its socket with --socket", doing)
	case errors.Is(err, os.ErrPermission):
		return drivers.Connectf("%s: the socket can't be opened by this user (%w)", doing, err)
	case errors.Is(err, mysql.ErrNoTLS):
		return drivers.Connectf("%s: TLS was asked for but the server doesn't offer it: use --tls=off or set TLS up in the server", doing)
	case errors.As(err, &certificate), errors.As(err, &hostname):
		return drivers.Connectf("%s: the server's certificate isn't trusted here (%w): use --tls=skip-verify to encrypt without checking it", doing, err)
	case isTimeout(err):
		return drivers.Connectf("%s: no MySQL greeting or login answer within %s: check that it is a MySQL server and that it isn't stalled", doing, rounded(cfg.Timeout))
	case isNotMySQL(err):
		return drivers.Connectf("%s: %w: check the port or the socket", doing, errNotMySQL)
	default:
		return drivers.Connectf("%s: %w", doing, err)
	}
}

func isNotMySQL(err error) bool {
	return errors.Is(err, errNotMySQL) || errors.Is(err, mysql.ErrMalformPkt) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, mysql.ErrPktSync) || errors.Is(err, mysql.ErrPktSyncMul) || errors.Is(err, mysql.ErrOldProtocol) ||
		errors.Is(err, io.EOF) || errors.Is(err, driver.ErrBadConn)
}

func loginError(err *mysql.MySQLError, where string, cfg *mysql.Config) error {
	switch err.Number {
	case errAccessDenied, errAccessDeniedNoPw:
		given := "no password was given"
		if cfg.Passwd != "" {
			given = "a password was given"
		}
		return drivers.Connectf("logging in to MySQL at %s as user %q: refused, %s: check --user and the password (%w)", where, cfg.User, given, err)
	case errNoDatabase:
		return drivers.Connectf("database %q doesn't exist on the server at %s: create it (CREATE DATABASE %s) or name another one with --database", cfg.DBName, where, quoteName(cfg.DBName))
	case errDatabaseDenied:
		return drivers.Connectf("user %q may not use database %q on the server at %s: grant it (%w)", cfg.User, cfg.DBName, where, err)
	case errUnknownVariable, errWrongValue:
		return drivers.Configf("connecting to MySQL at %s: a parameter of the DSN isn't a variable of this server (%w)", where, err)
	default:
		return drivers.Connectf("connecting to MySQL at %s as user %q: %w", where, cfg.User, err)
	}
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
