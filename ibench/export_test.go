package ibench

import "insertbench/internal/load"

// NewInsertTask gives the benchmark of the client's cost the task that a load runs.
var NewInsertTask = newInsertTask

// NewReadTask gives the benchmark of a query's cost the task that a step runs,
// on the rows of a load by client 0, for so many queries.
func NewReadTask(c Config, kind QueryKind, rows int, q Querier, loaded, queries int64) load.Task {
	own := newStream(0, Position{Inserted: loaded})
	return &bounded{queries, &readTask{
		table: TableName(0), kind: kind, op: 1, rows: rows, indexes: len(Indexes), spec: c.RowSpec, querier: q,
		streams: []*stream{own}, own: own, ownRows: NewRows(c.Seed, 0, c.RowSpec), samples: sampler{size: samplesPerStep},
	}}
}

// bounded ends a task after so many operations.
type bounded struct {
	left int64
	*readTask
}

func (t *bounded) Next() bool {
	t.left--
	return t.left >= 0 && t.readTask.Next()
}
