package server

import (
	"context"
	"fmt"
)

// Restart shuts the server down and starts it again on its data with the same options; its port, socket and pid may be
// others afterwards. The context bounds the whole. After an error the server doesn't run, and Stop is still to be called.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.killed {
		return fmt.Errorf("restart %s: it was stopped before", s.Product)
	}
	s.killed = true // until it runs again, that it doesn't run is no news to Stop
	if err := s.terminate(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", s.Product, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it did not answer within %v", startTimeout))
	defer cancel()
	fresh, err := launch(ctx, s.cfg, s.program, s.id, s.home)
	if err != nil {
		return fmt.Errorf("start %s again: %w", s.Product, err)
	}
	s.PID, s.Socket, s.Port = fresh.PID, fresh.Socket, fresh.Port
	s.process, s.logFrom, s.killed = fresh.process, fresh.logFrom, false
	return nil
}
