package mongo

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// pingsPerTimeout is how often a server is pinged within the statement
// timeout: every minute of 10.
const pingsPerTimeout = 10

// whileAlive runs a command without a deadline, such as an index build, as
// long as the server answers pings over another connection. It is given up
// once none was answered for as long as a statement may take.
func (s *Server) whileAlive(ctx context.Context, command func(context.Context) error) error {
	watched, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if s.pingUntilDead(watched) {
			giveUp(fmt.Errorf("the server answered no ping for %s, so it was given up: %w", s.cfg.StatementTimeout, context.DeadlineExceeded))
		}
	}()
	err := command(watched)
	if cause := context.Cause(watched); err != nil && cause != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	giveUp(nil)
	<-done
	return err
}

// pingUntilDead returns true once no ping was answered for the statement
// timeout, and false when ctx ends.
func (s *Server) pingUntilDead(ctx context.Context) bool {
	alive := time.Now()
	ticker := time.NewTicker(max(s.cfg.StatementTimeout/pingsPerTimeout, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
		bounded, cancel := context.WithDeadline(ctx, alive.Add(s.cfg.StatementTimeout))
		_, err := runOn(bounded, s.client.Database("admin"), bson.D{{Key: "ping", Value: 1}})
		cancel()
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil:
			alive = time.Now()
		case time.Since(alive) >= s.cfg.StatementTimeout:
			return true
		}
	}
}
