package ibench

import "testing"

func TestDifference(t *testing.T) {
	want := Sums{Rows: 100, CashRegisterID: 1000, CustomerID: 2000, ProductID: 3000, Price: 4000, DataBytes: 1500}
	with := func(change func(*Sums)) Sums {
		s := want
		change(&s)
		return s
	}
	for _, tc := range []struct {
		name    string
		found   Sums
		unknown int64
		full    string
		count   string // "=" for the same
	}{
		{"the same", want, 0, "", "="},
		{"a row fewer", with(func(s *Sums) { s.Rows-- }), 0, "it holds 99 rows, where 100 were acknowledged (-1)", "="},
		{"ten more", with(func(s *Sums) { s.Rows += 10 }), 0, "it holds 110 rows, where 100 were acknowledged (+10)", "="},
		{"empty", Sums{}, 0, "it holds 0 rows, where 100 were acknowledged (-100)", "="},
		{"cash register", with(func(s *Sums) { s.CashRegisterID-- }), 0, "the sum of cashregisterid is 999, where 1000 was sent (-1)", ""},
		{"customer", with(func(s *Sums) { s.CustomerID += 5 }), 0, "the sum of customerid is 2005, where 2000 was sent (+5)", ""},
		{"product", with(func(s *Sums) { s.ProductID = 0 }), 0, "the sum of productid is 0, where 3000 was sent (-3000)", ""},
		{"price", with(func(s *Sums) { s.Price++ }), 0, "the sum of price is 4001, where 4000 was sent (+1)", ""},
		{"data", with(func(s *Sums) { s.DataBytes-- }), 0, "the sum of the lengths of data is 1499, where 1500 was sent (-1)", ""},
		{"two at once", with(func(s *Sums) { s.Price++; s.DataBytes-- }), 0,
			"the sum of price is 4001, where 4000 was sent (+1); the sum of the lengths of data is 1499, where 1500 was sent (-1)", ""},
		{"unknown rows not kept", want, 10, "", "="},
		{"some of the unknown rows kept", with(func(s *Sums) { s.Rows += 4; s.Price += 9 }), 10, "", "="},
		{"all of the unknown rows kept", with(func(s *Sums) { s.Rows += 10 }), 10, "", "="},
		{"more than the unknown rows", with(func(s *Sums) { s.Rows += 11 }), 10, "it holds 111 rows, where 100 were acknowledged and 10 more are unknown", "="},
		{"acknowledged rows missing beside unknown ones", with(func(s *Sums) { s.Rows-- }), 10, "it holds 99 rows, where 100 were acknowledged and 10 more are unknown", "="},
	} {
		if tc.count == "=" {
			tc.count = tc.full
		}
		if got := difference(want, tc.found, tc.unknown, VerifyFull); got != tc.full {
			t.Errorf("%s, full: got %q, want %q", tc.name, got, tc.full)
		}
		if got := difference(want, tc.found, tc.unknown, VerifyCount); got != tc.count {
			t.Errorf("%s, count: got %q, want %q", tc.name, got, tc.count)
		}
	}
}
