package mongo

import (
	"bytes"
	"context"
	"testing"

	"insertbench/drivers/mongo/wiretest"
	"insertbench/ibench"
)

// TestKeysTellTheirRow: an _id is made of client and row, and both come back,
// also past 2^24 rows, where the low bits begin anew.
func TestKeysTellTheirRow(t *testing.T) {
	for _, kind := range []IDKind{ObjectID, Int64} {
		for _, client := range []int{0, 1, 99_999} {
			for _, number := range []int64{0, 1, 999, 1_000, 1<<24 - 1, 1 << 24, 1<<24 + 1, 123_456_789, 3_000_000_000} {
				c, n, err := keyOf(key(kind, client, number))
				if err != nil || c != client || n != number {
					t.Errorf("the key of row %d of client %d gives row %d of client %d, %v", number, client, n, c, err)
				}
			}
		}
	}
}

// TestPiecesAreRangesOfKeys: in each piece keys sort as rows do, and no row
// outside of it has a key within. 2^24 = 16,777,216 is in the second of rows
// 16,777,000 to 16,777,999.
func TestPiecesAreRangesOfKeys(t *testing.T) {
	const low, high = 16_775_500, 16_779_500
	for _, r := range [][2]int64{
		{low, high}, {16_777_100, 16_777_200}, {16_777_200, 16_777_300}, {16_777_216, 16_777_900}, {16_776_900, 16_777_300},
		{16_777_300, 16_778_100}, {16_777_000, 16_778_000}, {16_777_215, 16_777_216}, {16_777_215, 16_777_217}, {16_776_000, 16_777_000},
	} {
		covered := map[int64]int{}
		for _, p := range pieces(ObjectID, r[0], r[1]) {
			first, last := key(ObjectID, 3, p[0]).Value, key(ObjectID, 3, p[1]-1).Value
			for n := int64(low - 1000); n < high+1000; n++ {
				if k := key(ObjectID, 3, n).Value; bytes.Compare(k, first) >= 0 && bytes.Compare(k, last) <= 0 {
					covered[n]++
				}
			}
		}
		for n := int64(low - 1000); n < high+1000; n++ {
			want := 0
			if n >= r[0] && n < r[1] {
				want = 1
			}
			if covered[n] != want {
				t.Fatalf("rows %d to %d: row %d is covered %d times", r[0], r[1]-1, n, covered[n])
			}
		}
	}
}

// TestDeletesOverTheTurn: the queue goes on in the order of rows where the bits
// of the keys begin anew.
func TestDeletesOverTheTurn(t *testing.T) {
	s := wiretest.Start(t, wiretest.Config{})
	db, err := Open(context.Background(), Config{URI: s.URI()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	if err := db.CreateTable(ctx, ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(ctx, "pi1")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
	var row ibench.Row
	first, end := int64(16_776_990), int64(16_777_500)
	for n := first; n < end; n++ {
		rows.At(n, &row)
		in.Append(&row)
	}
	if err := in.Insert(ctx); err != nil {
		t.Fatal(err)
	}
	d, err := db.OpenDeleter(ctx, "pi1")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for ; first+50 < end; first += 50 {
		x, err := db.Extent(ctx, "pi1")
		if err != nil || x.Lowest != first || x.Highest != end-1 || x.Rows != end-first {
			t.Fatalf("the table is %+v, %v, want rows %d to %d", x, err, first, end-1)
		}
		if err := d.FindLowest(ctx); err != nil {
			t.Fatal(err)
		}
		if n, err := d.Delete(ctx, 50); err != nil || n != 50 {
			t.Fatalf("from row %d: %d rows were deleted, %v", first, n, err)
		}
	}
}
