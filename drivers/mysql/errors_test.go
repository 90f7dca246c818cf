package mysql

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"insertbench/drivers"
)

// Numbers and texts from MySQL's "Server Error Message Reference" and
// MariaDB's "MariaDB Error Codes".
func TestStatementErrorClass(t *testing.T) {
	server := func(number uint16) error { return &mysql.MySQLError{Number: number, Message: "text"} }
	lost := func(cause error) error { return fmt.Errorf("%w: %w", mysql.ErrInvalidConn, cause) }
	for _, test := range []struct {
		name               string
		err                error
		class              drivers.Class
		classNoTransaction drivers.Class
		code               string
	}{
		{"deadlock", server(1213), drivers.Retryable, drivers.Retryable, "1213"},
		{"lock wait timeout", server(1205), drivers.Retryable, drivers.Retryable, "1205"},
		{"shutdown", server(1053), drivers.Unknown, drivers.Unknown, "1053"},
		{"query killed", server(1317), drivers.Unknown, drivers.Unknown, "1317"},
		{"connection killed, MariaDB", server(1927), drivers.Unknown, drivers.Unknown, "1927"},
		{"session killed, MySQL", server(3169), drivers.Unknown, drivers.Unknown, "3169"},
		{"error during COMMIT", server(1180), drivers.Unknown, drivers.Unknown, "1180"},
		{"no such table", server(1146), drivers.Fatal, drivers.Fatal, "1146"},
		{"read only", server(1290), drivers.Fatal, drivers.Fatal, "1290"},
		{"table full", server(1114), drivers.Fatal, drivers.Unknown, "1114"},
		{"disk full", server(1021), drivers.Fatal, drivers.Unknown, "1021"},
		{"duplicate key", server(1062), drivers.Fatal, drivers.Unknown, "1062"},
		{"too long", mysql.ErrPktTooLarge, drivers.Fatal, drivers.Fatal, "statement too long"},
		{"connection lost", lost(errors.New("EOF")), drivers.Unknown, drivers.Unknown, "connection lost"},
		{"invalid connection", mysql.ErrInvalidConn, drivers.Unknown, drivers.Unknown, "connection lost"},
		{"timeout", lost(&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}), drivers.Unknown, drivers.Unknown, "timeout"},
		{"closed here", lost(net.ErrClosed), drivers.Unknown, drivers.Unknown, "aborted"},
		{"out of step", mysql.ErrPktSync, drivers.Unknown, drivers.Unknown, "connection lost"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, transactional := range []bool{true, false} {
				want := test.class
				if !transactional {
					want = test.classNoTransaction
				}
				got := statementError(test.err, "inserting 5 rows into table ib.pi1 at x", transactional)
				if got.Class != want || got.Code != test.code {
					t.Errorf("transactional %v: got %v with code %q, want %v with %q", transactional, got.Class, got.Code, want, test.code)
				}
				if !strings.HasPrefix(got.Error(), "inserting 5 rows into table ib.pi1 at x: ") {
					t.Errorf("the error doesn't say what was being done: %v", got)
				}
			}
		})
	}
}

// TestIsRefusal: only an answer of a server that goes on is one, and only a
// missing privilege (1227) is advised to be granted.
func TestIsRefusal(t *testing.T) {
	server := func(number uint16) error {
		return fmt.Errorf("setting x: %w", &mysql.MySQLError{Number: number, Message: "text"})
	}
	for _, test := range []struct {
		name             string
		err              error
		refusal, advised bool
	}{
		{"no privilege", server(1227), true, true},
		{"read-only variable", server(1238), true, false},
		{"shutdown", server(1053), false, false},
		{"query killed", server(1317), false, false},
		{"connection killed, MariaDB", server(1927), false, false},
		{"connection lost", fmt.Errorf("setting x: %w", mysql.ErrInvalidConn), false, false},
		{"nobody listens", &net.OpError{Op: "dial", Err: os.ErrNotExist}, false, false},
	} {
		if got := isRefusal(test.err); got != test.refusal {
			t.Errorf("%s: a refusal: %v, want %v", test.name, got, test.refusal)
		}
		if got := strings.Contains(withAdvice(test.err).Error(), "grant"); got != test.advised {
			t.Errorf("%s: advised: %v, want %v", test.name, got, test.advised)
		}
	}
}
