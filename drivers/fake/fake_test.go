package fake_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

func open(t *testing.T, c fake.Config) (*fake.Server, ibench.Inserter) {
	t.Helper()
	db, err := fake.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(context.Background(), "pi1")
	if err != nil {
		t.Fatal(err)
	}
	in.Append(&ibench.Row{Price: 3, Data: []byte("ab")})
	return db, in
}

func wantRows(t *testing.T, db *fake.Server, want int64) {
	t.Helper()
	if sums, _, err := db.Sums(context.Background(), "pi1"); err != nil || sums.Rows != want || sums.Price != 3*want || sums.DataBytes != 2*want {
		t.Errorf("sums are %+v (error %v), want those of %d rows", sums, err, want)
	}
}

func TestFaults(t *testing.T) {
	db, in := open(t, fake.Config{Faults: []fake.Fault{
		{Statement: 2, Class: drivers.Retryable, Code: "1213"},
		{Statement: 3, Class: drivers.Unknown, Code: "connection lost", Kept: true},
		{Statement: 4, Class: drivers.Fatal, Code: "1114"},
	}})
	for n, want := range []struct {
		class drivers.Class
		code  string
		rows  int64
	}{{0, "", 1}, {drivers.Retryable, "1213", 1}, {drivers.Unknown, "connection lost", 2}, {drivers.Fatal, "1114", 2}, {0, "", 3}} {
		err := in.Insert(context.Background())
		if want.code == "" && err != nil || want.code != "" && (drivers.CodeOf(err) != want.code || drivers.ClassOf(err) != want.class) {
			t.Errorf("statement %d: got %v, want %v with code %q", n+1, err, want.class, want.code)
		}
		wantRows(t, db, want.rows)
	}
	if db.Statements() != 5 {
		t.Errorf("%d statements were counted, want 5", db.Statements())
	}
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, in := open(t, fake.Config{Latency: time.Hour, LatencyOf: func(n int64) time.Duration { return time.Duration(n) * time.Minute }})
		begin := time.Now()
		for range 3 {
			if err := in.Insert(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		// 1 + 2 + 3 minutes.
		if got := time.Since(begin); got != 6*time.Minute {
			t.Errorf("three statements took %s, want 6m", got)
		}
	})
}

func TestHangUntilAbort(t *testing.T) {
	for _, kept := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			db, in := open(t, fake.Config{Faults: []fake.Fault{{Statement: 1, Hang: true, Kept: kept}}})
			go func() {
				time.Sleep(time.Hour)
				in.Abort()
			}()
			begin := time.Now()
			err := in.Insert(context.Background())
			if drivers.ClassOf(err) != drivers.Unknown || drivers.CodeOf(err) != "aborted" || time.Since(begin) != time.Hour {
				t.Errorf("got %v after %s, want an unknown outcome after 1h", err, time.Since(begin))
			}
			want := int64(0)
			if kept {
				want = 1
			}
			wantRows(t, db, want)
		})
	}
}

func TestKeepsNothing(t *testing.T) {
	db, in := open(t, fake.Config{KeepsNothing: true})
	if err := in.Insert(context.Background()); err != nil {
		t.Fatal(err)
	}
	wantRows(t, db, 0)
}

func TestScriptIsChecked(t *testing.T) {
	bad := fake.Config{Latency: -1, Faults: []fake.Fault{{Statement: 0}, {Statement: 1}, {Statement: 1}}}
	if err := bad.Validate(); !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("got error %v, want one of kind ErrConfig", err)
	}
	refused := errors.New("refused")
	if _, err := fake.Open(context.Background(), fake.Config{OpenErr: refused}); !errors.Is(err, refused) {
		t.Errorf("Open gave %v, want the script's error", err)
	}
}
