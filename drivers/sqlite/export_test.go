package sqlite

import (
	"context"
	"fmt"
	"testing"

	"insertbench/ibench"
)

// LimitPages makes the inserter's connection believe that the disk is full
// beyond so many pages.
func LimitPages(t testing.TB, in ibench.Inserter, pages int) {
	t.Helper()
	if _, err := in.(*inserter).exec.ExecContext(context.Background(), fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil); err != nil {
		t.Fatal(err)
	}
}
