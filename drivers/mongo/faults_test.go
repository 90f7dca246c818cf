package mongo_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"insertbench/drivers/drivertest"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

func TestFaultsWire(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		s := wiretest.Start(t, wiretest.Config{})
		drivertest.RunFaults(t, drivertest.Faults{Upstream: s.Address(), Atomic: true, Open: opener(mongo.Config{})})
	})
	t.Run("transactions", func(t *testing.T) {
		t.Parallel()
		s := wiretest.Start(t, wiretest.Config{Mongos: true, Transactions: wiretest.Kept})
		drivertest.RunFaults(t, drivertest.Faults{Upstream: s.Address(), Atomic: true, CommitsApart: true,
			Open: opener(mongo.Config{Transactions: true, W: "majority"})})
	})
}

func TestFaultsDocumentDB(t *testing.T) {
	u, err := url.Parse(servertest.DocumentDB(t))
	if err != nil {
		t.Fatal(err)
	}
	drivertest.RunFaults(t, drivertest.Faults{Upstream: u.Host, Atomic: true, Open: opener(mongo.Config{Database: "faults_mongo"})})
}

func opener(c mongo.Config) func(string, time.Duration, time.Duration) (ibench.Database, error) {
	return func(address string, connect, statement time.Duration) (ibench.Database, error) {
		c := c
		c.URI, c.ConnectTimeout, c.StatementTimeout = "mongodb://"+address+"/", connect, statement
		return mongo.Open(context.Background(), c)
	}
}
