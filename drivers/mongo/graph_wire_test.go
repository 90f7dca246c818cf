package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// wireGraph opens a client on a wire server, which answers LinkBench's writes
// by script only.
func wireGraph(t *testing.T, server wiretest.Config, transactions mongo.Transactions) (*wiretest.Server, *mongo.Graph, linkbench.Client) {
	t.Helper()
	s := wiretest.Start(t, server)
	db := open(t, mongo.Config{URI: s.URI(), W: "majority"})
	g, err := db.Graph(context.Background(), transactions)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.OpenClient(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Forget()
	return s, g, c
}

// shape is what tells a command's place in a transaction.
func shape(c wiretest.Command) string {
	out := []string{c.Name}
	for _, field := range []string{"txnNumber", "startTransaction", "autocommit", "upsert", "writeConcern"} {
		if v, err := c.Body.LookupErr(field); err == nil {
			out = append(out, fmt.Sprintf("%s %v", field, v))
		}
	}
	return strings.Join(out, ", ")
}

var someLink = graph.Link{ID1: 1, Type: graph.FirstLinkType, ID2: 2, Visibility: graph.Visible, TimeMS: 5, Data: []byte("x")}

func before(value any) wiretest.Step {
	return wiretest.Step{Reply: reply(bson.E{Key: "value", Value: value})}
}

func old(visibility int32, timeMS int64) bson.D {
	return bson.D{{Key: "visibility", Value: visibility}, {Key: "version", Value: int32(0)}, {Key: "time", Value: timeMS}, {Key: "data", Value: []byte("x")}}
}

const majority = `writeConcern {"w": "majority"}`

// Every command of a transaction has its number, and the write concern belongs
// to the commit alone.
func TestGraphTransactions(t *testing.T) {
	counted := wiretest.Step{Reply: reply(bson.E{Key: "n", Value: int32(1)})}
	s, g, c := wireGraph(t, wiretest.Config{ReplicaSet: "rs0", Transactions: wiretest.Kept}, mongo.TransactionsAuto)
	if !g.HasTransactions() {
		t.Fatal("the probe found no transactions")
	}
	for i, tt := range []struct {
		value any
		want  linkbench.Effect
		sends []string
	}{
		{nil, linkbench.Inserted, []string{"update", "commitTransaction"}},
		{old(graph.Hidden, 5), linkbench.Updated, []string{"update", "commitTransaction"}},
		{old(graph.Visible, 4), linkbench.Updated, []string{"commitTransaction"}},
		{old(graph.Visible, 5), linkbench.Unchanged, []string{"abortTransaction"}},
	} {
		s.Forget()
		s.Script("findAndModify", before(tt.value))
		s.Script("commitTransaction", wiretest.Step{Reply: reply()})
		s.Script("abortTransaction", wiretest.Step{Reply: reply()})
		if tt.sends[0] == "update" {
			s.Script("update", counted)
		}
		got, err := c.AddLink(context.Background(), &someLink)
		if err != nil || got != tt.want {
			t.Errorf("%d: %v, %v; want %v", i, got, err, tt.want)
		}
		number := fmt.Sprintf(`txnNumber {"$numberLong":"%d"}`, i+1)
		want := []string{"findAndModify, " + number + ", startTransaction true, autocommit false, upsert true"}
		for _, name := range tt.sends {
			line := name + ", " + number + ", autocommit false"
			if name == "commitTransaction" {
				line += ", " + majority
			}
			want = append(want, line)
		}
		var sent []string
		for _, command := range s.Commands("findAndModify", "update", "insert", "commitTransaction", "abortTransaction") {
			sent = append(sent, shape(command))
		}
		if d := cmp.Diff(want, sent); d != "" {
			t.Errorf("%d (-want +sent):\n%s", i, d)
		}
	}
}

// What is rolled back can be sent again; a commit without an answer can't.
func TestGraphTransactionOutcome(t *testing.T) {
	transient := wiretest.Step{Reply: wiretest.Failure(112, "WriteConflict", "conflict", "TransientTransactionError")}
	for _, tt := range []struct {
		name, at string
		step     wiretest.Step
		want     drivers.Class
	}{
		{"conflict of the link", "findAndModify", transient, drivers.Retryable},
		{"conflict of the count", "update", transient, drivers.Retryable},
		{"conflict of the commit", "commitTransaction", transient, drivers.Retryable},
		{"no count changed", "update", wiretest.Step{Reply: reply(bson.E{Key: "n", Value: int32(0)})}, drivers.Fatal},
		{"commit unknown", "commitTransaction", wiretest.Step{Reply: wiretest.Failure(64, "WriteConcernFailed", "late", "UnknownTransactionCommitResult")}, drivers.Unknown},
		{"commit cut off", "commitTransaction", wiretest.Step{Cut: true}, drivers.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _, c := wireGraph(t, wiretest.Config{ReplicaSet: "rs0", Transactions: wiretest.Kept}, mongo.TransactionsOn)
			for name, step := range map[string]wiretest.Step{
				"findAndModify": before(nil), "update": {Reply: reply(bson.E{Key: "n", Value: int32(1)})}, "commitTransaction": {Reply: reply()},
			} {
				if name == tt.at {
					step = tt.step
				}
				s.Script(name, step)
			}
			_, err := c.AddLink(context.Background(), &someLink)
			if err == nil || drivers.ClassOf(err) != tt.want {
				t.Errorf("class %v of %v, want %v", drivers.ClassOf(err), err, tt.want)
			}
		})
	}
}

// Without transactions the insert comes first, and what fails after it is
// unknown: the link is there, its count may not be.
func TestGraphWithoutTransactions(t *testing.T) {
	duplicate := wiretest.Step{Reply: writeErrors(0, 11000)}
	one, none := wiretest.Step{Reply: reply(bson.E{Key: "n", Value: int32(1)})}, wiretest.Step{Reply: reply(bson.E{Key: "n", Value: int32(0)})}
	conflict := wiretest.Step{Reply: wiretest.Failure(112, "WriteConflict", "conflict")}
	refused := wiretest.Step{Reply: wiretest.Failure(13, "Unauthorized", "not authorized")}
	for _, tt := range []struct {
		name                    string
		insert, modify, updates []wiretest.Step
		want                    linkbench.Effect
		class                   drivers.Class
		fails                   bool
		commands                string
	}{
		{name: "new link and count", insert: []wiretest.Step{one, one}, updates: []wiretest.Step{none}, want: linkbench.Inserted, commands: "insert update insert"},
		{name: "new link", insert: []wiretest.Step{one}, updates: []wiretest.Step{one}, want: linkbench.Inserted, commands: "insert update"},
		{name: "count comes meanwhile", insert: []wiretest.Step{one, duplicate}, updates: []wiretest.Step{none, one}, want: linkbench.Inserted, commands: "insert update insert update"},
		{name: "count in conflict", insert: []wiretest.Step{one}, updates: []wiretest.Step{conflict, one}, want: linkbench.Inserted, commands: "insert update update"},
		{name: "count refused", insert: []wiretest.Step{one}, updates: []wiretest.Step{refused}, fails: true, class: drivers.Unknown, commands: "insert update"},
		{name: "count cut off", insert: []wiretest.Step{one}, updates: []wiretest.Step{{Cut: true}}, fails: true, class: drivers.Unknown, commands: "insert update"},
		{name: "hidden link", insert: []wiretest.Step{duplicate}, modify: []wiretest.Step{before(old(graph.Hidden, 4))}, updates: []wiretest.Step{one}, want: linkbench.Updated, commands: "insert findAndModify update"},
		{name: "visible link", insert: []wiretest.Step{duplicate}, modify: []wiretest.Step{before(old(graph.Visible, 4))}, want: linkbench.Updated, commands: "insert findAndModify"},
		{name: "link in conflict", insert: []wiretest.Step{conflict}, fails: true, class: drivers.Retryable, commands: "insert"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, g, c := wireGraph(t, wiretest.Config{}, mongo.TransactionsAuto)
			if g.HasTransactions() {
				t.Fatal("the probe found transactions on a server without")
			}
			s.Script("insert", tt.insert...)
			s.Script("findAndModify", tt.modify...)
			s.Script("update", tt.updates...)
			got, err := c.AddLink(context.Background(), &someLink)
			if (err != nil) != tt.fails || err != nil && drivers.ClassOf(err) != tt.class || err == nil && got != tt.want {
				t.Errorf("%v, class %v of %v; want %v, class %v", got, drivers.ClassOf(err), err, tt.want, tt.class)
			}
			var sent []string
			for _, command := range s.Commands("insert", "findAndModify", "update") {
				sent = append(sent, command.Name)
				if line := shape(command); line != command.Name+", "+majority {
					t.Errorf("sent %s, want its write concern and no transaction", line)
				}
			}
			if got := strings.Join(sent, " "); got != tt.commands {
				t.Errorf("sent %s, want %s", got, tt.commands)
			}
		})
	}
}

// Transactions that are asked for and missing are refused, and so is a server
// that only takes their fields.
func TestGraphTransactionsRefused(t *testing.T) {
	for _, mode := range []wiretest.Config{{}, {ReplicaSet: "rs0", Transactions: wiretest.Ignored}} {
		s := wiretest.Start(t, mode)
		db := open(t, mongo.Config{URI: s.URI()})
		if _, err := db.Graph(context.Background(), mongo.TransactionsOn); !errors.Is(err, drivers.ErrConfig) {
			t.Errorf("transactions on: %v, want an error of kind ErrConfig", err)
		}
		if g, err := db.Graph(context.Background(), mongo.TransactionsAuto); err != nil || g.HasTransactions() {
			t.Errorf("transactions auto: %v, want none", err)
		}
		if _, err := db.Graph(context.Background(), "maybe"); !errors.Is(err, drivers.ErrConfig) {
			t.Errorf("transactions maybe: %v, want an error of kind ErrConfig", err)
		}
	}
}
