package mongo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// TestSettle scripts what the server does with fsync, and with serverStatus
// after it, and pins what is said. A server that is gone is no server without
// fsync, and not one that refuses it either.
func TestSettle(t *testing.T) {
	dirty := doc("wiredTiger", doc("cache", doc("tracked dirty bytes in the cache", int64(4096))), "ok", 1.0)
	wrote := []string{"wrote a checkpoint with fsync"}
	silent := []string{"the server doesn't say what is left in memory"}
	for _, tt := range []struct {
		name          string
		fsync, status []wiretest.Step
		want          ibench.Settled
		err           string
	}{
		{"to its end", nil, []wiretest.Step{{Reply: dirty}}, ibench.Settled{Actions: wrote, Verified: []string{"4096 dirty bytes in WiredTiger's cache after the checkpoint"}}, ""},
		{"nothing told of the cache", nil, []wiretest.Step{{Reply: doc("ok", 1.0)}}, ibench.Settled{Actions: wrote, Unverified: silent}, ""},
		{"no right to serverStatus", nil, []wiretest.Step{{Reply: wiretest.Failure(13, "Unauthorized", "not authorized")}}, ibench.Settled{Actions: wrote, Unverified: silent}, ""},
		{"one connection broke", nil, []wiretest.Step{{Cut: true}, {Reply: dirty}}, ibench.Settled{Actions: wrote, Verified: []string{"4096 dirty bytes in WiredTiger's cache after the checkpoint"}}, ""},
		{"gone after fsync", nil, []wiretest.Step{{Cut: true}, {Cut: true}}, ibench.Settled{Actions: wrote}, "reading what is left in memory after the checkpoint: "},
		{"no right to fsync", []wiretest.Step{{Reply: wiretest.Failure(13, "Unauthorized", "not authorized on admin")}}, nil,
			ibench.Settled{Unverified: []string{"the server took no fsync ((Unauthorized) not authorized on admin)"}}, ""},
		{"no fsync", []wiretest.Step{{Reply: wiretest.Failure(59, "CommandNotFound", "no such command")}}, nil,
			ibench.Settled{Unverified: []string{"the server took no fsync ((CommandNotFound) no such command)"}}, ""},
		{"connection lost", []wiretest.Step{{Cut: true}}, nil, ibench.Settled{}, "writing a checkpoint with fsync: connection lost"},
		{"shut down", []wiretest.Step{{Reply: wiretest.Failure(11600, "InterruptedAtShutdown", "interrupted at shutdown")}}, nil,
			ibench.Settled{}, "writing a checkpoint with fsync: (InterruptedAtShutdown)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Start(t, wiretest.Config{})
			db := open(t, mongo.Config{URI: s.URI()})
			s.Script("fsync", tt.fsync...)
			s.Script("serverStatus", tt.status...)
			got, err := db.Settle(t.Context(), []string{"pi1"}, time.Minute)
			if (err != nil) != (tt.err != "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("Settle gave %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Settle (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSettleWaits: while fsync runs it is what is waited for, and it is named
// when the time is up and when it is interrupted.
func TestSettleWaits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit time.Duration
		want  string
		err   error
	}{
		{"the time is up", 100 * time.Millisecond, "a checkpoint with fsync had not ended when the time was up", nil},
		{"interrupted", time.Minute, "a checkpoint with fsync had not ended when it was interrupted", context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Start(t, wiretest.Config{})
			db := open(t, mongo.Config{URI: s.URI()})
			s.Script("fsync", wiretest.Step{Hang: true})
			watched, waiting := drivers.WithWaiting(t.Context())
			ctx, cancel := context.WithCancel(watched)
			defer cancel()
			seen := make(chan string)
			go func() {
				for s.Count("fsync") == 0 {
					time.Sleep(time.Millisecond)
				}
				text := waiting.Text()
				if tt.err != nil {
					cancel()
				}
				seen <- text
			}()
			got, err := db.Settle(ctx, nil, tt.limit)
			if !errors.Is(err, tt.err) {
				t.Errorf("Settle gave %v, want %v", err, tt.err)
			}
			if text := <-seen; text != "a checkpoint with fsync" {
				t.Errorf("it waited for %q", text)
			}
			if diff := cmp.Diff(ibench.Settled{Unverified: []string{tt.want}}, got); diff != "" {
				t.Errorf("Settle (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSettleDocumentDB: this server has no fsync, and that is what is said.
func TestSettleDocumentDB(t *testing.T) {
	db := open(t, mongo.Config{URI: servertest.DocumentDB(t), Database: "settle_mongo"})
	watched, waiting := drivers.WithWaiting(t.Context())
	got, err := db.Settle(watched, nil, time.Minute)
	if err != nil || len(got.Unverified) != 1 || !strings.HasPrefix(got.Unverified[0], "the server took no fsync (") {
		t.Errorf("Settle gave %+v, %v", got, err)
	}
	if text := waiting.Text(); text != "a checkpoint with fsync" {
		t.Errorf("it waited for %q", text)
	}
}
