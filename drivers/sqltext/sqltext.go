// Package sqltext has the statements of both benchmarks that MySQL and
// SQLite both take: the multi-row INSERT, built as text in a reused buffer, and
// the sums that verification compares.
package sqltext

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"insertbench/ibench"
)

// ErrUnsafeData marks a row whose data can't stand between quotes as it is.
// Rows made by ibench.Rows never have such data; it is refused, not escaped,
// since a backslash means different things to different servers.
var ErrUnsafeData = errors.New("data holds a quote, a backslash or a zero byte")

const (
	dateLayout = "2006-01-02 15:04:05"
	// maxRowBytes is the longest row without its data: parentheses, a date in
	// quotes, four int32 of up to 11 characters, quotes around data, commas.
	maxRowBytes = len("(''") + len(dateLayout) + 4*len(",-2147483648") + len(",'')") + len(",")
)

// Insert is one statement being built. It belongs to one goroutine. It doesn't
// allocate per row once its buffer has grown.
type Insert struct {
	buf []byte
	// head is the length of the part before the first row.
	head int
	rows int
	err  error
	// date is the text of second, quoted and with the opening parenthesis,
	// since a thousand rows in a row share it.
	date    []byte
	second  int64
	hasDate bool
}

// NewInsert starts a statement for one table. The name goes into the text as
// it is: callers check it with ibench.CheckTableName first.
func NewInsert(table string) *Insert {
	head := head(table)
	s := &Insert{buf: make([]byte, 0, 16<<10), head: len(head)}
	s.buf = append(s.buf, head...)
	return s
}

func head(table string) string {
	return "INSERT INTO " + table + " (" + strings.Join(ibench.Columns, ",") + ") VALUES "
}

// Append adds a row; nothing of it is kept.
func (s *Insert) Append(row *ibench.Row) {
	if !s.hasDate || row.Seconds != s.second {
		s.setDate(row.Seconds)
	}
	if bytes.IndexByte(row.Data, '\'') >= 0 || bytes.IndexByte(row.Data, '\\') >= 0 || bytes.IndexByte(row.Data, 0) >= 0 {
		s.err = fmt.Errorf("building the INSERT of row %d of client %d: %w", row.Number, row.Client, ErrUnsafeData)
		return
	}
	b := s.buf
	if s.rows > 0 {
		b = append(b, ',')
	}
	b = append(b, s.date...)
	b = strconv.AppendInt(append(b, ','), int64(row.CashRegisterID), 10)
	b = strconv.AppendInt(append(b, ','), int64(row.CustomerID), 10)
	b = strconv.AppendInt(append(b, ','), int64(row.ProductID), 10)
	b = strconv.AppendInt(append(b, ','), int64(row.Price), 10)
	b = append(b, ',', '\'')
	b = append(b, row.Data...)
	s.buf = append(b, '\'', ')')
	s.rows++
}

func (s *Insert) setDate(second int64) {
	s.date = append(s.date[:0], '(', '\'')
	s.date = time.Unix(second, 0).UTC().AppendFormat(s.date, dateLayout)
	s.date = append(s.date, '\'')
	s.second, s.hasDate = second, true
}

// Rows is how many rows the statement holds.
func (s *Insert) Rows() int { return s.rows }

// Text is the statement. It shares the buffer: it is valid until the next
// Append or Reset, and must not be kept. The error is that of a row which
// could not be added.
func (s *Insert) Text() (string, error) {
	if s.err != nil {
		return "", s.err
	}
	// A string over the buffer, without copying it: nothing writes to the
	// buffer while the text is in use, since Text, Append and Reset belong to
	// one goroutine and the drivers copy the text before they return.
	return unsafe.String(unsafe.SliceData(s.buf), len(s.buf)), nil
}

// Reset empties the statement and keeps its buffer.
func (s *Insert) Reset() {
	s.buf = s.buf[:s.head]
	s.rows = 0
	s.err = nil
}

// MaxBytes is an upper bound for the text of a statement of so many rows, each
// with at most so many bytes of data.
func MaxBytes(table string, rows, dataBytes int) int64 {
	return int64(len(head(table))) + int64(rows)*int64(maxRowBytes+dataBytes)
}

// Sums is the query for the fields of ibench.Sums, in their order; zeros for
// an empty table.
func Sums(table string) string {
	return "SELECT COUNT(*), COALESCE(SUM(cashregisterid), 0), COALESCE(SUM(customerid), 0), COALESCE(SUM(productid), 0), " +
		"COALESCE(SUM(price), 0), COALESCE(SUM(LENGTH(data)), 0) FROM " + table
}
