package ibench_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/drivers/fake"
	"insertbench/ibench"
	"insertbench/internal/step"
	"insertbench/iostat"
	"insertbench/results"
)

// smallLoad is 1,003 rows by 4 clients into 2 tables, 10 rows a statement.
func smallLoad() ibench.Config {
	c := ibench.DefaultConfig()
	c.Rows, c.Clients, c.Tables, c.RowsPerCommit = 1003, 4, 2, 10
	return c
}

// oneClient is 100 rows by one client, 10 rows a statement.
func oneClient() ibench.Config {
	c := ibench.DefaultConfig()
	c.Rows, c.RowsPerCommit = 100, 10
	return c
}

func openFake(t *testing.T, c fake.Config) *fake.Server {
	t.Helper()
	db, err := fake.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func runLoad(t *testing.T, ctx context.Context, c ibench.Config, db ibench.Database) (ibench.Loaded, error) {
	t.Helper()
	m, err := step.NewMeter(iostat.Root{}, step.Target{Server: db})
	if err != nil {
		t.Fatal(err)
	}
	w, err := results.Create(t.TempDir(), results.Run{Workload: "ibench", Plan: "load", StartedUTC: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return ibench.Load(ctx, c, ibench.Session{DB: db, Meter: m, Writer: w})
}

// TestLoadSplit: every client's rows are there, once, in its own table, and
// are those of its stream.
func TestLoadSplit(t *testing.T) {
	c := smallLoad()
	db := openFake(t, fake.Config{KeepRows: true})
	got, err := runLoad(t, t.Context(), c, db)
	if err != nil {
		t.Fatal(err)
	}
	// 1,003 = 3 × 251 + 250; client i has table i mod 2.
	clientRows := []int64{251, 251, 251, 250}
	next := make([]int64, c.Clients)
	for table := range c.Tables {
		for _, row := range db.Rows(ibench.TableName(table)) {
			if row.Client%2 != table {
				t.Fatalf("table %d has a row of client %d", table, row.Client)
			}
			if row.Number != next[row.Client] {
				t.Fatalf("client %d: row %d comes after %d rows", row.Client, row.Number, next[row.Client])
			}
			next[row.Client]++
			rows := ibench.NewRows(c.Seed, row.Client, c.RowSpec)
			var want ibench.Row
			rows.At(row.Number, &want)
			if diff := cmp.Diff(want, row); diff != "" {
				t.Fatalf("client %d row %d (-want +got):\n%s", row.Client, row.Number, diff)
			}
		}
	}
	for i, want := range clientRows {
		acknowledged := got.Steps[0].Clients[i].RowsAcknowledged
		if next[i] != want || acknowledged != want || c.ClientRows(i) != want {
			t.Errorf("client %d: %d rows kept, %d acknowledged, %d planned, want %d", i, next[i], acknowledged, c.ClientRows(i), want)
		}
	}
	// 251 rows are 25 statements of 10 and one of 1; 250 are 25.
	if n := db.Statements(); n != 3*26+25 {
		t.Errorf("%d statements, want 103", n)
	}
	if v := got.Verify; v.Passed == nil || !*v.Passed || v.Expected["rows"] != 1003 || v.Found["rows"] != 1003 || v.Note != "" || len(v.Expected) != 6 {
		t.Errorf("verified: %+v", v)
	}
	if x := db.Indexes("pi1"); len(x) != 3 || len(got.Steps) != 1 || got.Steps[0].Name != "load" || got.Steps[0].Kind != results.KindLoad {
		t.Errorf("indexes %v, steps %d", x, len(got.Steps))
	}
}

func TestLoadIndexesAtEnd(t *testing.T) {
	c := smallLoad()
	c.IndexesAt, c.SecondaryIndexes = ibench.IndexesAtEnd, 2
	db := openFake(t, fake.Config{})
	got, err := runLoad(t, t.Context(), c, db)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Steps) != 2 || got.Steps[1].Name != "index" || got.Steps[1].Kind != results.KindIndex || !got.Steps[1].Complete {
		t.Fatalf("steps: %+v", got.Steps)
	}
	// A worker a table: pi1 has the clients 0 and 2, pi2 1 and 3.
	for i, want := range []int64{502, 501} {
		if n := got.Steps[1].Clients[i].RowsAcknowledged; n != want {
			t.Errorf("index build of table %d: %d rows, want %d", i, n, want)
		}
		if diff := cmp.Diff(ibench.Indexes[:2], db.Indexes(ibench.TableName(i))); diff != "" {
			t.Errorf("indexes of table %d (-want +got):\n%s", i, diff)
		}
	}
	c.SecondaryIndexes, c.Drop = 0, true
	if got, err = runLoad(t, t.Context(), c, db); err != nil || len(got.Steps) != 1 {
		t.Errorf("no indexes: %d steps, %v", len(got.Steps), err)
	}
}

// TestLoadFaults runs one client of ten statements of ten rows into every kind
// of fault. Time is moved by synctest: retries wait.
func TestLoadFaults(t *testing.T) {
	retryable := func(from, to int64) (all []fake.Fault) {
		for n := from; n <= to; n++ {
			all = append(all, fake.Fault{Statement: n, Class: drivers.Retryable, Code: "1213"})
		}
		return all
	}
	for _, tc := range []struct {
		name   string
		faults []fake.Fault

		sent                   int64 // statements
		acked, unknown, refuse int64 // rows
		kept                   int64
		errors                 []results.ErrorCount
		err                    string
		note                   string
	}{
		{
			name: "rolled back once, then taken", faults: retryable(3, 3),
			sent: 11, acked: 100, kept: 100, errors: []results.ErrorCount{{Code: "1213", Class: "retryable", Count: 1}},
		},
		{
			name: "rolled back nine times, then taken", faults: retryable(3, 11),
			sent: 19, acked: 100, kept: 100, errors: []results.ErrorCount{{Code: "1213", Class: "retryable", Count: 9}},
		},
		{
			name: "rolled back every time", faults: retryable(3, 100),
			sent: 12, acked: 20, refuse: 10, kept: 20, errors: []results.ErrorCount{{Code: "1213", Class: "retryable", Count: 10}},
			err: "client 0 inserting its rows 21 to 30 of 100 into pi1, 10 attempts: inserting 10 rows into table pi1: 1213 (retryable)",
		},
		{
			name: "refused", faults: []fake.Fault{{Statement: 3, Class: drivers.Fatal, Code: "1062"}},
			sent: 3, acked: 20, refuse: 10, kept: 20, errors: []results.ErrorCount{{Code: "1062", Class: "fatal", Count: 1}},
			err: "client 0 inserting its rows 21 to 30 of 100 into pi1: inserting 10 rows into table pi1: 1062 (fatal)",
		},
		{
			name: "no answer, not kept", faults: []fake.Fault{{Statement: 3, Class: drivers.Unknown, Code: "connection lost"}},
			sent: 3, acked: 20, unknown: 10, kept: 20, errors: []results.ErrorCount{{Code: "connection lost", Class: "unknown outcome", Count: 1}},
			err:  "client 0 inserting its rows 21 to 30 of 100 into pi1: inserting 10 rows into table pi1: connection lost (unknown outcome); they are not sent again",
			note: "20 rows were acknowledged, 10 more are of unknown outcome, 20 are there",
		},
		{
			name: "no answer, kept", faults: []fake.Fault{{Statement: 3, Class: drivers.Unknown, Code: "connection lost", Kept: true}},
			sent: 3, acked: 20, unknown: 10, kept: 30, errors: []results.ErrorCount{{Code: "connection lost", Class: "unknown outcome", Count: 1}},
			err:  "client 0 inserting its rows 21 to 30 of 100 into pi1: inserting 10 rows into table pi1: connection lost (unknown outcome); they are not sent again",
			note: "20 rows were acknowledged, 10 more are of unknown outcome, 30 are there",
		},
		{
			name: "rolled back, then no answer", faults: append(retryable(3, 3), fake.Fault{Statement: 4, Class: drivers.Unknown, Code: "timeout"}),
			sent: 4, acked: 20, unknown: 10, kept: 20,
			errors: []results.ErrorCount{{Code: "1213", Class: "retryable", Count: 1}, {Code: "timeout", Class: "unknown outcome", Count: 1}},
			err:    "timeout (unknown outcome); they are not sent again",
			note:   "20 rows were acknowledged, 10 more are of unknown outcome, 20 are there",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := openFake(t, fake.Config{Faults: tc.faults})
				got, err := runLoad(t, t.Context(), oneClient(), db)
				if (err != nil) != (tc.err != "") || err != nil && !strings.HasSuffix(err.Error(), tc.err) {
					t.Errorf("error %v, want %q", err, tc.err)
				}
				first := got.Steps[0]
				client := first.Clients[0]
				if db.Statements() != tc.sent || client.RowsAcknowledged != tc.acked || client.RowsUnknown != tc.unknown || client.RowsRefused != tc.refuse {
					t.Errorf("%d statements sent, want %d; rows acknowledged %d, unknown %d, refused %d, want %d, %d, %d", db.Statements(), tc.sent,
						client.RowsAcknowledged, client.RowsUnknown, client.RowsRefused, tc.acked, tc.unknown, tc.refuse)
				}
				// What was sent again was kept by nobody: first sendings are what came to an end.
				var again int64
				for _, e := range tc.errors {
					if e.Class == "retryable" {
						again += e.Count
					}
				}
				if tc.refuse > 0 && again > 0 {
					again--
				}
				if sum := client.RowsAcknowledged + client.RowsUnknown + client.RowsRefused; sum != 10*(tc.sent-again) {
					t.Errorf("acknowledged + unknown + refused = %d, sent were %d", sum, 10*(tc.sent-again))
				}
				if diff := cmp.Diff(tc.errors, first.Errors); diff != "" {
					t.Errorf("errors (-want +got):\n%s", diff)
				}
				if first.Complete != (tc.err == "") || first.Complete != (client.Error == "") {
					t.Errorf("complete %v, client's error %q", first.Complete, client.Error)
				}
				v := got.Verify
				if v.Passed == nil || !*v.Passed || v.Expected["rows"] != tc.acked || v.Found["rows"] != tc.kept || v.Note != tc.note {
					t.Errorf("verified: %+v", v)
				}
			})
		})
	}
}

// TestAbortedRetry: a run that ends doesn't wait for retries.
func TestAbortedRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var faults []fake.Fault
		for n := int64(1); n <= 100; n++ {
			faults = append(faults, fake.Fault{Statement: n, Class: drivers.Retryable, Code: "1213"})
		}
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancelled := time.AfterFunc(5*time.Millisecond, func() { cancel(stopped) })
		defer cancelled.Stop()
		got, err := runLoad(t, ctx, oneClient(), openFake(t, fake.Config{Faults: faults}))
		client := got.Steps[0].Clients[0]
		if !errors.Is(err, stopped) || client.RowsAcknowledged+client.RowsUnknown != 0 || client.RowsRefused != 10 {
			t.Errorf("%v, acknowledged %d, unknown %d, refused %d", err, client.RowsAcknowledged, client.RowsUnknown, client.RowsRefused)
		}
	})
}

// TestInterruptedLoad: a statement that hangs is broken off after the grace,
// counted as unknown, and the load isn't verified.
func TestInterruptedLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancelled := time.AfterFunc(3*time.Second, func() { cancel(stopped) })
		defer cancelled.Stop()
		db := openFake(t, fake.Config{Faults: []fake.Fault{{Statement: 2, Hang: true}}})
		begin := time.Now()
		got, err := runLoad(t, ctx, oneClient(), db)
		if !errors.Is(err, stopped) || got.Steps[0].Complete || got.Steps[0].Reason != "stopped" {
			t.Errorf("%v, %q", err, got.Steps[0].Reason)
		}
		if took := time.Since(begin); took != 8*time.Second { // the grace is five
			t.Errorf("it took %v", took)
		}
		client := got.Steps[0].Clients[0]
		if client.RowsAcknowledged != 10 || client.RowsUnknown != 10 || db.Statements() != 2 {
			t.Errorf("acknowledged %d, unknown %d, %d statements", client.RowsAcknowledged, client.RowsUnknown, db.Statements())
		}
		if v := got.Verify; v.Passed != nil || v.Note != "not verified: the load was interrupted" {
			t.Errorf("verified: %+v", v)
		}
	})
}

func TestLoadConnectionRefused(t *testing.T) {
	refused := drivers.Connectf("too many connections")
	got, err := runLoad(t, t.Context(), smallLoad(), openFake(t, fake.Config{InserterErr: refused}))
	if !errors.Is(err, drivers.ErrConnect) || err.Error() != "open the connection of client 0 of 4: too many connections" || len(got.Steps) != 0 {
		t.Errorf("%d steps, %v", len(got.Steps), err)
	}
}

func TestPrepare(t *testing.T) {
	for _, tc := range []struct {
		name   string
		tables []string
		change func(*ibench.Config)
		err    string
	}{
		{"an empty database", nil, nil, ""},
		{"a table of a load with more tables", []string{"pi3"}, nil, ""},
		{"a table in the way", []string{"pi2"}, nil, "table pi2 exists; add --drop to replace it, or remove the benchmark's tables with ibench drop"},
		{"the same with --drop", []string{"pi1", "pi2"}, func(c *ibench.Config) { c.Drop = true }, ""},
		// 100 rows of 64 bytes and 20 of data are 8,400.
		{"the largest batch", nil, func(c *ibench.Config) { c.RowsPerCommit = 100 }, ""},
		{"a row more", nil, func(c *ibench.Config) { c.RowsPerCommit = 101 }, "a statement of 101 rows takes 8484 bytes, above the limit of 8400: lower --rows-per-commit"},
		{"longer data", nil, func(c *ibench.Config) { c.DataLengthMax, c.RowsPerCommit = 21, 100 }, "a statement of 100 rows takes 8500 bytes, above the limit of 8400: lower --rows-per-commit"},
	} {
		db := openFake(t, fake.Config{MaxStatementBytes: 8400})
		for _, name := range tc.tables {
			if err := db.CreateTable(t.Context(), ibench.Table{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		c := smallLoad()
		if tc.change != nil {
			tc.change(&c)
		}
		err := ibench.Prepare(t.Context(), c, db)
		if fmt.Sprint(err) != tc.err && (err != nil || tc.err != "") || err != nil && !errors.Is(err, drivers.ErrConfig) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.err)
		}
		if after, _ := db.ListTables(t.Context()); len(after) != len(tc.tables) {
			t.Errorf("%s: the tables are %v now", tc.name, after)
		}
	}
}

// TestLoadReplaces: --drop replaces the load's own tables and leaves the others.
func TestLoadReplaces(t *testing.T) {
	db := openFake(t, fake.Config{})
	for _, name := range []string{"pi1", "pi2", "pi3"} {
		if err := db.CreateTable(t.Context(), ibench.Table{Name: name, Indexes: ibench.Indexes}); err != nil {
			t.Fatal(err)
		}
	}
	c := smallLoad()
	c.SecondaryIndexes = 1
	if _, err := runLoad(t, t.Context(), c, db); !errors.Is(err, drivers.ErrConfig) {
		t.Errorf("without --drop: %v", err)
	}
	c.Drop = true
	if _, err := runLoad(t, t.Context(), c, db); err != nil {
		t.Fatal(err)
	}
	if got := []int{len(db.Indexes("pi1")), len(db.Indexes("pi2")), len(db.Indexes("pi3"))}; got[0] != 1 || got[1] != 1 || got[2] != 3 {
		t.Errorf("the tables have %v indexes", got)
	}
	names, err := ibench.DropTables(t.Context(), db)
	if diff := cmp.Diff([]string{"pi1", "pi2", "pi3"}, names); err != nil || diff != "" {
		t.Errorf("dropped: %v, %s", err, diff)
	}
}
