package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	client "go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"insertbench/drivers"
	"insertbench/drivers/drivertest"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// TestConformanceWire runs the suite against the wire server, which can make
// an insert wait, cut it off and make it conflict.
func TestConformanceWire(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server wiretest.Config
		config mongo.Config
	}{
		{"standalone", wiretest.Config{}, mongo.Config{}},
		{"short names and int64", wiretest.Config{ReplicaSet: "rs0"}, mongo.Config{ShortNames: true, IDKind: mongo.Int64, W: "majority"}},
		{"transactions", wiretest.Config{ReplicaSet: "rs0", Transactions: wiretest.Kept}, mongo.Config{Transactions: true}},
		{"mongos", wiretest.Config{Mongos: true}, mongo.Config{Unordered: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Start(t, tt.server)
			tt.config.URI = s.URI()
			suite := conformance(t, tt.config)
			suite.Want = drivers.Identity{DBMS: "mongo", Product: "MongoDB", Version: "7.0.5", Engine: "wiredTiger", Transport: "tcp " + s.Address()}
			answered := 0
			suite.Block = func(testing.TB, string) func() {
				answered = s.Count("insert")
				s.Script("insert", wiretest.Step{Hang: true})
				return func() {}
			}
			suite.Waiting = func(testing.TB, string) {
				for s.Count("insert") == answered {
					time.Sleep(time.Millisecond)
				}
			}
			suite.Conflict = func(testing.TB, string) func() {
				s.Script("insert", wiretest.Step{Reply: wiretest.Failure(112, "WriteConflict", "conflict", "TransientTransactionError")})
				return func() {}
			}
			if !tt.config.Transactions { // there a cut before the commit undoes it all
				suite.Kill = func(testing.TB, string) { s.Cut("insert") }
			}
			drivertest.Run(t, suite)
		})
	}
}

// TestConformanceDocumentDB runs the suite against a real server that speaks
// the protocol and isn't mongod.
func TestConformanceDocumentDB(t *testing.T) {
	uri := servertest.DocumentDB(t)
	for _, tt := range []struct {
		name   string
		config mongo.Config
	}{
		{"as in the original", mongo.Config{}},
		{"short names and int64", mongo.Config{ShortNames: true, IDKind: mongo.Int64, W: "majority", Journal: pointer(true), Unordered: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.URI, tt.config.Database = uri, "conformance_mongo"
			suite := conformance(t, tt.config)
			suite.Want = drivers.Identity{DBMS: "mongo", Product: "FerretDB", Engine: "unknown"}
			drivertest.Run(t, suite)
		})
	}
}

// TestConformanceMongod runs the suite against a real mongod or mongos.
func TestConformanceMongod(t *testing.T) {
	uri := servertest.Mongod(t)
	for _, transactions := range []bool{false, true} {
		t.Run(fmt.Sprintf("transactions %v", transactions), func(t *testing.T) {
			config := mongo.Config{URI: uri, Database: "conformance_mongo", Transactions: transactions}
			db, err := mongo.Open(context.Background(), config)
			if transactions && errors.Is(err, drivers.ErrConfig) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			db.Close()
			suite := conformance(t, config)
			suite.Want = drivers.Identity{DBMS: "mongo"}
			drivertest.Run(t, suite)
		})
	}
}

// conformance reaches the server by the stock client, beside the code under test.
func conformance(t *testing.T, c mongo.Config) drivertest.Suite {
	names := map[string]string{"product": "productid"}
	if c.ShortNames {
		names = map[string]string{"ts": "dateandtime", "caid": "cashregisterid", "cuid": "customerid", "prod": "productid", "prid": "price"}
	}
	database := c.Database
	if database == "" {
		database = "ib"
	}
	return drivertest.Suite{
		Open: func(t testing.TB) ibench.Database {
			db, err := mongo.Open(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			return db
		},
		KeysFromStream: true, InsertMakesTable: true, HugeBatch: 5_000,
		ReadRows: func(t testing.TB, _ ibench.Database, table string) []ibench.Row {
			return readRows(t, c, database, table, names)
		},
		MakeOther: func(t testing.TB, name string) {
			beside(t, c, func(cl *client.Client) {
				other := cl.Database(database).Collection(name)
				if err := other.Drop(context.Background()); err != nil {
					t.Fatal(err)
				}
				if _, err := other.InsertOne(context.Background(), bson.D{{Key: "_id", Value: name}}); err != nil {
					t.Fatal(err)
				}
			})
		},
		CountOther: func(t testing.TB, name string) (n int) {
			beside(t, c, func(cl *client.Client) {
				other := cl.Database(database).Collection(name)
				n = len(documents(t, other))
				if err := other.Drop(context.Background()); err != nil {
					t.Fatal(err)
				}
			})
			return n
		},
	}
}

// beside runs f with a client of its own and ends it.
func beside(t testing.TB, c mongo.Config, f func(*client.Client)) {
	t.Helper()
	ctx := context.Background()
	cl, err := client.Connect(ctx, options.Client().ApplyURI(c.URI))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cl.Disconnect(ctx); err != nil {
			t.Error(err)
		}
	}()
	f(cl)
}

func documents(t testing.TB, c *client.Collection) []bson.M {
	t.Helper()
	cursor, err := c.Find(context.Background(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetBatchSize(10_000))
	if err != nil {
		t.Fatal(err)
	}
	var all []bson.M
	if err := cursor.All(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// readRows reads documents back as rows, whatever their fields are called.
func readRows(t testing.TB, c mongo.Config, database, table string, names map[string]string) []ibench.Row {
	t.Helper()
	var rows []ibench.Row
	beside(t, c, func(cl *client.Client) {
		for _, d := range documents(t, cl.Database(database).Collection(table)) {
			row := ibench.Row{}
			var fields []string
			for field, v := range d {
				if column, found := names[field]; found {
					field = column
				}
				fields = append(fields, field)
				switch field {
				case "dateandtime":
					row.Seconds = v.(interface{ Time() time.Time }).Time().Unix()
				case "cashregisterid":
					row.CashRegisterID = v.(int32)
				case "customerid":
					row.CustomerID = v.(int32)
				case "productid":
					row.ProductID = v.(int32)
				case "price":
					row.Price = v.(int32)
				case "data":
					row.Data = []byte(v.(string))
				}
			}
			slices.Sort(fields)
			if got, want := strings.Join(fields, " "), "_id cashregisterid customerid data dateandtime price productid"; got != want {
				t.Fatalf("a document has %q, want %q", got, want)
			}
			rows = append(rows, row)
		}
	})
	return rows
}
