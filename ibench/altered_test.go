package ibench_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
	"insertbench/drivers/fake"
	"insertbench/ibench"
)

// altered is the fake database with an operation that goes wrong.
type altered struct {
	*fake.Server
	sums    func(ibench.Sums) (ibench.Sums, error)
	indexes func(ctx context.Context) error
}

func (a altered) Sums(ctx context.Context, table string) (ibench.Sums, bool, error) {
	sums, nothing, err := a.Server.Sums(ctx, table)
	if a.sums != nil && err == nil {
		sums, err = a.sums(sums)
	}
	return sums, nothing, err
}

func (a altered) CreateIndexes(ctx context.Context, table string, indexes []ibench.Index) error {
	if a.indexes != nil {
		return a.indexes(ctx)
	}
	return a.Server.CreateIndexes(ctx, table, indexes)
}

func TestLoadVerifyFails(t *testing.T) {
	lost := func(s ibench.Sums) (ibench.Sums, error) {
		s.Rows, s.Price = s.Rows-1, s.Price-5
		return s, nil
	}
	changed := func(s ibench.Sums) (ibench.Sums, error) {
		s.Price += 7
		return s, nil
	}
	unreadable := func(ibench.Sums) (ibench.Sums, error) { return ibench.Sums{}, errors.New("gone") }
	for _, tc := range []struct {
		name string
		mode ibench.VerifyMode
		sums func(ibench.Sums) (ibench.Sums, error)
		err  string // a pattern of %d where the sums come
		note string
	}{
		{"a row is missing", ibench.VerifyFull, lost, "verification failed: table pi1: it holds 99 rows, where 100 were acknowledged (-1)", ""},
		{"a row is missing, counted only", ibench.VerifyCount, lost, "verification failed: table pi1: it holds 99 rows, where 100 were acknowledged (-1)", ""},
		{"a value is another", ibench.VerifyFull, changed, "(+7)", ""},
		{"a value is another, counted only", ibench.VerifyCount, changed, "", ""},
		{"nobody looks", ibench.VerifyOff, unreadable, "", ""},
		{"it can't be read", ibench.VerifyFull, unreadable, "verify pi1: gone", "not verified: verify pi1: gone"},
	} {
		c := oneClient()
		c.Verify = tc.mode
		got, err := runLoad(t, t.Context(), c, altered{Server: openFake(t, fake.Config{}), sums: tc.sums})
		if (err != nil) != (tc.err != "") || err != nil && !strings.HasSuffix(err.Error(), tc.err) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.err)
		}
		failed := err != nil && tc.note == ""
		if errors.Is(err, ibench.ErrVerify) != failed {
			t.Errorf("%s: the error's kind is wrong: %v", tc.name, err)
		}
		v := got.Verify
		if known := tc.mode != ibench.VerifyOff && tc.note == ""; (v.Passed != nil) != known || known && *v.Passed == failed || v.Note != tc.note {
			t.Errorf("%s: %+v", tc.name, v)
		}
		if (len(v.Differences) > 0) != failed || v.Mode != string(tc.mode) || !got.Steps[0].Complete {
			t.Errorf("%s: %+v", tc.name, v)
		}
	}
}

// TestLoadVerifyTables: each table that differs is named.
func TestLoadVerifyTables(t *testing.T) {
	lost := func(s ibench.Sums) (ibench.Sums, error) {
		s.Rows--
		return s, nil
	}
	got, err := runLoad(t, t.Context(), smallLoad(), altered{Server: openFake(t, fake.Config{}), sums: lost})
	want := []string{"table pi1: it holds 501 rows, where 502 were acknowledged (-1)", "table pi2: it holds 500 rows, where 501 were acknowledged (-1)"}
	if diff := cmp.Diff(want, got.Verify.Differences); diff != "" || !errors.Is(err, ibench.ErrVerify) {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestLoadKeepsNothing(t *testing.T) {
	got, err := runLoad(t, t.Context(), oneClient(), openFake(t, fake.Config{KeepsNothing: true}))
	if v := got.Verify; err != nil || v.Passed == nil || !*v.Passed || v.Expected["rows"] != 100 || v.Found["rows"] != 0 || !strings.Contains(v.Note, "keeps nothing") {
		t.Errorf("%v, %+v", err, got.Verify)
	}
}

func TestLoadIndexFails(t *testing.T) {
	c := oneClient()
	c.IndexesAt = ibench.IndexesAtEnd
	full := &drivers.Error{Class: drivers.Fatal, Code: "1114", Err: errors.New("the table is full")}
	db := altered{Server: openFake(t, fake.Config{}), indexes: func(context.Context) error { return full }}
	got, err := runLoad(t, t.Context(), c, db)
	if want := "build 3 secondary indexes on pi1, 100 rows: the table is full"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	if len(got.Steps) != 2 || !got.Steps[0].Complete || got.Steps[1].Complete || got.Steps[1].Errors[0].Code != "1114" {
		t.Errorf("steps: %+v", got.Steps)
	}
}

// TestInterruptedIndex: an index build is broken off after the grace.
func TestInterruptedIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := oneClient()
		c.IndexesAt = ibench.IndexesAtEnd
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		db := altered{Server: openFake(t, fake.Config{}), indexes: func(ctx context.Context) error {
			cancel(stopped)
			<-ctx.Done()
			return ctx.Err()
		}}
		got, err := runLoad(t, ctx, c, db)
		if !errors.Is(err, stopped) || got.Steps[1].Complete {
			t.Errorf("%v, %+v", err, got.Steps[1])
		}
	})
}
