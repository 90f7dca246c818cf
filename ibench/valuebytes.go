package ibench

import (
	"insertbench/internal/load"
	"insertbench/results"
)

// byteMetrics are the bytes of values that a step inserted, and those in all
// rows that the tables hold at its end.
func byteMetrics(c Config, inserted Sums, held int64) map[string]results.Metric {
	m := heldBytes(c, held)(nil)
	m[results.InsertedBytes] = results.Metric{
		Value: results.Known(float64(inserted.ValueBytes())), Unit: "B", Source: "values of the rows acknowledged: 32 bytes and those of data; no headers, no secondary indexes",
	}
	return m
}

// heldBytes is what only the rows in the tables are known of. Lengths of data
// are uniform, so that of many rows the mean says as much as their sum.
func heldBytes(c Config, rows int64) func(*load.Result) map[string]results.Metric {
	mean := rowValueBytes + float64(c.DataLengthMin+c.DataLengthMax)/2
	return func(*load.Result) map[string]results.Metric {
		return map[string]results.Metric{results.LogicalBytes: {
			Value: results.Known(mean * float64(rows)), Unit: "B",
			Source: "rows in the tables × (32 bytes and the mean length of data); no headers, no secondary indexes",
		}}
	}
}
