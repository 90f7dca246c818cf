package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/go-sql-driver/mysql"
)

// session is one connection outside any pool: database/sql sends a statement
// again when it thinks the connection was bad, and a statement whose outcome
// isn't known must never be sent twice.
type session struct {
	conn   driver.Conn
	exec   driver.ExecerContext
	socket net.Conn
	log    *lastError
}

// connect opens a session. Should the driver panic on what it is told while
// it logs in, that is an error.
func connect(ctx context.Context, cfg *mysql.Config) (s *session, err error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	s = &session{log: &lastError{}}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w (%v)", errNotMySQL, r)
		}
		if err != nil && s.socket != nil {
			// It is closed already but for a panic.
			_ = s.socket.Close()
		}
	}()
	own := cfg.Clone()
	own.Logger = s.log
	own.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		s.socket = conn
		return conn, err
	}
	connector, err := mysql.NewConnector(own)
	if err != nil {
		return s, err
	}
	if s.conn, err = connector.Connect(ctx); err != nil {
		return s, s.cause(err)
	}
	exec, ok := s.conn.(driver.ExecerContext)
	if !ok {
		return s, errors.Join(errors.New("the MySQL driver can't send a statement as text"), s.conn.Close())
	}
	s.exec = exec
	return s, nil
}

// cause joins the driver's "invalid connection" with what it logged about it.
func (s *session) cause(err error) error {
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn) {
		if logged := s.log.get(); logged != nil {
			return fmt.Errorf("%w: %w", err, logged)
		}
	}
	return err
}

// lastError is a logger for the driver, which tells the reason of a lost
// connection to its log alone. Nothing is printed.
type lastError struct {
	mu  sync.Mutex
	err error
}

// Print keeps the error among the values, if there is one.
func (l *lastError) Print(v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range v {
		if err, ok := x.(error); ok {
			l.err = err
		}
	}
}

func (l *lastError) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
