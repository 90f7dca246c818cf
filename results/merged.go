package results

// MergedRows are the lines of the 21-column row: every step that inserts,
// builds indexes or answers queries.
func MergedRows(runs ...*Run) []Row {
	var rows []Row
	for _, run := range runs {
		rows = append(rows, kindRows(run, KindLoad, KindIndex, KindWrite)...)
	}
	return rows
}

// MergedColumns are the 21 columns of the original's merged row (etl.sh,
// mdcallag/mytools). Per-operation columns whose names end in q are per query
// in a step with queries, per row in others; those that end in i per row.
// Unlike the original's, p50 and p99 are means over all clients, a window has
// no start-up sleeps in it, and rss is the whole process tree's.
func MergedColumns() []Column {
	return []Column{
		scaled("ips", "rows_per_second", 1, "rows/s", 0, "rows acknowledged per second, all clients"),
		{
			Name: "qps", Meaning: "queries answered per second; 0 in a step without", Formula: "queries ÷ window_seconds", Unit: "queries/s",
			Number: func(r Row) *float64 {
				if !r.queries() {
					return Known(0)
				}
				return r.metric("queries_per_second")
			},
		},
		scaled("rps", "reads_per_second", 1, "reads/s", 0, "storage reads per second"),
		scaled("rmbps", "read_kb_per_second", mibKB, "MiB/s", 1, "read from storage per second"),
		scaled("wps", "writes_per_second", 1, "writes/s", 0, "storage writes per second"),
		scaled("wmbps", "written_kb_per_second", mibKB, "MiB/s", 1, "written to storage per second"),
		perOperation("rpq", "reads_per_", "reads", 3, "storage reads per query or row"),
		perOperation("rkbpq", "read_kb_per_", "KiB", 3, "KiB read from storage per query or row"),
		scaled("wpi", "writes_per_row", 1, "writes/row", 3, "storage writes per row"),
		scaled("wkbpi", "written_kb_per_row", 1, "KiB/row", 3, "KiB written to storage per row"),
		scaled("csps", "context_switches_per_second", 1, "switches/s", 0, "context switches of the host per second"),
		scaled("cpups", "host_cpu_percent", 1, "%", 1, "user + nice + system + irq + softirq of the whole host"),
		perOperation("cspq", "context_switches_per_", "switches", 3, "context switches per query or row"),
		perOperation("cpupq", "host_cpu_us_per_", "us", 0, "host CPU per query or row, one core's microseconds, client and server and system"),
		scaled("dbgb1", databaseBytes, gib, "GiB", 1, "the benchmark's tables, by the server's own figure"),
		scaled("dbgb2", sizeBytes, gib, "GiB", 1, "data directory on disk at the end"),
		scaled("rss", rssBytes, gib, "GiB", 1, "memory of the server's process tree at the end"),
		{
			Name: "maxop", Meaning: "slowest query in a step with queries, else slowest insert", Formula: "max_us of query or insert ÷ 1000000", Unit: "s", Decimals: 3,
			Number: func(r Row) *float64 {
				if r.queries() {
					return maxSeconds(r.Step.Operations, "query")
				}
				return maxSeconds(r.Step.Operations, "insert")
			},
		},
		clientRate("p50", 50),
		clientRate("p99", 99),
		{
			Name: "tag", Meaning: "the step, then the run's label or engine and tag",
			Text: func(r Row) string {
				text := r.Step.Name + "." + r.label()
				if !r.Step.Complete {
					text += " (partial)"
				}
				return text
			},
		},
	}
}

// mibKB is how many kB make the MB of the 21-column row.
const mibKB = 1024

// queries is whether the step was to answer queries.
func (r Row) queries() bool { return r.Step.Metrics["queries"].Value != nil }

// perOperation is a cost per query where there are queries, else per row.
func perOperation(name, prefix, unit string, decimals int, meaning string) Column {
	return Column{
		Name: name, Meaning: meaning, Formula: prefix + "query, or " + prefix + "row", Unit: unit + "/query or row", Decimals: decimals,
		Number: func(r Row) *float64 {
			if r.queries() {
				return r.metric(prefix + "query")
			}
			return r.metric(prefix + "row")
		},
	}
}

// clientRate is the mean over clients of a percentile of their rates.
func clientRate(name string, percent int) Column {
	return Column{
		Name: name, Meaning: "rate of queries, else rows, that so many % of a client's full one-second intervals reach or beat, mean over clients; none below 10 intervals",
		Formula: name + "_queries_per_second, or " + name + "_rows_per_second, of the clients", Unit: "1/s",
		Number: func(r Row) *float64 {
			var sum, n float64
			for i := range r.Step.Clients {
				c := &r.Step.Clients[i]
				v := c.P50RowsPerSecond
				switch {
				case r.queries() && c.Role != "reader", !r.queries() && c.Role != "" && c.Role != "writer":
					continue
				case r.queries() && percent == 50:
					v = c.P50QueriesPerSecond
				case r.queries():
					v = c.P99QueriesPerSecond
				case percent == 99:
					v = c.P99RowsPerSecond
				}
				if v == nil {
					return nil
				}
				sum += *v
				n++
			}
			return divide(1, &sum, &n)
		},
	}
}
