package ibench

import (
	"context"
	"time"
)

// Reader is a database that can be queried and scanned. Its methods are called
// from one goroutine; what it opens works side by side.
type Reader interface {
	// OpenQuerier opens a connection of its own for one reader. client is
	// whose rows Points asks for, where the database knows rows by client;
	// rows is how many rows a query is for.
	OpenQuerier(ctx context.Context, table string, client, rows int) (Querier, error)
	// OpenScanner opens a connection of its own for full scans, without a
	// deadline for a statement.
	OpenScanner(ctx context.Context, table string) (Scanner, error)
	// NumbersByClient is whether the numbers of PointRow count each client's
	// own rows, because keys are made of them; else they count the table's.
	NumbersByClient() bool
	// Extent says what a table holds. It reads the whole table.
	Extent(ctx context.Context, table string) (Extent, error)
}

// Querier sends queries over one connection. It belongs to one goroutine, but
// for Abort. Errors of queries are *drivers.Error.
type Querier interface {
	// Range reads the first rows entries of an index, by its position in
	// Indexes, whose first column is from or more, in the order of the index,
	// from the index alone. They are appended to dst.
	Range(ctx context.Context, index int, from int64, dst []Entry) ([]Entry, error)
	// Points reads rows by their keys, rows of them, in any order; those that
	// aren't there are left out. They are appended to dst, whose spare
	// elements' Data is reused. A number may be given twice and is read once.
	Points(ctx context.Context, numbers []int64, dst []PointRow) ([]PointRow, error)
	// Abort closes the connection under a query that doesn't return. It may
	// be called by any goroutine, twice.
	Abort()
	// Close ends the connection.
	Close() error
}

// Entry is an entry of a secondary index: the values of the index's columns in
// their order, dateandtime in Unix seconds UTC.
type Entry [3]int64

// PointRow is a row as a point query reads it. Number is the row's position in
// the order of keys: of all rows ever inserted into the table where the
// database makes the keys (the key less one), else the client's own number.
type PointRow struct {
	Number    int64
	ProductID int32
	Data      []byte
}

// Scanner reads all of a table or of an index. It belongs to one goroutine,
// but for Abort.
type Scanner interface {
	// Scan reads every entry of an index, by its position in Indexes, or every
	// row by the primary key where index is PrimaryKey, and counts them by
	// what was read.
	Scan(ctx context.Context, index int) (entries int64, err error)
	Abort()
	Close() error
}

// PrimaryKey is the position of the primary key beside those in Indexes.
const PrimaryKey = -1

// Extent is what a table holds.
type Extent struct {
	Rows int64
	// Lowest and Highest are the numbers of the rows with the smallest and the
	// largest key, as in PointRow; both 0 where there are no rows.
	Lowest, Highest int64
	// Indexes are the names of the secondary indexes that it has, as in Index.
	Indexes []string
}

// DeletingDatabase is a database that can be asked to delete the oldest rows.
type DeletingDatabase interface {
	// OpenDeleter opens a connection of its own for one client's deletes.
	OpenDeleter(ctx context.Context, table string) (Deleter, error)
}

// Deleter removes a table's rows from the low end of the primary key over one
// connection. It belongs to one goroutine, but for Abort. Errors are *drivers.Error.
type Deleter interface {
	// FindLowest asks for the smallest key, where the next Delete begins. Until
	// it is called again each Delete begins as many keys higher as the last one
	// removed (iibench.py's resync_get_min).
	FindLowest(ctx context.Context) error
	// Delete removes n rows in the order of keys, or what there is, in one
	// transaction, and gives how many they were.
	Delete(ctx context.Context, n int) (int64, error)
	Abort()
	Close() error
}

// Settler is a database that can be brought to rest between steps.
type Settler interface {
	// Settle writes back what the database still owes its disk and refreshes
	// the statistics of the tables. Waits together end after limit. Settings
	// that it changes are restored on every way out.
	Settle(ctx context.Context, tables []string, limit time.Duration) (Settled, error)
}

// Settled is what was done to bring a database to rest.
type Settled struct {
	// Actions are what was done, in order, a phrase each.
	Actions []string
	// Verified says what was read back to see that it is at rest; Unverified
	// what couldn't be seen or wasn't reached.
	Verified, Unverified []string
}
