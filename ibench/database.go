package ibench

import (
	"context"

	"insertbench/drivers"
)

// Database is what the Insert Benchmark asks of a database. Methods are called
// from one goroutine; only Inserters work side by side.
type Database interface {
	drivers.Server
	Tables
	Loader
}

// Tables makes, lists and removes the benchmark's tables and nothing else.
type Tables interface {
	// ListTables gives the names of those tables in the database that
	// IsTableName accepts, in any order.
	ListTables(ctx context.Context) ([]string, error)
	// CreateTable makes a table with its primary key and the given indexes.
	// A table that exists is an error of kind drivers.ErrConfig. The engine
	// is read back: another one than asked for is an error of that kind too.
	CreateTable(ctx context.Context, t Table) error
	// CreateIndexes builds secondary indexes on a table that holds rows, as
	// the engine does it best: InnoDB all in one statement, MyRocks one by one.
	// Several goroutines may call it at once, each for a table of its own.
	CreateIndexes(ctx context.Context, table string, indexes []Index) error
	// DropTable removes one table. A name that IsTableName doesn't accept is refused.
	DropTable(ctx context.Context, table string) error
}

// Loader puts rows into a table and tells what is in it.
type Loader interface {
	// CheckBatch refuses a statement of so many rows, each with so many bytes
	// of data at most, that the server wouldn't take; kind drivers.ErrConfig.
	CheckBatch(ctx context.Context, rows, dataBytes int) error
	// OpenInserter opens a connection of its own for one worker.
	OpenInserter(ctx context.Context, table string) (Inserter, error)
	// Sums reads the table's contents back. An engine that keeps nothing
	// (BLACKHOLE) gives zeros and KeepsNothing true.
	Sums(ctx context.Context, table string) (sums Sums, keepsNothing bool, err error)
}

// Inserter sends rows over one connection. It belongs to one goroutine, but
// for Abort.
type Inserter interface {
	// Append adds a row to the next statement. It keeps nothing of row and
	// doesn't allocate once its buffer has grown.
	Append(row *Row)
	// Insert sends what was appended as one statement, committed by itself,
	// and waits for the acknowledgement. Errors are *drivers.Error. The
	// statement is kept until Reset, so that it can be sent again after a
	// Retryable error.
	Insert(ctx context.Context) error
	// Reset empties the statement.
	Reset()
	// Abort closes the connection under an Insert that doesn't return; that
	// Insert then fails with class Unknown. It may be called by any goroutine, twice.
	Abort()
	// Close ends the connection.
	Close() error
}

// Sums is what verification compares: how many rows, the sums of the integer
// columns, and the sum of the lengths of data.
type Sums struct {
	Rows           int64 `json:"rows"`
	CashRegisterID int64 `json:"sum_cashregisterid"`
	CustomerID     int64 `json:"sum_customerid"`
	ProductID      int64 `json:"sum_productid"`
	Price          int64 `json:"sum_price"`
	DataBytes      int64 `json:"sum_data_bytes"`
}

// rowValueBytes is what a row's values take apart from data: 8 bytes each for
// key and time, 4 each for four integers.
const rowValueBytes = 8 + 8 + 4*4

// ValueBytes is the bytes of values in the rows: what a database is given to
// keep, without its headers and without its secondary indexes.
func (s Sums) ValueBytes() int64 { return s.Rows*rowValueBytes + s.DataBytes }

// AddRow adds one row.
func (s *Sums) AddRow(r *Row) {
	s.Rows++
	s.CashRegisterID += int64(r.CashRegisterID)
	s.CustomerID += int64(r.CustomerID)
	s.ProductID += int64(r.ProductID)
	s.Price += int64(r.Price)
	s.DataBytes += int64(len(r.Data))
}

// Sub takes one row off again.
func (s *Sums) Sub(r *Row) {
	s.Rows--
	s.CashRegisterID -= int64(r.CashRegisterID)
	s.CustomerID -= int64(r.CustomerID)
	s.ProductID -= int64(r.ProductID)
	s.Price -= int64(r.Price)
	s.DataBytes -= int64(len(r.Data))
}

// Add adds the sums of other rows.
func (s *Sums) Add(o Sums) {
	s.Rows += o.Rows
	s.CashRegisterID += o.CashRegisterID
	s.CustomerID += o.CustomerID
	s.ProductID += o.ProductID
	s.Price += o.Price
	s.DataBytes += o.DataBytes
}
