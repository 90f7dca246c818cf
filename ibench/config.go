package ibench

import (
	"errors"
	"fmt"
	"slices"
)

// Config is a load, resolved: what rows, by whom, into which tables. It goes
// into the record as it is.
type Config struct {
	// Rows is the total over all clients, split exactly.
	Rows    int64 `json:"rows"`
	Clients int   `json:"clients"`
	// Tables is 1 or divides Clients; client i uses table i mod Tables.
	Tables int `json:"tables"`
	// RowsPerCommit is rows per statement; each is a transaction of its own.
	RowsPerCommit int `json:"rows_per_commit"`
	// SecondaryIndexes is how many of Indexes there are, 0 to 3.
	SecondaryIndexes int `json:"secondary_indexes"`
	// IndexesAt says when they are built.
	IndexesAt IndexTime `json:"indexes_at"`
	Seed      uint64    `json:"seed"`
	RowSpec
	// BulkLoad is MyRocks's bulk load: rows go into sorted files and are
	// visible only when it ends, which is inside the measured window.
	BulkLoad bool `json:"bulk_load"`
	// UniqueChecks is MySQL's variable of that name on the inserters'
	// connections, on as the server has it.
	UniqueChecks bool `json:"unique_checks"`
	// Shape is how the tables are made, beyond what every database can.
	Shape
	// Drop allows tables that exist to be replaced.
	Drop   bool       `json:"drop"`
	Verify VerifyMode `json:"verify"`
}

// IndexTime says when secondary indexes are built.
type IndexTime string

// The times at which secondary indexes are built.
const (
	IndexesAtStart IndexTime = "start"
	IndexesAtEnd   IndexTime = "end"
)

// VerifyMode says how much of the tables is read back after a load.
type VerifyMode string

// VerifyFull compares counts and sums, VerifyCount counts, VerifyOff nothing.
const (
	VerifyFull  VerifyMode = "full"
	VerifyCount VerifyMode = "count"
	VerifyOff   VerifyMode = "off"
)

// DefaultSeed is iibench.py's.
const DefaultSeed = 3221223452

// MaxRowsPerCommit is the largest batch that every database takes: MongoDB's
// limit of documents per command.
const MaxRowsPerCommit = 100_000

// maxClients bounds the row stream's 5 bytes of client far below their end.
const maxClients = 100_000

// DefaultConfig is a load of a million rows by one client.
func DefaultConfig() Config {
	return Config{
		Rows: 1_000_000, Clients: 1, Tables: 1, RowsPerCommit: 100, SecondaryIndexes: len(Indexes),
		IndexesAt: IndexesAtStart, Seed: DefaultSeed, RowSpec: DefaultRowSpec(), Verify: VerifyFull,
		UniqueChecks: true,
	}
}

// Validate says what is wrong, all of it at once, in the words of the flags.
func (c Config) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Clients < 1 || c.Clients > maxClients {
		refuse("--clients=%d: it must be from 1 to %d", c.Clients, maxClients)
	}
	switch {
	case c.Rows < 1:
		refuse("--rows=%d: it must be 1 or more", c.Rows)
	case c.Rows < int64(c.Clients):
		refuse("--rows=%d is fewer than --clients=%d: each client needs a row", c.Rows, c.Clients)
	}
	if c.Tables < 1 || (c.Tables > 1 && c.Clients >= 1 && c.Clients%c.Tables != 0) {
		refuse("--tables=%d: it must be 1, or divide --clients=%d so that every table gets as many clients", c.Tables, c.Clients)
	}
	if c.RowsPerCommit < 1 || c.RowsPerCommit > MaxRowsPerCommit {
		refuse("--rows-per-commit=%d: it must be from 1 to %d", c.RowsPerCommit, MaxRowsPerCommit)
	}
	if c.SecondaryIndexes < 0 || c.SecondaryIndexes > len(Indexes) {
		refuse("--secondary-indexes=%d: it must be from 0 to %d", c.SecondaryIndexes, len(Indexes))
	}
	if c.IndexesAt != IndexesAtStart && c.IndexesAt != IndexesAtEnd {
		refuse("--indexes-at=%s: it must be start or end", c.IndexesAt)
	}
	if c.Verify != VerifyFull && c.Verify != VerifyCount && c.Verify != VerifyOff {
		refuse("--verify=%s: it must be full, count or off", c.Verify)
	}
	if c.BulkLoad && c.SecondaryIndexes > 0 && c.IndexesAt == IndexesAtStart {
		refuse("--bulk-load: MyRocks loads in the order of the primary key alone, so add --indexes-at=end or --secondary-indexes=0")
	}
	if c.BulkLoad && c.Tables != c.Clients {
		refuse("--bulk-load: clients can't share a table, so give --tables=%d for --clients=%d", c.Clients, c.Clients)
	}
	if c.ColumnFamilies && c.SecondaryIndexes == 0 {
		refuse("--column-families are of secondary indexes, and --secondary-indexes=0 makes none")
	}
	if err := c.Shape.Validate(); err != nil {
		errs = append(errs, err)
	}
	if err := c.RowSpec.Validate(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// ClientRows is how many rows client i, counted from 0, inserts: the first
// Rows mod Clients clients insert one more than the others.
func (c Config) ClientRows(i int) int64 {
	n := c.Rows / int64(c.Clients)
	if int64(i) < c.Rows%int64(c.Clients) {
		n++
	}
	return n
}

// ClientTable is the table that client i inserts into, counted from 0.
func (c Config) ClientTable(i int) int { return i % c.Tables }

// SecondaryIndexList is the indexes that the tables end up with.
func (c Config) SecondaryIndexList() []Index {
	list := slices.Clone(Indexes[:c.SecondaryIndexes])
	for i := range list {
		if c.ColumnFamilies {
			list[i].Family = families[i]
		}
	}
	return list
}

// What a row takes on disk at least, without data: 71 bytes with the key
// alone and 29 more for each secondary index, InnoDB's of the recorded runs of
// January 2021 (100 million rows, data of 10 to 20 bytes: 71 and 158 bytes).
const (
	rowDiskBytes   = 56
	indexDiskBytes = 29
)

// DiskBytes is about what the load will take on disk, to be compared with
// what is free. Random keys leave InnoDB's pages two thirds full, which took
// the recorded tables from 158 to 216 bytes a row: half as much again is added.
func (c Config) DiskBytes() int64 {
	perRow := int64(rowDiskBytes + indexDiskBytes*c.SecondaryIndexes + (c.DataLengthMin+c.DataLengthMax)/2)
	return c.Rows * (perRow + perRow/2)
}
