package mongo

import (
	"context"
	"fmt"
	"time"

	"insertbench/drivers"
	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/bson"
)

var _ ibench.Settler = (*Server)(nil)

// settling is what Settle waits for most of its time.
const settling = "a checkpoint with fsync"

// Settle has the server write a checkpoint and asks what is dirty after it. A
// server that refuses fsync or doesn't know it is said to; one that is gone,
// or that is being shut down, is an error.
func (s *Server) Settle(ctx context.Context, _ []string, limit time.Duration) (ibench.Settled, error) {
	var out ibench.Settled
	deadline := time.Now().Add(limit)
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	drivers.WaitingFor(ctx, "%s", settling)
	_, err := runOn(bounded, s.client.Database("admin"), bson.D{{Key: "fsync", Value: int32(1)}})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		out.Unverified = append(out.Unverified, settling+" had not ended when it was interrupted")
		return out, ctx.Err()
	case !time.Now().Before(deadline): // the client may give up before bounded is said to have ended
		out.Unverified = append(out.Unverified, settling+" had not ended when the time was up")
		return out, nil
	case !refused(err):
		return out, classify("writing a checkpoint with fsync", err, plain)
	default:
		out.Unverified = append(out.Unverified, fmt.Sprintf("the server took no fsync (%s)", s.cfg.redact(err)))
		return out, nil
	}
	out.Actions = append(out.Actions, "wrote "+settling)
	drivers.WaitingFor(ctx, "what is left in memory")
	status, err := s.readAdmin(ctx, bson.D{{Key: "serverStatus", Value: int32(1)}})
	if err != nil && ctx.Err() != nil {
		out.Unverified = append(out.Unverified, "it was interrupted before the server said what is left in memory")
		return out, ctx.Err()
	}
	if err != nil && !refused(err) {
		return out, fmt.Errorf("reading what is left in memory after the checkpoint: %w", err)
	}
	dirty, ok := status.Lookup("wiredTiger", "cache", "tracked dirty bytes in the cache").AsInt64OK()
	if !ok {
		out.Unverified = append(out.Unverified, "the server doesn't say what is left in memory")
		return out, nil
	}
	out.Verified = append(out.Verified, fmt.Sprintf("%d dirty bytes in WiredTiger's cache after the checkpoint", dirty))
	return out, nil
}

// refused says whether a server that stays where it is answered with an error.
func refused(err error) bool {
	code := commandCode(err)
	return code != 0 && code != codeShutdownInProgress && code != codeInterruptedAtShutdown
}
