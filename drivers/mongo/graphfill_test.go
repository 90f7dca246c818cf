package mongo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// filler opens a connection of a resumed load on a wire server, with two
// counts in its batch.
func filler(t *testing.T) (*wiretest.Server, *mongo.Graph, linkbench.Batch[graph.Count]) {
	t.Helper()
	s, g, _ := wireGraph(t, wiretest.Config{ReplicaSet: "rs0", Transactions: wiretest.Kept}, mongo.TransactionsOn)
	l, err := g.OpenFiller(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	counts := l.Counts()
	counts.Append(&graph.Count{ID: 1, Type: 2, Count: 3, TimeMS: 4, Version: 5})
	counts.Append(&graph.Count{ID: 256, Type: 2})
	s.Forget()
	return s, g, counts
}

// A resumed load inserts as any load without transactions does: what is there
// stays, byte by byte, and the write concern is the insert's own.
func TestGraphFillCommand(t *testing.T) {
	s, _, counts := filler(t)
	if err := counts.Insert(t.Context()); err != nil {
		t.Fatal(err)
	}
	sent := s.Commands("insert")
	if len(sent) != 1 {
		t.Fatalf("%d inserts", len(sent))
	}
	var body bson.D
	if err := bson.Unmarshal(sent[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	var own bson.D
	for _, e := range body {
		if e.Key != "lsid" && e.Key != "$clusterTime" && e.Key != "$db" && e.Key != "txnNumber" {
			own = append(own, e)
		}
	}
	got, err := bson.MarshalExtJSON(own, false, false)
	if err != nil {
		t.Fatal(err)
	}
	// _id is 16 bytes, id and type with their high bytes first: 14 × 0, and so on in base64.
	const want = `{"insert":"counttable","ordered":false,"writeConcern":{"w":"majority"},"documents":[` +
		`{"_id":{"$binary":{"base64":"AAAAAAAAAAEAAAAAAAAAAg==","subType":"00"}},"id":1,"link_type":2,"count":3,"time":4,"version":5},` +
		`{"_id":{"$binary":{"base64":"AAAAAAAAAQAAAAAAAAAAAg==","subType":"00"}},"id":256,"link_type":2,"count":0,"time":0,"version":0}]}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("-want +sent:\n%s", d)
	}
	if n := len(s.Commands("commitTransaction")); n > 0 {
		t.Errorf("%d commits", n)
	}
	// Both are there now.
	if err := counts.Insert(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
}

// Of two documents, what the answers to them come to.
func TestGraphFillOutcome(t *testing.T) {
	late := wiretest.WriteConcernFailure(1, 64, "WriteConcernFailed", "late")
	late = append(late, bson.E{Key: "writeErrors", Value: bson.A{bson.D{{Key: "index", Value: int32(1)}, {Key: "code", Value: int32(11000)}, {Key: "errmsg", Value: "there"}}}})
	for _, tt := range []struct {
		name string
		step wiretest.Step
		ok   bool
		want drivers.Class
		code string
	}{
		{"both inserted", wiretest.Step{Reply: reply(bson.E{Key: "n", Value: int32(2)})}, true, 0, ""},
		{"one was there", wiretest.Step{Reply: writeErrors(1, 11000)}, true, 0, ""},
		{"both were there", wiretest.Step{Reply: writeErrors(0, 11000, 11000)}, true, 0, ""},
		{"one was there, the other isn't valid", wiretest.Step{Reply: writeErrors(0, 11000, 121)}, false, drivers.Fatal, "DuplicateKey"},
		{"one inserted, the other isn't valid", wiretest.Step{Reply: writeErrors(1, 121)}, false, drivers.Unknown, "DocumentValidationFailure"},
		{"one was there, nothing of the other", wiretest.Step{Reply: writeErrors(0, 11000)}, false, drivers.Unknown, "fewer rows acknowledged"},
		{"one was there, the other not acknowledged as asked", wiretest.Step{Reply: late}, false, drivers.Unknown, "DuplicateKey"},
		{"refused as a whole", wiretest.Step{Reply: wiretest.Failure(13, "Unauthorized", "no")}, false, drivers.Fatal, "Unauthorized"},
		{"cut off", wiretest.Step{Cut: true}, false, drivers.Unknown, "connection lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _, counts := filler(t)
			s.Script("insert", tt.step)
			err := counts.Insert(context.Background())
			if tt.ok {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || drivers.ClassOf(err) != tt.want || drivers.CodeOf(err) != tt.code {
				t.Errorf("%v, class %v, code %s; want %v, %s", err, drivers.ClassOf(err), drivers.CodeOf(err), tt.want, tt.code)
			}
		})
	}
}

func TestGraphHasIndex(t *testing.T) {
	_, g, _ := filler(t)
	covering, short := linkbench.Layout{Index: linkbench.IndexCovering}, linkbench.Layout{Index: linkbench.IndexShort}
	if err := g.CreateTables(t.Context(), covering); err != nil {
		t.Fatal(err)
	}
	if has, err := g.HasIndex(t.Context(), short); has || err != nil {
		t.Errorf("before: %v, %v", has, err)
	}
	if err := g.CreateIndex(t.Context(), short); err != nil {
		t.Fatal(err)
	}
	if has, err := g.HasIndex(t.Context(), short); !has || err != nil {
		t.Errorf("after: %v, %v", has, err)
	}
	if _, err := g.HasIndex(t.Context(), covering); !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("of other fields: %v", err)
	}
}
