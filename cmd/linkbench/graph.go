package main

import (
	"context"

	"insertbench/drivers"
	"insertbench/drivers/fake"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mysql"
	"insertbench/drivers/sqlite"
	"insertbench/linkbench"
	"insertbench/linkbench/memory"
)

// openGraph is the database of a server as LinkBench's. It settles how
// transactions are made where that is asked for.
func openGraph(ctx context.Context, server drivers.Server, cfg *linkConfig) (linkbench.Database, error) {
	switch s := server.(type) {
	case *sqlite.Server:
		return s.Graph(), nil
	case *mysql.Server:
		return s.Graph(), nil
	case *mongo.Server:
		g, err := s.Graph(ctx, mongo.Transactions(cfg.Transactions))
		if err != nil {
			return nil, err
		}
		cfg.Transactions = string(mongo.TransactionsOff)
		if g.HasTransactions() {
			cfg.Transactions = string(mongo.TransactionsOn)
		}
		return g, nil
	case *fake.Server:
		return fakeGraph{memory.New(), s}, nil
	}
	return nil, drivers.Configf("this version doesn't run LinkBench on %s", server.Identity().Product)
}

// fakeGraph keeps its graph in this process's memory, under the fake's name.
type fakeGraph struct {
	*memory.Store
	server *fake.Server
}

// Identity is the fake's.
func (g fakeGraph) Identity() drivers.Identity { return g.server.Identity() }
