package ibench

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrVerify marks a difference between what was acknowledged and what the
// tables hold.
var ErrVerify = errors.New("verification failed")

// Verified is what verification of one table found.
type Verified struct {
	Table string `json:"table"`
	// Expected is what the server acknowledged, Found what it holds.
	Expected Sums `json:"expected"`
	Found    Sums `json:"found"`
	// UnknownRows may or may not be there besides the expected ones.
	UnknownRows int64 `json:"unknown_rows"`
	// KeepsNothing is true for an engine that stores nothing by design.
	KeepsNothing bool   `json:"keeps_nothing"`
	Difference   string `json:"difference,omitempty"`
}

// verifyTable compares one table with what its clients were told. mode is full
// or count.
func verifyTable(ctx context.Context, db Loader, table string, expected Sums, unknownRows int64, mode VerifyMode) (Verified, error) {
	v := Verified{Table: table, Expected: expected, UnknownRows: unknownRows}
	found, keepsNothing, err := db.Sums(ctx, table)
	if err != nil {
		return v, fmt.Errorf("verify %s: %w", table, err)
	}
	v.Found, v.KeepsNothing = found, keepsNothing
	want := expected
	if keepsNothing {
		want = Sums{}
	}
	v.Difference = difference(want, found, unknownRows, mode)
	if v.Difference != "" {
		return v, fmt.Errorf("%w: table %s: %s", ErrVerify, table, v.Difference)
	}
	return v, nil
}

// difference says by how much found differs from want, "" where it doesn't.
// With unknown rows only the count can be bounded, and no sum compared.
func difference(want, found Sums, unknownRows int64, mode VerifyMode) string {
	if found.Rows < want.Rows || found.Rows > want.Rows+unknownRows {
		if unknownRows > 0 {
			return fmt.Sprintf("it holds %d rows, where %d were acknowledged and %d more are unknown", found.Rows, want.Rows, unknownRows)
		}
		return fmt.Sprintf("it holds %d rows, where %d were acknowledged (%+d)", found.Rows, want.Rows, found.Rows-want.Rows)
	}
	if mode != VerifyFull || unknownRows > 0 {
		return ""
	}
	var parts []string
	compare := func(name string, want, found int64) {
		if want != found {
			parts = append(parts, fmt.Sprintf("the sum of %s is %d, where %d was sent (%+d)", name, found, want, found-want))
		}
	}
	compare("cashregisterid", want.CashRegisterID, found.CashRegisterID)
	compare("customerid", want.CustomerID, found.CustomerID)
	compare("productid", want.ProductID, found.ProductID)
	compare("price", want.Price, found.Price)
	compare("the lengths of data", want.DataBytes, found.DataBytes)
	return strings.Join(parts, "; ")
}
