package step

import (
	"insertbench/internal/load"
	"insertbench/results"
)

// Role is what a worker does where not all of them insert.
type Role string

// Writers' units are rows inserted, deleters' rows deleted, readers' queries
// answered. Rates and stalls are kept of writers and readers.
const (
	Writer  Role = "writer"
	Deleter Role = "deleter"
	Reader  Role = "reader"
)

// Worker says who a worker of Spec.Run is.
type Worker struct {
	Client int
	Role   Role
}

// The operations of a run whose workers have roles.
const (
	OpInsert = "insert"
	OpDelete = "delete"
	OpQuery  = "query"
)

// worker is who worker i is; without roles each worker is a client that inserts.
func (s *measure) worker(i int) Worker {
	if len(s.spec.Workers) == 0 {
		return Worker{Client: i, Role: Writer}
	}
	return s.spec.Workers[i]
}

// rows is how many rows were acknowledged by those who insert, queries how
// many queries were answered; negative where nobody was to do so.
func (s *measure) rowsAndQueries(res *load.Result) (rows, queries int64) {
	if len(s.spec.Workers) == 0 {
		return res.Units(), -1
	}
	rows, queries = -1, -1
	for _, op := range res.Ops {
		switch op.Name {
		case OpInsert:
			rows = op.Units
		case OpQuery:
			queries = op.Count
		}
	}
	return rows, queries
}

// client is what the record says of worker i.
func (s *measure) client(i int, w load.WorkerResult) results.Client {
	who := s.worker(i)
	c := results.Client{Client: who.Client, RowsUnknown: w.Unknown, RowsRefused: w.Refused}
	if len(s.spec.Workers) > 0 {
		c.Role = string(who.Role)
	}
	switch who.Role {
	case Deleter:
		c.RowsDeleted = &w.Units
	case Reader:
		c.Queries = &w.Units
		if s.spec.Rates {
			c.P50QueriesPerSecond = results.RatePercentile(w.Rates, 50)
			c.P99QueriesPerSecond = results.RatePercentile(w.Rates, 99)
		}
	default:
		c.RowsAcknowledged = w.Units
		if w.Ops > 0 {
			c.MaxInsertSeconds = results.Known(float64(w.MaxUS) / 1e6)
		}
		if s.spec.Rates {
			results.SetRates(&c, w.Rates)
			c.P50RowsPerSecond = results.RatePercentile(w.Rates, 50)
		}
	}
	switch {
	case w.Err != nil:
		c.Error = w.Err.Error()
	case w.Hung:
		c.Error = "given up with a statement under way, whose outcome is unknown"
	}
	return c
}

// writers are the clients whose rates of rows mean something.
func writers(clients []results.Client) []results.Client {
	var out []results.Client
	for _, c := range clients {
		if c.Role == "" || c.Role == string(Writer) {
			out = append(out, c)
		}
	}
	return out
}

// counts are what each client got acknowledged in an interval.
func (s *measure) counts(iv *load.Interval) (rows, queries []int64) {
	for i, w := range iv.Workers {
		switch s.worker(i).Role {
		case Writer:
			rows = append(rows, w.Units)
		case Reader:
			queries = append(queries, w.Units)
		}
	}
	return rows, queries
}

// stalled are the clients among the stalled workers, but for those that only
// delete: they wait for inserts.
func (s *measure) stalled(iv *load.Interval) []int {
	if len(s.spec.Workers) == 0 {
		return iv.Stalled
	}
	var clients []int
	for _, i := range iv.Stalled {
		if w := s.worker(i); w.Role != Deleter {
			clients = append(clients, w.Client)
		}
	}
	return clients
}

// paceMetrics say how the schedules were kept, where there were any.
func paceMetrics(run load.Run, res *load.Result) map[string]results.Metric {
	paced := false
	for _, w := range run.Workers {
		paced = paced || w.Pacer != nil
	}
	if !paced {
		return nil
	}
	p := res.Pace()
	metric := func(v int64, unit, source string) results.Metric {
		return results.Metric{Value: results.Known(float64(v)), Unit: unit, Source: source}
	}
	return map[string]results.Metric{
		"late_operations":    metric(p.Late, "operations", "sent when the next one was due already"),
		"dropped_operations": metric(p.Dropped, "operations", "due and never sent"),
		"max_delay_us":       metric(p.MaxDelayUS, "us", "longest time from intended to sent"),
	}
}
