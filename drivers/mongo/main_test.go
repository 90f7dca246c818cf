package mongo_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// envServe makes this test binary a wire server instead, for benchmarks that
// want it in another process: it prints its URI and ends with its stdin.
const envServe = "MONGO_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(envServe) != "" {
		s, err := wiretest.New(wiretest.Config{Discard: true})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(s.URI())
		_, _ = os.Stdin.Read(make([]byte, 1))
		s.Close()
		return
	}
	servertest.Main(m)
}

// open connects and closes with the test.
func open(tb testing.TB, c mongo.Config) *mongo.Server {
	tb.Helper()
	db, err := mongo.Open(context.Background(), c)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return db
}

func openInserter(tb testing.TB, db *mongo.Server, table string) ibench.Inserter {
	tb.Helper()
	in, err := db.OpenInserter(context.Background(), table)
	if err != nil {
		tb.Fatalf("OpenInserter: %v", err)
	}
	tb.Cleanup(func() { in.Close() })
	return in
}

// fill appends rows from to to-1 of client 0.
func fill(in ibench.Inserter, from, to int64) ibench.Sums {
	rows := ibench.NewRows(42, 0, ibench.DefaultRowSpec())
	var row ibench.Row
	var sums ibench.Sums
	for i := from; i < to; i++ {
		rows.At(i, &row)
		in.Append(&row)
		sums.AddRow(&row)
	}
	return sums
}

func pointer[T any](v T) *T { return &v }
