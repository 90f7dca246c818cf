// Package linkbench is LinkBench: loading a social graph, the ten operations
// on it, and their verification. What is sent comes from package stream; this
// package declares what a database must do, sends, counts and checks.
package linkbench

import (
	"context"
	"fmt"

	"insertbench/drivers"
	"insertbench/linkbench/graph"
)

// Database is what LinkBench asks of a database. Methods are called from one
// goroutine; what Connections opens works side by side.
type Database interface {
	drivers.Server
	Tables
	Connections
	Auditor
}

// Tables makes and removes the tables of nodes, links and counts, and nothing
// else. Their names are the driver's configuration.
type Tables interface {
	// ListTables gives the names of those of the three tables that exist.
	ListTables(ctx context.Context) ([]string, error)
	// CreateTables makes the three tables with their primary keys. One that
	// exists is an error of kind drivers.ErrConfig, and so is an engine read
	// back that isn't the one asked for.
	CreateTables(ctx context.Context, l Layout) error
	// CreateIndex builds the secondary index of the link table.
	CreateIndex(ctx context.Context, l Layout) error
	// DropTables removes those of the three tables that exist.
	DropTables(ctx context.Context) error
}

// Layout is how the tables are made. The zero value is the scripts' default:
// no partitions, no compression, a covering index.
type Layout struct {
	// Partitions is how many partitions each table has, links by id1, nodes
	// and counts by id; 0 for none.
	Partitions int `json:"partitions"`
	// KeyBlockKB is InnoDB's KEY_BLOCK_SIZE; 0 for no compression.
	KeyBlockKB int   `json:"key_block_kb"`
	Index      Index `json:"index"`
	// ColumnFamilies puts each index of MyRocks into a family of its own.
	ColumnFamilies bool `json:"column_families"`
	// FirstNewNode is the least id that AddNode may give: the end of the ids
	// that are loaded.
	FirstNewNode int64 `json:"first_new_node"`
}

// Index is the secondary index of the link table, id1_type.
type Index string

// The variants of the scripts: (id1, link_type, visibility, time, id2,
// version, data), which answers list queries by itself, and (id1, link_type,
// visibility, time).
const (
	IndexCovering Index = "covering"
	IndexShort    Index = "short"
)

// Connections opens connections, each for one goroutine.
type Connections interface {
	// CheckBatch refuses bulk inserts of so many rows or bytes of payload that
	// the server wouldn't take; kind drivers.ErrConfig.
	CheckBatch(ctx context.Context, rows, payloadBytes int) error
	OpenLoader(ctx context.Context) (Loader, error)
	OpenClient(ctx context.Context) (Client, error)
}

// Conn is a connection. It belongs to one goroutine, but for Abort.
type Conn interface {
	// Abort closes the connection under a call that doesn't return; that call
	// then fails with class Unknown. It may be called by any goroutine, twice.
	Abort()
	// Close ends the connection.
	Close() error
}

// Loader is a connection of the load. Its batches are independent of each
// other; each is a statement committed by itself, as in the original.
type Loader interface {
	Conn
	Nodes() Batch[graph.Node]
	Links() Batch[graph.Link]
	Counts() Batch[graph.Count]
}

// Batch is a bulk insert into one table.
type Batch[Row any] interface {
	// Append adds a row. It keeps nothing of row and doesn't allocate once its
	// buffer has grown.
	Append(row *Row)
	// Insert sends what was appended as one statement and waits for the
	// acknowledgement. Errors are *drivers.Error. The statement is kept until
	// Reset, so that it can be sent again after a Retryable error.
	Insert(ctx context.Context) error
	// Reset empties the statement.
	Reset()
}

// Client is a connection of a requester. Every operation is one attempt:
// errors are *drivers.Error, and after a Retryable one, of which nothing was
// kept, the same call can be made again. Nothing that is passed in is kept.
type Client interface {
	Conn
	LinkWriter
	LinkReader
	NodeStore
}

// LinkWriter changes links. Each operation is one transaction that keeps the
// count row equal to the number of visible links.
type LinkWriter interface {
	// AddLink inserts a link; one that exists is updated as by UpdateLink,
	// which then is the Effect.
	AddLink(ctx context.Context, l *graph.Link) (Effect, error)
	// UpdateLink sets visibility, data, version and time of a link; one that
	// doesn't exist is inserted as by AddLink.
	UpdateLink(ctx context.Context, l *graph.Link) (Effect, error)
	// DeleteLink hides a link.
	DeleteLink(ctx context.Context, id1, linkType, id2 int64) (Effect, error)
}

// LinkReader reads links. visit is called with each one in turn; the link is
// valid during the call. Drivers decode all columns of all rows.
type LinkReader interface {
	// CountLinks reads a count row, 0 where there is none.
	CountLinks(ctx context.Context, id1, linkType int64) (int64, error)
	// MultigetLinks reads those of the links that exist, hidden ones too, each
	// once, in one round trip.
	MultigetLinks(ctx context.Context, id1, linkType int64, id2s []int64, visit func(*graph.Link)) error
	// ListLinks reads a page of the visible links, newest first.
	ListLinks(ctx context.Context, q *ListQuery, visit func(*graph.Link)) error
}

// ListQuery asks for links of an id and type with MinTimeMS ≤ time ≤ MaxTimeMS.
type ListQuery struct {
	ID1, Type            int64
	MinTimeMS, MaxTimeMS int64
	Offset, Limit        int
}

// NodeStore reads and changes nodes, each by one statement.
type NodeStore interface {
	// AddNode inserts a node under an id of its own, which is returned. No two
	// client processes are given the same.
	AddNode(ctx context.Context, n *graph.Node) (int64, error)
	// UpdateNode sets version, time and data where id and type match.
	UpdateNode(ctx context.Context, n *graph.Node) (found bool, err error)
	// DeleteNode removes a node where id and type match.
	DeleteNode(ctx context.Context, id int64, nodeType int32) (found bool, err error)
	// GetNode reads a node into n, whose data is valid until the client's next
	// call; one of another type isn't found.
	GetNode(ctx context.Context, id int64, nodeType int32, n *graph.Node) (found bool, err error)
}

// Effect is what a write of a link came to.
type Effect uint8

// Unchanged: it was so already, or there was nothing to delete.
const (
	Unchanged Effect = iota
	Inserted
	Updated
	Hidden
)

func (e Effect) String() string {
	switch e {
	case Unchanged:
		return "unchanged"
	case Inserted:
		return "inserted"
	case Updated:
		return "updated"
	case Hidden:
		return "hidden"
	}
	return fmt.Sprintf("effect %d", uint8(e))
}

// Auditor reads the tables back for verification, from ≤ id < to in ascending
// order of id, with memory that doesn't depend on their size. One id may have
// millions of links. The secondary index may be missing.
type Auditor interface {
	// TableRows counts all rows.
	TableRows(ctx context.Context) (Rows, error)
	SumNodes(ctx context.Context, from, to int64) (NodeSums, error)
	// SumLinks visits a sum for each id1 that has links of the type.
	SumLinks(ctx context.Context, linkType, from, to int64, visit func(LinkSums) error) error
	// ScanCounts visits the count rows of the type.
	ScanCounts(ctx context.Context, linkType, from, to int64, visit func(graph.Count) error) error
}

// Rows are the sizes of the three tables.
type Rows struct{ Nodes, Links, Counts int64 }

// NodeSums sums up nodes.
type NodeSums struct{ Rows, DataBytes int64 }

// LinkSums sums up the links of an id and type.
type LinkSums struct {
	ID1       int64
	Links     int64
	Visible   int64
	SumID2    int64
	DataBytes int64
}
