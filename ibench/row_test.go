package ibench

import (
	"strings"
	"testing"
	"time"
)

// The first outputs of SplitMix64 for seed 1234567, as published with
// Vigna's reference implementation (splitmix64.c) and on Rosetta Code.
func TestSplitMix64Vectors(t *testing.T) {
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	g := splitMix64{state: 1234567}
	for i, w := range want {
		if got := g.next(); got != w {
			t.Errorf("output %d is %d, want %d", i, got, w)
		}
	}
}

func TestBelow(t *testing.T) {
	// floor(6457827717110365317 × 1000 ÷ 2^64) = floor(350.07…) = 350, and
	// 3203168211198807973 × 1000 ÷ 2^64 = 173.64…: 173.
	g := splitMix64{state: 1234567}
	for i, want := range []uint64{350, 173} {
		if got := g.below(1000); got != want {
			t.Errorf("draw %d is %d, want %d", i, got, want)
		}
	}
}

func TestRowIsPure(t *testing.T) {
	spec := DefaultRowSpec()
	forward, again := NewRows(7, 3, spec), NewRows(7, 3, spec)
	seen := map[int64]Row{}
	var row Row
	for i := int64(0); i < 500; i++ {
		forward.At(i, &row)
		kept := row
		kept.Data = append([]byte(nil), row.Data...)
		seen[i] = kept
	}
	for i := int64(499); i >= 0; i -= 7 {
		again.At(i, &row)
		w := seen[i]
		if string(row.Data) != string(w.Data) || row.ProductID != w.ProductID || row.Price != w.Price ||
			row.CustomerID != w.CustomerID || row.CashRegisterID != w.CashRegisterID || row.Seconds != w.Seconds {
			t.Fatalf("row %d is %+v backwards, %+v forwards", i, row, w)
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	spec := DefaultRowSpec()
	key := func(seed uint64, client int) uint64 { return NewRows(seed, client, spec).key }
	keys := map[uint64]string{}
	for seed := uint64(0); seed < 50; seed++ {
		for client := range 50 {
			k := key(seed, client)
			if other, ok := keys[k]; ok {
				t.Fatalf("seed %d client %d has the stream of %s", seed, client, other)
			}
			keys[k] = "another"
		}
	}
}

// Row 2,500,999 is due 2,500 whole seconds after 2020-01-01.
func TestRowTime(t *testing.T) {
	rows := NewRows(1, 0, DefaultRowSpec())
	var row Row
	rows.At(2_500_999, &row)
	want := time.Date(2020, 1, 1, 0, 41, 40, 0, time.UTC)
	if got := time.Unix(row.Seconds, 0).UTC(); !got.Equal(want) {
		t.Errorf("row 2500999 is of %v, want %v", got, want)
	}
}

func TestRandomLetters(t *testing.T) {
	// floor(L × 0.75 × pct ÷ 100), by hand: 20 × 0.75 × 0.5 = 7.5;
	// 10 × 0.75 × 0.5 = 3.75; 15 × 0.75 = 11.25; 4000 × 0.75 = 3000.
	for _, c := range []struct{ length, pct, want int }{{20, 50, 7}, {10, 50, 3}, {15, 100, 11}, {4000, 100, 3000}, {20, 0, 0}, {0, 100, 0}} {
		if got := (RowSpec{DataRandomPct: c.pct}).randomLetters(c.length); got != c.want {
			t.Errorf("length %d, %d %%: %d random letters, want %d", c.length, c.pct, got, c.want)
		}
	}
}

// Each value must reach both ends of its range and nothing outside, data must
// be letters a and then base64, and lengths must be inclusive at both ends.
func TestRanges(t *testing.T) {
	spec := RowSpec{CashRegisters: 3, Products: 5, Customers: 7, MaxPrice: 2, DataLengthMin: 10, DataLengthMax: 12, DataRandomPct: 50}
	rows := NewRows(99, 1, spec)
	counts := map[string]map[int]int{"cash": {}, "product": {}, "customer": {}, "price": {}, "length": {}}
	var row Row
	const n = 21_000
	for i := int64(0); i < n; i++ {
		rows.At(i, &row)
		counts["cash"][int(row.CashRegisterID)]++
		counts["product"][int(row.ProductID)]++
		counts["customer"][int(row.CustomerID)]++
		counts["price"][int(row.Price)]++
		counts["length"][len(row.Data)]++
		plain := len(row.Data) - spec.randomLetters(len(row.Data))
		if got := string(row.Data[:plain]); got != strings.Repeat("a", plain) {
			t.Fatalf("row %d starts with %q, want %d letters a", i, got, plain)
		}
		if s := strings.Trim(string(row.Data), base64Letters); s != "" {
			t.Fatalf("row %d has %q in its data", i, s)
		}
	}
	for name, want := range map[string][2]int{"cash": {0, 2}, "product": {0, 4}, "customer": {0, 6}, "price": {0, 1}, "length": {10, 12}} {
		values := want[1] - want[0] + 1
		if len(counts[name]) != values {
			t.Errorf("%s has values %v, want %d to %d", name, counts[name], want[0], want[1])
		}
		for v := want[0]; v <= want[1]; v++ {
			// Five standard deviations of a binomial count never fail by chance here: the seed is fixed.
			mean := float64(n) / float64(values)
			if got := float64(counts[name][v]); got < mean*0.9 || got > mean*1.1 {
				t.Errorf("%s %d came %.0f times, want about %.0f", name, v, got, mean)
			}
		}
	}
}

func TestRowAllocatesNothing(t *testing.T) {
	rows := NewRows(1, 0, DefaultRowSpec())
	var row Row
	rows.At(0, &row)
	row.Data = make([]byte, 0, 64)
	i := int64(0)
	if n := testing.AllocsPerRun(1000, func() { i++; rows.At(i, &row) }); n != 0 {
		t.Errorf("a row allocates %v times", n)
	}
}

func BenchmarkRow(b *testing.B) {
	rows := NewRows(1, 0, DefaultRowSpec())
	row := Row{Data: make([]byte, 0, 64)}
	b.ReportAllocs()
	for i := range b.N {
		rows.At(int64(i), &row)
	}
}
