package mysql

import (
	"testing"

	"insertbench/drivers/sqltext"
	"insertbench/ibench"
)

// BenchmarkEncode is the cost of one row's text, without making the row.
func BenchmarkEncode(b *testing.B) {
	const rowsPerCommit = 100
	stream := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
	rows := make([]ibench.Row, rowsPerCommit)
	for i := range rows {
		stream.At(int64(i), &rows[i])
	}
	benchmarkRows(b, rowsPerCommit, func(i int, s *sqltext.Insert) { s.Append(&rows[i]) })
}

// BenchmarkGenerateAndEncode is the cost of making a row and its text.
func BenchmarkGenerateAndEncode(b *testing.B) {
	stream := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
	var row ibench.Row
	var next int64
	benchmarkRows(b, 100, func(_ int, s *sqltext.Insert) {
		stream.At(next, &row)
		s.Append(&row)
		next++
	})
}

// benchmarkRows makes an operation of each row: ns/op is nanoseconds per row.
func benchmarkRows(b *testing.B, rowsPerCommit int, appendRow func(i int, s *sqltext.Insert)) {
	b.ReportAllocs()
	s := sqltext.NewInsert("pi1")
	i := 0
	for b.Loop() {
		if i == rowsPerCommit {
			s.Reset()
			i = 0
		}
		appendRow(i, s)
		i++
	}
}
