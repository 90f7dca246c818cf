package mongo_test

import (
	"context"
	"testing"

	"insertbench/drivers/mongo"
	"insertbench/internal/server/servertest"
	"insertbench/linkbench"
	"insertbench/linkbench/linktest"
)

func TestGraphDocumentDB(t *testing.T) {
	graphConformance(t, mongo.Config{URI: servertest.DocumentDB(t), Database: "graph_mongo"}, mongo.TransactionsAuto)
}

func TestGraphMongod(t *testing.T) {
	for _, transactions := range []mongo.Transactions{mongo.TransactionsAuto, mongo.TransactionsOff} {
		t.Run(string(transactions), func(t *testing.T) {
			graphConformance(t, mongo.Config{URI: servertest.Mongod(t), Database: "graph_mongo"}, transactions)
		})
	}
}

func graphConformance(t *testing.T, c mongo.Config, transactions mongo.Transactions) {
	linktest.Run(t, linktest.Suite{
		Open: func(t testing.TB) linkbench.Database {
			db, err := mongo.Open(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			g, err := db.Graph(context.Background(), transactions)
			if err != nil {
				t.Fatal(err)
			}
			return g
		},
		Layouts: []linkbench.Layout{{Index: linkbench.IndexCovering}},
		IDs:     60,
	})
}
