package sqltext

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"insertbench/linkbench/graph"
)

// Names of LinkBench's tables, as in the original.
const (
	LinkTable  = "linktable"
	CountTable = "counttable"
	NodeTable  = "nodetable"
)

// LinkIndex is the name of the link table's secondary index.
const LinkIndex = "id1_type"

// GraphTables are LinkBench's tables.
var GraphTables = []string{NodeTable, LinkTable, CountTable}

// IsGraphTable tells whether a table is one of LinkBench's.
func IsGraphTable(name string) bool {
	return name == LinkTable || name == CountTable || name == NodeTable
}

// Columns in the order in which this package writes and reads them.
const (
	LinkColumns  = "id1, id2, link_type, visibility, data, time, version"
	CountColumns = "id, link_type, count, time, version"
	NodeColumns  = "id, type, version, time, data"
)

// maxGraphRowBytes is above the longest row's text without its payload:
// six integers of up to 20 characters, punctuation and quotes.
const maxGraphRowBytes = 6*20 + 20

// Literal appends bytes as a literal of some SQL.
type Literal func(dst, data []byte) []byte

// Hex appends a literal of hexadecimal digits: X'00ff'.
func Hex(dst, data []byte) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, 'X', '\'')
	for _, c := range data {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return append(dst, '\'')
}

// special are the bytes that MySQL's quotes need a backslash before.
var special = [256]bool{0: true, '\'': true, '\\': true}

// Backslashed appends a literal as MySQL takes it, unless sql_mode has
// NO_BACKSLASH_ESCAPES. The bytes mean themselves where the session's
// character set is binary.
func Backslashed(dst, data []byte) []byte {
	dst = append(dst, '\'')
	begin := 0
	for i, c := range data {
		if !special[c] {
			continue
		}
		dst = append(dst, data[begin:i]...)
		if c == 0 {
			c = '0'
		}
		dst = append(dst, '\\', c)
		begin = i + 1
	}
	dst = append(dst, data[begin:]...)
	return append(dst, '\'')
}

// Batch is a multi-row INSERT being built. It belongs to one goroutine and
// doesn't allocate per row once its buffer has grown.
type Batch[Row any] struct {
	buf     []byte
	head    int // length before the first row
	tail    string
	rows    int
	literal Literal
	values  func(dst []byte, row *Row, literal Literal) []byte
}

func newBatch[Row any](table, columns string, literal Literal, values func([]byte, *Row, Literal) []byte) *Batch[Row] {
	head := "INSERT INTO " + table + " (" + columns + ") VALUES "
	return &Batch[Row]{buf: []byte(head), head: len(head), literal: literal, values: values}
}

// NewNodes starts an INSERT of nodes, with their ids.
func NewNodes(literal Literal) *Batch[graph.Node] {
	return newBatch(NodeTable, NodeColumns, literal, nodeValues)
}

// NewLinks starts an INSERT of links.
func NewLinks(literal Literal) *Batch[graph.Link] {
	return newBatch(LinkTable, LinkColumns, literal, LinkValues)
}

// NewCounts starts an INSERT of counts.
func NewCounts() *Batch[graph.Count] {
	return newBatch(CountTable, CountColumns, nil, countValues)
}

// Append adds a row; nothing of it is kept.
func (b *Batch[Row]) Append(row *Row) {
	if b.rows > 0 {
		b.buf = append(b.buf, ',')
	}
	b.buf = b.values(b.buf, row, b.literal)
	b.rows++
}

// Rows is how many rows the statement holds.
func (b *Batch[Row]) Rows() int { return b.rows }

// Text is the statement, valid until the next Append or Reset.
func (b *Batch[Row]) Text() string {
	if b.tail == "" {
		return Text(b.buf)
	}
	end := len(b.buf)
	whole := append(b.buf, b.tail...)
	b.buf = whole[:end]
	return Text(whole)
}

// Filling makes the statement end with what says that rows are left alone
// whose keys exist.
func (b *Batch[Row]) Filling(tail string) *Batch[Row] {
	b.tail = " " + tail
	return b
}

// Reset empties the statement and keeps its buffer.
func (b *Batch[Row]) Reset() { b.buf, b.rows = b.buf[:b.head], 0 }

// Text is a string over a buffer, without copying it: it must not be used
// once the buffer is written to again. The drivers copy a statement's text
// before they return.
func Text(buf []byte) string { return unsafe.String(unsafe.SliceData(buf), len(buf)) }

// MaxBatchBytes is above the text of a bulk insert of so many rows and bytes
// of payload, whose literals take up to factor bytes for one.
func MaxBatchBytes(rows, payloadBytes, factor int) int64 {
	// Above "INSERT INTO linktable (…) VALUES " and " ON DUPLICATE KEY UPDATE …".
	const head = 170
	return head + int64(rows)*maxGraphRowBytes + int64(payloadBytes)*int64(factor)
}

func comma(dst []byte, n int64) []byte { return strconv.AppendInt(append(dst, ','), n, 10) }

// LinkValues appends the values of LinkColumns, in parentheses.
func LinkValues(dst []byte, l *graph.Link, literal Literal) []byte {
	dst = strconv.AppendInt(append(dst, '('), l.ID1, 10)
	dst = comma(dst, l.ID2)
	dst = comma(dst, l.Type)
	dst = comma(dst, int64(l.Visibility))
	dst = literal(append(dst, ','), l.Data)
	dst = comma(dst, l.TimeMS)
	return append(comma(dst, int64(l.Version)), ')')
}

func countValues(dst []byte, c *graph.Count, _ Literal) []byte {
	dst = strconv.AppendInt(append(dst, '('), c.ID, 10)
	dst = comma(dst, c.Type)
	dst = comma(dst, c.Count)
	dst = comma(dst, c.TimeMS)
	return append(comma(dst, c.Version), ')')
}

func nodeValues(dst []byte, n *graph.Node, literal Literal) []byte {
	dst = strconv.AppendInt(append(dst, '('), n.ID, 10)
	dst = comma(dst, int64(n.Type))
	dst = comma(dst, n.Version)
	dst = comma(dst, int64(n.TimeS))
	return append(literal(append(dst, ','), n.Data), ')')
}

// MultigetText is the text of a query of so many links of an id and type.
func MultigetText(from string, links int) string {
	return "SELECT " + LinkColumns + " FROM " + from + " WHERE id1 = ? AND link_type = ? AND id2 IN (?" + strings.Repeat(", ?", links-1) + ")"
}

// ListText is the text of a list query. Parameters are id1, link_type, the
// least and the greatest time, limit and offset.
func ListText(from string) string {
	return "SELECT " + LinkColumns + " FROM " + from +
		" WHERE id1 = ? AND link_type = ? AND time >= ? AND time <= ? AND visibility = 1 ORDER BY time DESC LIMIT ? OFFSET ?"
}

// SumNodesText and the two below are what verification reads; parameters are
// the ids from and to, for links and counts after the type.
const SumNodesText = "SELECT COUNT(*), COALESCE(SUM(LENGTH(data)), 0) FROM " + NodeTable + " WHERE id >= ? AND id < ?"

// SumLinksText sums up by id1; from is the link table with its hint.
func SumLinksText(from string) string {
	return "SELECT id1, COUNT(*), SUM(visibility = 1), SUM(id2), SUM(LENGTH(data)) FROM " + from +
		" WHERE link_type = ? AND id1 >= ? AND id1 < ? GROUP BY id1 ORDER BY id1"
}

// ScanCountsText reads count rows.
const ScanCountsText = "SELECT " + CountColumns + " FROM " + CountTable + " WHERE link_type = ? AND id >= ? AND id < ? ORDER BY id"

// Set sets the parameters to integers.
func (s *Statement) Set(numbers ...int64) {
	for i, n := range numbers {
		s.args[i].Value = n
	}
}

// SetAt sets one parameter to an integer.
func (s *Statement) SetAt(i int, n int64) { s.args[i].Value = n }

// SetData sets one parameter to bytes, which are used until the statement is run.
func (s *Statement) SetData(i int, data []byte) {
	if data == nil {
		data = []byte{} // nil would be NULL
	}
	s.args[i].Value = data
}

// Params is how many parameters there are.
func (s *Statement) Params() int { return len(s.args) }

// Exec runs a statement without a result.
func (s *Statement) Exec(ctx context.Context) (driver.Result, error) {
	exec, ok := s.stmt.(driver.StmtExecContext)
	if !ok {
		return nil, errors.New("the driver can't execute a prepared statement")
	}
	return exec.ExecContext(ctx, s.args)
}

// Links runs a query of LinkColumns. The link that visit sees is valid during
// the call.
func (s *Statement) Links(ctx context.Context, visit func(*graph.Link)) error {
	var l graph.Link
	return s.each(ctx, func(row []driver.Value) error {
		c := cells{row: row}
		l.ID1, l.ID2, l.Type = c.integer(0), c.integer(1), c.integer(2)
		l.Visibility, l.Data = int8(c.integer(3)), c.bytes(4)
		l.TimeMS, l.Version = c.integer(5), int32(c.integer(6))
		if c.err == nil {
			visit(&l)
		}
		return c.err
	})
}

// Node runs a query of NodeColumns for one row. The payload is copied to data's
// array, which is grown where it is too small.
func (s *Statement) Node(ctx context.Context, n *graph.Node, data []byte) (found bool, err error) {
	err = s.each(ctx, func(row []driver.Value) error {
		c := cells{row: row}
		n.ID, n.Type, n.Version, n.TimeS = c.integer(0), int32(c.integer(1)), c.integer(2), int32(c.integer(3))
		n.Data = append(data[:0], c.bytes(4)...)
		found = c.err == nil
		return c.err
	})
	return found, err
}

// cells reads the values of a row and keeps the first error.
type cells struct {
	row []driver.Value
	err error
}

func (c *cells) integer(i int) int64 {
	if n, ok := c.row[i].(int64); ok {
		return n
	}
	n, err := integer(c.row[i])
	if err != nil && c.err == nil {
		c.err = err
	}
	return n
}

func (c *cells) bytes(i int) []byte {
	switch data := c.row[i].(type) {
	case []byte:
		return data
	case string:
		return []byte(data)
	}
	if c.err == nil {
		c.err = fmt.Errorf("column data is a %T", c.row[i])
	}
	return nil
}
