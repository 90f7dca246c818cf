package fake_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"insertbench/drivers"
	"insertbench/drivers/drivertest"
	"insertbench/drivers/fake"
	"insertbench/ibench"
)

func TestConformance(t *testing.T) {
	db, err := fake.Open(context.Background(), fake.Config{KeepRows: true, MaxStatementBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Run(t, drivertest.Suite{
		Open:      func(testing.TB) ibench.Database { return db },
		Want:      drivers.Identity{DBMS: "fake", Engine: "fake", Transport: "embedded", Embedded: true},
		HugeBatch: 100_000,
		Settles:   true,
		ReadRows: func(_ testing.TB, _ ibench.Database, table string) []ibench.Row {
			rows := db.Rows(table)
			for i := range rows {
				rows[i].Client, rows[i].Number = 0, 0
			}
			return rows
		},
		ReadIndexes: func(_ testing.TB, _ ibench.Database, table string) []ibench.Index {
			return slices.SortedFunc(slices.Values(db.Indexes(table)), func(a, b ibench.Index) int { return strings.Compare(a.Name, b.Name) })
		},
	})
}
