package sqlite

import (
	"context"
	"fmt"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

// RunScript runs statements with semicolons between them, when it is this
// connection's turn. They are in no transaction unless they begin one.
func (s *Server) RunScript(ctx context.Context, text string) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("run statements: %w", ctx.Err())
	}
	if _, err := s.db.ExecContext(ctx, text); err != nil {
		return drivers.Configf("a statement failed: %w", err)
	}
	return nil
}

// OpenLong opens a connection for transactions that stay open.
func (s *Server) OpenLong(ctx context.Context, table string) (ibench.LongTransaction, error) {
	l, err := sqltext.OpenLong(ctx, s.db, table)
	if err != nil {
		return nil, err
	}
	return l, nil
}
