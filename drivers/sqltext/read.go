package sqltext

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"insertbench/ibench"
)

// RangeText is the text of the range query of an index: covering, in the order
// of the index, with one parameter. from is the table with the hint, as
// "pi1 FORCE INDEX (pi1_pdc)". The original's query of registersegment begins
// behind the value; here all three begin at it, as its MongoDB form does.
func RangeText(from string, x ibench.Index, limit int) string {
	columns := strings.Join(x.Columns, ", ")
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s >= ? ORDER BY %s LIMIT %d", columns, from, x.Columns[0], columns, limit)
}

// PointText is the text of a point query of so many keys.
func PointText(from string, rows int) string {
	return fmt.Sprintf("SELECT %[1]s, productid, data FROM %[2]s WHERE %[1]s IN (?%[3]s)", ibench.KeyColumn, from, strings.Repeat(", ?", rows-1))
}

// ScanText is the text of a full scan that counts what it read. A column that
// may be NULL, or a condition, keeps it from being answered without reading.
func ScanText(from string, index int) string {
	if index == ibench.PrimaryKey {
		return "SELECT COUNT(data) FROM " + from
	}
	return fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s >= 0", from, ibench.Indexes[index].Columns[0])
}

// Statement is a prepared query and the buffers that it reuses.
type Statement struct {
	stmt  driver.Stmt
	query driver.StmtQueryContext
	args  []driver.NamedValue
	row   []driver.Value
}

// Prepare prepares a query with integer parameters on a connection.
func Prepare(conn driver.Conn, text string) (*Statement, error) {
	stmt, err := conn.Prepare(text)
	if err != nil {
		return nil, err
	}
	query, ok := stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, errors.Join(errors.New("the driver can't query a prepared statement"), stmt.Close())
	}
	s := &Statement{stmt: stmt, query: query, args: make([]driver.NamedValue, strings.Count(text, "?"))}
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	return s, nil
}

// Close ends the statement.
func (s *Statement) Close() error { return s.stmt.Close() }

// each runs the query and calls row for each of the result's rows, whose
// values are valid during the call.
func (s *Statement) each(ctx context.Context, row func([]driver.Value) error) (err error) {
	rows, err := s.query.QueryContext(ctx, s.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if s.row == nil {
		s.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		err := rows.Next(s.row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = row(s.row)
		}
		if err != nil {
			return err
		}
	}
}

// Number runs a query whose result is one integer; ok is false where it is NULL.
func (s *Statement) Number(ctx context.Context) (n int64, ok bool, err error) {
	err = s.each(ctx, func(row []driver.Value) error {
		if ok = row[0] != nil; !ok {
			return nil
		}
		var err error
		n, err = integer(row[0])
		return err
	})
	return n, ok, err
}

// Range runs a RangeText.
func (s *Statement) Range(ctx context.Context, from int64, dst []ibench.Entry) ([]ibench.Entry, error) {
	s.args[0].Value = from
	err := s.each(ctx, func(row []driver.Value) error {
		var e ibench.Entry
		for i := range e {
			var err error
			if e[i], err = integer(row[i]); err != nil {
				return err
			}
		}
		dst = append(dst, e)
		return nil
	})
	return dst, err
}

// Points runs a PointText. Keys are one more than numbers.
func (s *Statement) Points(ctx context.Context, numbers []int64, dst []ibench.PointRow) ([]ibench.PointRow, error) {
	for i, n := range numbers {
		s.args[i].Value = n + 1
	}
	err := s.each(ctx, func(row []driver.Value) error {
		key, err := integer(row[0])
		if err != nil {
			return err
		}
		product, err := integer(row[1])
		if err != nil {
			return err
		}
		var p ibench.PointRow
		if len(dst) < cap(dst) {
			p = dst[:len(dst)+1][len(dst)]
		}
		p.Number, p.ProductID = key-1, int32(product)
		switch data := row[2].(type) {
		case []byte:
			p.Data = append(p.Data[:0], data...)
		case string:
			p.Data = append(p.Data[:0], data...)
		default:
			return fmt.Errorf("column data is a %T", row[2])
		}
		dst = append(dst, p)
		return nil
	})
	return dst, err
}

// integer reads an integer, or a date and time as Unix seconds.
func integer(v driver.Value) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case time.Time:
		return v.Unix(), nil
	case []byte:
		return textInteger(string(v))
	case string:
		return textInteger(v)
	default:
		return 0, fmt.Errorf("a %T where an integer or a date was expected", v)
	}
}

func textInteger(text string) (int64, error) {
	if len(text) >= len(dateLayout) {
		return seconds(text)
	}
	return strconv.ParseInt(text, 10, 64)
}

// seconds reads a date and time in dateLayout, in a sixth of the time that
// time.Parse takes: a range of pdc has ten of them.
func seconds(text string) (int64, error) {
	var part [6]int // year to second
	at := 0
	for i := 0; i < len(dateLayout); i++ {
		c := text[i]
		switch {
		case dateLayout[i] < '0' || dateLayout[i] > '9':
			if c != dateLayout[i] {
				return 0, fmt.Errorf("%q is no date and time", text)
			}
			at++
		case c < '0' || c > '9':
			return 0, fmt.Errorf("%q is no date and time", text)
		default:
			part[at] = part[at]*10 + int(c-'0')
		}
	}
	return time.Date(part[0], time.Month(part[1]), part[2], part[3], part[4], part[5], 0, time.UTC).Unix(), nil
}
