package mysql

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// maxProbePeriod is how often a server is asked for a sign of life at least
// while a statement without a deadline runs.
const maxProbePeriod = 30 * time.Second

// long runs a statement that may take hours: an index build, a drop, a scan
// of everything. It has no deadline; but when the server has taken no new
// connection for as long as a statement may take, it is given up.
func (s *Server) long(ctx context.Context, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	probing, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.probe(probing); err != nil {
			cancel(err)
		}
	})
	err := run(ctx)
	stop()
	wg.Wait()
	cause := context.Cause(ctx)
	cancel(nil)
	if err != nil && errors.Is(cause, errNoSignOfLife) {
		return cause
	}
	return err
}

var errNoSignOfLife = errors.New("no sign of life from the server")

// probe logs in again and again until the context ends, which is no error, or
// the server has answered none of it for the statement timeout.
func (s *Server) probe(ctx context.Context) error {
	ticker := time.NewTicker(min(maxProbePeriod, s.statementTimeout/10))
	defer ticker.Stop()
	answered := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		conn, err := connect(ctx, s.cfg)
		if err == nil {
			// The answer has come; how the goodbye went doesn't matter.
			_ = conn.conn.Close()
		}
		var server *mysql.MySQLError
		switch silent := time.Since(answered); {
		case err == nil || errors.As(err, &server):
			answered = time.Now()
		case ctx.Err() == nil && silent > s.statementTimeout:
			return fmt.Errorf("%w at %s for %s: %w", errNoSignOfLife, s.where, rounded(silent), err)
		}
	}
}
