package mongo_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"

	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/ibench"
)

// sent is a command without its documents and what the client adds to any
// command ($db, and a session's lsid), as relaxed extended JSON.
func sent(t *testing.T, c wiretest.Command) string {
	t.Helper()
	elements, err := c.Body.Elements()
	if err != nil {
		t.Fatal(err)
	}
	out := bson.D{}
	for _, e := range elements {
		switch e.Key() {
		case "$db", "lsid":
		case "documents":
			n, err := e.Value().Array().Values()
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, bson.E{Key: "documents", Value: len(n)})
		default:
			out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	text, err := bson.MarshalExtJSON(out, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func sentAll(t *testing.T, s *wiretest.Server, names ...string) []string {
	var out []string
	for _, c := range s.Commands(names...) {
		out = append(out, sent(t, c))
	}
	return out
}

// TestInsertCommand pins what reaches the server for every option that an
// insert has.
func TestInsertCommand(t *testing.T) {
	set := wiretest.Config{ReplicaSet: "rs0", Nodes: 3}
	for _, tt := range []struct {
		name   string
		uri    string
		config mongo.Config
		want   string
	}{
		{"server's default", "", mongo.Config{},
			`{"insert":"pi1","ordered":true,"documents":2}`},
		{"w from a flag", "", mongo.Config{W: "2"},
			`{"insert":"pi1","ordered":true,"writeConcern":{"w":2},"documents":2}`},
		{"w majority", "", mongo.Config{W: "majority"},
			`{"insert":"pi1","ordered":true,"writeConcern":{"w":"majority"},"documents":2}`},
		{"a tag", "", mongo.Config{W: "east"},
			`{"insert":"pi1","ordered":true,"writeConcern":{"w":"east"},"documents":2}`},
		{"w from the URI", "&w=majority", mongo.Config{},
			`{"insert":"pi1","ordered":true,"writeConcern":{"w":"majority"},"documents":2}`},
		{"a flag over the URI", "&w=majority&journal=true", mongo.Config{W: "1"},
			`{"insert":"pi1","ordered":true,"writeConcern":{"w":1,"j":true},"documents":2}`},
		{"j alone", "", mongo.Config{Journal: pointer(true)},
			`{"insert":"pi1","ordered":true,"writeConcern":{"j":true},"documents":2}`},
		{"j off", "&journal=true", mongo.Config{Journal: pointer(false)},
			`{"insert":"pi1","ordered":true,"writeConcern":{"j":false},"documents":2}`},
		{"all of it", "", mongo.Config{W: "3", Journal: pointer(true), WTimeout: 1500 * time.Millisecond},
			`{"insert":"pi1","ordered":true,"writeConcern":{"w":3,"j":true,"wtimeout":1500},"documents":2}`},
		{"wtimeout from the URI", "&w=2&wtimeoutMS=2000", mongo.Config{},
			`{"insert":"pi1","ordered":true,"writeConcern":{"w":2,"wtimeout":2000},"documents":2}`},
		{"a wtimeout below a millisecond isn't none", "", mongo.Config{W: "1", WTimeout: time.Microsecond},
			`{"insert":"pi1","ordered":true,"writeConcern":{"w":1,"wtimeout":1},"documents":2}`},
		{"unordered", "", mongo.Config{Unordered: true},
			`{"insert":"pi1","ordered":false,"documents":2}`},
		{"neither retries nor timeouts of the URI", "&retryWrites=true&timeoutMS=9000&readConcernLevel=majority", mongo.Config{},
			`{"insert":"pi1","ordered":true,"documents":2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Start(t, set)
			tt.config.URI = s.URI() + "?replicaSet=rs0" + tt.uri
			in := openInserter(t, open(t, tt.config), "pi1")
			fill(in, 0, 2)
			if err := in.Insert(context.Background()); err != nil {
				t.Fatalf("Insert: %v", err)
			}
			if diff := cmp.Diff([]string{tt.want}, sentAll(t, s, "insert")); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			// A session without a transaction: lsid alone, never a txnNumber.
			keys := s.Commands("insert")[0].Keys()
			if diff := cmp.Diff([]string{"lsid", "$db"}, keys[len(keys)-2:]); diff != "" {
				t.Errorf("what the client adds (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoSession: where the server has no sessions nothing is added but $db.
func TestNoSession(t *testing.T) {
	s := wiretest.Start(t, wiretest.Config{})
	in := openInserter(t, open(t, mongo.Config{URI: s.URI()}), "pi1")
	fill(in, 0, 1)
	if err := in.Insert(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"insert", "ordered", "documents", "$db"}, s.Commands("insert")[0].Keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// TestReadConcern: it goes into reads, and not into inserts outside
// transactions, where servers refuse it.
func TestReadConcern(t *testing.T) {
	for _, tt := range []struct {
		name, uri string
		config    mongo.Config
		want      string
	}{
		{"none", "", mongo.Config{}, ""},
		{"flag", "", mongo.Config{ReadConcern: "majority"}, "majority"},
		{"URI", "&readConcernLevel=linearizable", mongo.Config{}, "linearizable"},
		{"flag over URI", "&readConcernLevel=linearizable", mongo.Config{ReadConcern: "local"}, "local"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Start(t, wiretest.Config{ReplicaSet: "rs0"})
			tt.config.URI = s.URI() + "?replicaSet=rs0" + tt.uri
			db := open(t, tt.config)
			if _, _, err := db.Sums(context.Background(), "pi1"); err != nil {
				t.Fatal(err)
			}
			level, _ := s.Commands("aggregate")[0].Body.Lookup("readConcern", "level").StringValueOK()
			if level != tt.want {
				t.Errorf("read concern %q, want %q", level, tt.want)
			}
		})
	}
}

// TestTransactionCommands pins the two commands of each statement, and that
// each has a number of its own in one session.
func TestTransactionCommands(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config mongo.Config
		want   []string
	}{
		{"as the original", mongo.Config{}, []string{
			`{"insert":"pi1","ordered":true,"readConcern":{"level":"snapshot"},"txnNumber":1,"startTransaction":true,"autocommit":false,"documents":2}`,
			`{"commitTransaction":1,"txnNumber":1,"autocommit":false}`,
			`{"insert":"pi1","ordered":true,"readConcern":{"level":"snapshot"},"txnNumber":2,"startTransaction":true,"autocommit":false,"documents":3}`,
			`{"commitTransaction":1,"txnNumber":2,"autocommit":false}`,
		}},
		{"write concern at commit", mongo.Config{W: "majority", Journal: pointer(true), ReadConcern: "local", Unordered: true}, []string{
			`{"insert":"pi1","ordered":false,"readConcern":{"level":"local"},"txnNumber":1,"startTransaction":true,"autocommit":false,"documents":2}`,
			`{"commitTransaction":1,"txnNumber":1,"autocommit":false,"writeConcern":{"w":"majority","j":true}}`,
			`{"insert":"pi1","ordered":false,"readConcern":{"level":"local"},"txnNumber":2,"startTransaction":true,"autocommit":false,"documents":3}`,
			`{"commitTransaction":1,"txnNumber":2,"autocommit":false,"writeConcern":{"w":"majority","j":true}}`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Start(t, wiretest.Config{ReplicaSet: "rs0", Transactions: wiretest.Kept})
			tt.config.URI, tt.config.Transactions = s.URI()+"?replicaSet=rs0", true
			db := open(t, tt.config)
			s.Forget() // the probe's own
			in := openInserter(t, db, "pi1")
			want := fill(in, 0, 2)
			if err := in.Insert(context.Background()); err != nil {
				t.Fatal(err)
			}
			in.Reset()
			want.Add(fill(in, 2, 5))
			if err := in.Insert(context.Background()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, sentAll(t, s, "insert", "commitTransaction")); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			sessions := map[string]bool{}
			for _, c := range s.Commands("insert", "commitTransaction") {
				sessions[c.Body.Lookup("lsid").String()] = true
				if c.Name == "commitTransaction" && c.DB != "admin" {
					t.Errorf("commit went to database %s, want admin", c.DB)
				}
			}
			if len(sessions) != 1 {
				t.Errorf("%d sessions, want one", len(sessions))
			}
			if got, _, err := db.Sums(context.Background(), "pi1"); err != nil || got != want {
				t.Errorf("Sums gave %+v and %v, want %+v", got, err, want)
			}
		})
	}
}

// TestTableCommands pins the commands around the tables, with the original's
// names of fields and indexes (reference: iibench.py, mdcallag/mytools).
func TestTableCommands(t *testing.T) {
	index := func(key, name string) string {
		return `{"createIndexes":"pi1","indexes":[{"key":` + key + `,"name":"` + name + `"}]}`
	}
	for _, tt := range []struct {
		name   string
		config mongo.Config
		want   []string
	}{
		{"names as in the original", mongo.Config{}, []string{
			`{"create":"pi1"}`,
			index(`{"product":1,"customerid":1,"price":1}`, "pc"),
			index(`{"cashregisterid":1,"customerid":1,"price":1}`, "cpc"),
			index(`{"price":1,"dateandtime":1,"customerid":1}`, "pdc"),
			`{"drop":"pi1"}`,
		}},
		{"short names", mongo.Config{ShortNames: true}, []string{
			`{"create":"pi1"}`,
			index(`{"prod":1,"cuid":1,"prid":1}`, "pc"),
			index(`{"caid":1,"cuid":1,"prid":1}`, "cpc"),
			index(`{"prid":1,"ts":1,"cuid":1}`, "pdc"),
			`{"drop":"pi1"}`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := context.Background()
			s := wiretest.Start(t, wiretest.Config{})
			tt.config.URI = s.URI()
			db := open(t, tt.config)
			if err := db.CreateTable(ctx, ibench.Table{Name: "pi1", Indexes: ibench.Indexes}); err != nil {
				t.Fatal(err)
			}
			if err := db.DropTable(ctx, "pi1"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, sentAll(t, s, "create", "createIndexes", "drop")); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}
