package mongo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/ibench"
)

func reply(v ...bson.E) bson.D { return append(bson.D(v), bson.E{Key: "ok", Value: 1.0}) }

func writeErrors(n int32, codes ...int32) bson.D {
	errs := bson.A{}
	for i, code := range codes {
		errs = append(errs, bson.D{{Key: "index", Value: n + int32(i)}, {Key: "code", Value: code}, {Key: "errmsg", Value: "refused"}})
	}
	return reply(bson.E{Key: "n", Value: n}, bson.E{Key: "writeErrors", Value: errs})
}

// TestOutcome scripts what the server answers to an insert of 5 rows and
// pins what the rows then are, and what the error is counted by. Codes are
// mongod's (src/mongo/base/error_codes.yml of mongodb/mongo).
func TestOutcome(t *testing.T) {
	const fatal, retryable, unknown = drivers.Fatal, drivers.Retryable, drivers.Unknown
	for _, tt := range []struct {
		name  string
		step  wiretest.Step
		class drivers.Class
		code  string
	}{
		{"duplicate key at the first row", wiretest.Step{Reply: writeErrors(0, 11000)}, fatal, "DuplicateKey"},
		{"duplicate key, rows before it kept", wiretest.Step{Reply: writeErrors(3, 11000)}, unknown, "DuplicateKey"},
		{"validation", wiretest.Step{Reply: writeErrors(0, 121)}, fatal, "DocumentValidationFailure"},
		{"a code without a name", wiretest.Step{Reply: writeErrors(0, 17280)}, fatal, "17280"},
		{"write conflict", wiretest.Step{Reply: writeErrors(0, 112)}, retryable, "WriteConflict"},
		{"write conflict of the whole command", wiretest.Step{Reply: wiretest.Failure(112, "WriteConflict", "conflict")}, retryable, "WriteConflict"},
		{"write conflict, rows kept", wiretest.Step{Reply: writeErrors(2, 112)}, unknown, "WriteConflict"},
		{"write concern timeout", wiretest.Step{Reply: wiretest.WriteConcernFailure(5, 64, "WriteConcernFailed", "waiting for replication timed out")}, unknown, "WriteConcernFailed"},
		{"write concern can't be met", wiretest.Step{Reply: wiretest.WriteConcernFailure(5, 100, "UnsatisfiableWriteConcern", "Not enough data-bearing nodes")}, unknown, "UnsatisfiableWriteConcern"},
		{"fewer acknowledged", wiretest.Step{Reply: reply(bson.E{Key: "n", Value: int32(4)})}, unknown, "fewer rows acknowledged"},
		{"no count", wiretest.Step{Reply: reply()}, unknown, "fewer rows acknowledged"},
		{"not the primary", wiretest.Step{Reply: wiretest.Failure(10107, "NotWritablePrimary", "not primary")}, fatal, "NotWritablePrimary"},
		{"not the primary, a retry offered", wiretest.Step{Reply: wiretest.Failure(10107, "NotWritablePrimary", "not primary", "RetryableWriteError")}, fatal, "NotWritablePrimary"},
		{"stepped down while it ran", wiretest.Step{Reply: wiretest.Failure(189, "PrimarySteppedDown", "stepped down")}, unknown, "PrimarySteppedDown"},
		{"interrupted by a state change", wiretest.Step{Reply: wiretest.Failure(11602, "InterruptedDueToReplStateChange", "operation was interrupted")}, unknown, "InterruptedDueToReplStateChange"},
		{"shut down", wiretest.Step{Reply: wiretest.Failure(11600, "InterruptedAtShutdown", "interrupted at shutdown")}, unknown, "InterruptedAtShutdown"},
		{"shutting down", wiretest.Step{Reply: wiretest.Failure(91, "ShutdownInProgress", "shutdown in progress", "RetryableWriteError")}, unknown, "ShutdownInProgress"},
		{"killed", wiretest.Step{Reply: wiretest.Failure(11601, "Interrupted", "operation was interrupted")}, unknown, "Interrupted"},
		{"internal", wiretest.Step{Reply: wiretest.Failure(1, "InternalError", "the connection to the store broke")}, unknown, "InternalError"},
		{"no right", wiretest.Step{Reply: wiretest.Failure(13, "Unauthorized", "not authorized")}, fatal, "Unauthorized"},
		{"transient label outside a transaction", wiretest.Step{Reply: wiretest.Failure(24, "LockTimeout", "lock", "TransientTransactionError")}, fatal, "LockTimeout"},
		{"cut before it ran", wiretest.Step{Cut: true}, unknown, "connection lost"},
		{"cut after it ran", wiretest.Step{Execute: true, Cut: true}, unknown, "connection lost"},
		{"never answered", wiretest.Step{Execute: true, Hang: true}, unknown, "timeout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := wiretest.Start(t, wiretest.Config{ReplicaSet: "rs0"})
			// The timeout only matters for the answer that never comes.
			db := open(t, mongo.Config{URI: s.URI() + "?replicaSet=rs0&retryWrites=true", StatementTimeout: 300 * time.Millisecond})
			in := openInserter(t, db, "pi1")
			s.Script("insert", tt.step)
			fill(in, 0, 5)
			err := in.Insert(context.Background())
			wantOutcome(t, err, tt.class, tt.code)
			if !strings.HasPrefix(err.Error(), "inserting ") || (tt.step.Cut || tt.step.Hang) && !strings.Contains(err.Error(), "inserting 5 documents into collection ib.pi1: "+tt.code+", whether it took effect isn't known: ") {
				t.Errorf("the error doesn't say what was being done: %v", err)
			}
			// Whatever came, the client never sends it again by itself.
			if n := s.Count("insert"); n != 1 {
				t.Errorf("the server got %d inserts, want 1", n)
			}
		})
	}
}

func wantOutcome(t *testing.T, err error, class drivers.Class, code string) {
	t.Helper()
	var e *drivers.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *drivers.Error", err)
	}
	if e.Class != class || e.Code != code {
		t.Errorf("got class %q and code %q of %q, want %q and %q", e.Class, e.Code, err, class, code)
	}
}

// TestTransactionOutcome: before the commit everything can be undone, so a
// transient error or a lost connection may be tried again; at the commit only
// what the server labels may.
func TestTransactionOutcome(t *testing.T) {
	const fatal, retryable, unknown = drivers.Fatal, drivers.Retryable, drivers.Unknown
	for _, tt := range []struct {
		name, command string
		step          wiretest.Step
		class         drivers.Class
		code          string
		aborts        int
	}{
		{"conflict", "insert", wiretest.Step{Reply: wiretest.Failure(112, "WriteConflict", "conflict", "TransientTransactionError")}, retryable, "WriteConflict", 1},
		{"duplicate key", "insert", wiretest.Step{Reply: writeErrors(0, 11000)}, fatal, "DuplicateKey", 1},
		{"duplicate key after rows that are undone", "insert", wiretest.Step{Reply: writeErrors(3, 11000)}, fatal, "DuplicateKey", 1},
		{"cut before the commit", "insert", wiretest.Step{Execute: true, Cut: true}, retryable, "connection lost", 0},
		{"fewer acknowledged", "insert", wiretest.Step{Execute: true, Reply: reply(bson.E{Key: "n", Value: int32(4)})}, unknown, "fewer rows acknowledged", 0},
		{"commit of a transaction that is gone", "commitTransaction", wiretest.Step{Reply: wiretest.Failure(251, "NoSuchTransaction", "gone", "TransientTransactionError")}, retryable, "NoSuchTransaction", 0},
		{"commit of unknown result", "commitTransaction", wiretest.Step{Reply: wiretest.Failure(50, "MaxTimeMSExpired", "late", "UnknownTransactionCommitResult")}, unknown, "MaxTimeMSExpired", 0},
		{"commit at a step-down", "commitTransaction", wiretest.Step{Reply: wiretest.Failure(10107, "NotWritablePrimary", "not primary", "RetryableWriteError")}, unknown, "NotWritablePrimary", 0},
		{"commit without its write concern", "commitTransaction", wiretest.Step{Execute: true, Reply: wiretest.WriteConcernFailure(0, 64, "WriteConcernFailed", "timed out")}, unknown, "WriteConcernFailed", 0},
		{"cut at the commit", "commitTransaction", wiretest.Step{Execute: true, Cut: true}, unknown, "connection lost", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := wiretest.Start(t, wiretest.Config{ReplicaSet: "rs0", Transactions: wiretest.Kept})
			db := open(t, mongo.Config{URI: s.URI() + "?replicaSet=rs0", Transactions: true})
			in := openInserter(t, db, "pi1")
			s.Forget()
			s.Script(tt.command, tt.step)
			want := fill(in, 0, 5)
			err := in.Insert(context.Background())
			wantOutcome(t, err, tt.class, tt.code)
			if n := len(s.Commands("abortTransaction")); n != tt.aborts {
				t.Errorf("%d aborts were sent, want %d", n, tt.aborts)
			}
			if n := len(s.Commands("commitTransaction")); n > 1 {
				t.Errorf("%d commits were sent, want at most one", n)
			}
			if tt.class != retryable {
				return
			}
			if err := in.Insert(context.Background()); err != nil {
				t.Fatalf("the same statement again: %v", err)
			}
			if got, _, err := db.Sums(context.Background(), "pi1"); err != nil || got != want {
				t.Errorf("after the retry Sums gave %+v and %v, want %+v", got, err, want)
			}
		})
	}
}

// TestAbort ends an insert that waits for its answer, at once and for good.
func TestAbort(t *testing.T) {
	s := wiretest.Start(t, wiretest.Config{})
	in := openInserter(t, open(t, mongo.Config{URI: s.URI()}), "pi1")
	s.Script("insert", wiretest.Step{Hang: true})
	fill(in, 0, 5)
	answer := make(chan error, 1)
	go func() { answer <- in.Insert(context.Background()) }()
	for s.Count("insert") == 0 {
		time.Sleep(time.Millisecond)
	}
	in.Abort()
	in.Abort()
	wantOutcome(t, <-answer, drivers.Unknown, "aborted")
	wantOutcome(t, in.Insert(context.Background()), drivers.Fatal, "aborted")
	if n := s.Count("insert"); n != 1 {
		t.Errorf("the server got %d inserts, want 1", n)
	}
	for range 2 {
		if err := in.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// TestCanceled: a context that ended before sends nothing, and one that ends
// meanwhile leaves the outcome unknown.
func TestCanceled(t *testing.T) {
	s := wiretest.Start(t, wiretest.Config{})
	in := openInserter(t, open(t, mongo.Config{URI: s.URI()}), "pi1")
	ctx, cancel := context.WithCancel(context.Background())
	s.Script("insert", wiretest.Step{Hang: true})
	fill(in, 0, 5)
	answer := make(chan error, 1)
	go func() { answer <- in.Insert(ctx) }()
	for s.Count("insert") == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	wantOutcome(t, <-answer, drivers.Unknown, "connection lost")
	wantOutcome(t, in.Insert(ctx), drivers.Fatal, "aborted")
	if n := s.Count("insert"); n != 1 {
		t.Errorf("the server got %d inserts, want 1", n)
	}
}

// TestServerGone: while nothing can be sent, nothing is unknown.
func TestServerGone(t *testing.T) {
	s := wiretest.Start(t, wiretest.Config{})
	in := openInserter(t, open(t, mongo.Config{URI: s.URI(), ConnectTimeout: 300 * time.Millisecond}), "pi1")
	s.Close()
	fill(in, 0, 5)
	err := in.Insert(context.Background())
	if drivers.ClassOf(err) != drivers.Unknown {
		t.Errorf("the insert over the connection that broke: %v, want an unknown outcome", err)
	}
	wantOutcome(t, in.Insert(context.Background()), drivers.Fatal, "can't connect")
}

// TestRestart: the statement that the server was killed in is unknown, and
// not sent again; the ones after it go over a new connection, and what is
// read back balances.
func TestRestart(t *testing.T) {
	for _, executed := range []bool{false, true} {
		s := wiretest.Start(t, wiretest.Config{ReplicaSet: "rs0"})
		db := open(t, mongo.Config{URI: s.URI() + "?replicaSet=rs0"})
		in := openInserter(t, db, "pi1")
		want := fill(in, 0, 10)
		if err := in.Insert(context.Background()); err != nil {
			t.Fatal(err)
		}
		in.Reset()
		unknown := fill(in, 10, 20)
		s.Script("insert", wiretest.Step{Execute: executed, Hang: true})
		answer := make(chan error, 1)
		go func() { answer <- in.Insert(context.Background()) }()
		for s.Count("insert") < 2 {
			time.Sleep(time.Millisecond)
		}
		s.Stop()
		wantOutcome(t, <-answer, drivers.Unknown, "connection lost")
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		in.Reset()
		want.Add(fill(in, 20, 30))
		if err := in.Insert(context.Background()); err != nil {
			t.Fatalf("after the restart: %v", err)
		}
		if executed {
			want.Add(unknown)
		}
		if got, _, err := db.Sums(context.Background(), "pi1"); err != nil || got != want {
			t.Errorf("executed %v: Sums gave %+v and %v, want %+v", executed, got, err, want)
		}
		if n := s.Count("insert"); n != 3 {
			t.Errorf("executed %v: the server got %d inserts, want 3", executed, n)
		}
	}
}

// TestStall: the client cuts no connection because a server answers nothing
// for a while; the heartbeat's own timeouts don't reach it.
func TestStall(t *testing.T) {
	s := wiretest.Start(t, wiretest.Config{ReplicaSet: "rs0"})
	db := open(t, mongo.Config{URI: s.URI() + "?replicaSet=rs0&heartbeatFrequencyMS=500", ConnectTimeout: 200 * time.Millisecond})
	in := openInserter(t, db, "pi1")
	// A heartbeat asked for while connecting may follow half a second later.
	time.Sleep(700 * time.Millisecond)
	before := s.Count("hello") + s.Count("isMaster")
	time.Sleep(800 * time.Millisecond)
	if after := s.Count("hello") + s.Count("isMaster"); after != before {
		t.Errorf("%d heartbeats while nothing failed, want none", after-before)
	}
	fill(in, 0, 5)
	if err := in.Insert(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestLiveness: an index build may take longer than a statement as long as
// the server answers pings, and is given up once it doesn't.
func TestLiveness(t *testing.T) {
	ctx := context.Background()
	s := wiretest.Start(t, wiretest.Config{})
	const timeout = 200 * time.Millisecond
	db := open(t, mongo.Config{URI: s.URI(), StatementTimeout: timeout})
	s.Script("createIndexes", wiretest.Step{Delay: 2 * timeout, Execute: true})
	if err := db.CreateIndexes(ctx, "pi1", ibench.Indexes[:1]); err != nil {
		t.Errorf("a slow build while the server answers: %v", err)
	}
	s.Script("createIndexes", wiretest.Step{Hang: true})
	hang := make([]wiretest.Step, 100)
	for i := range hang {
		hang[i] = wiretest.Step{Hang: true}
	}
	s.Script("ping", hang...)
	err := db.CreateIndexes(ctx, "pi1", ibench.Indexes[:1])
	if err == nil || !strings.Contains(err.Error(), "answered no ping for 200ms") {
		t.Errorf("a build while the server answers nothing: %v", err)
	}
	if drivers.ClassOf(err) != drivers.Unknown {
		t.Errorf("its class is %q, want unknown", drivers.ClassOf(err))
	}
}
