package results

import (
	"strconv"
	"strings"
)

// Metrics of LinkBench's request steps that aren't derived from deltas.
const (
	TargetRequests = "target_requests_per_second"
	HistoryQueries = "history_queries"

	// Of all requests of a step together, from their intended start where
	// there was a rate.
	LatencyMean = "request_mean_us"
	LatencyP50  = "request_p50_us"
	LatencyP95  = "request_p95_us"
	LatencyP99  = "request_p99_us"
	LatencyP999 = "request_p99_9_us"
	LatencyMax  = "request_max_us"
)

// LinkLoadColumns are LinkBench's load table.
func LinkLoadColumns() []Column {
	columns := []Column{
		scaled("ips", "rows_per_second", 1, "rows/s", 0, "nodes, links and counts acknowledged per second, all loaders"),
	}
	columns = append(columns, costColumns("rMB/s", "wMB/s")...)
	columns = append(columns, linkEngineColumn(KindLoad))
	return append(append(columns, linkColumns()...), wideColumns()...)
}

// RequestColumns are LinkBench's request table.
func RequestColumns() []Column {
	columns := []Column{
		scaled("tps", "requests_per_second", 1, "requests/s", 0, "requests answered per second, all requesters"),
		scaled("r/t", "reads_per_request", 1, "reads/request", 2, "storage reads per request"),
		scaled("rkb/t", "read_kb_per_request", 1, "KiB/request", 2, "KiB read from storage per request"),
		scaled("wkb/t", "written_kb_per_request", 1, "KiB/request", 2, "KiB written to storage per request"),
		scaled("Mcpu/t", "mcpu_per_request", 1, "1e6 × % × s/request", 0, "busy share of the whole host per request; not divided by cores, so only equal hosts compare"),
	}
	levels, perSecond := splitCosts(costColumns("rMB/s", "wMB/s"))
	columns = append(columns, levels...)
	for _, c := range []struct{ name, operation string }{
		{"un", "UPDATE_NODE"}, {"gn", "GET_NODE"}, {"ul", "UPDATE_LINK"}, {"gl", "GET_LINKS_LIST"},
	} {
		columns = append(columns, Column{
			Name: c.name, Meaning: "what 99 % of " + c.operation + " took at most, from the intended start where a rate was set",
			Formula: "p99_us of " + c.operation + " ÷ 1000", Unit: "ms", Decimals: 1,
			Number: func(r Row) *float64 { return p99MS(r.Step.Operations, c.operation) },
		})
	}
	columns = append(columns, perSecond...)
	columns = append(columns, linkEngineColumn(KindRequest))
	return append(append(columns, linkColumns()...), wideRequestColumns()...)
}

// splitCosts parts the columns of size and memory from those per second.
func splitCosts(costs []Column) (levels, perSecond []Column) {
	for i, c := range costs {
		if c.Name == "size" {
			return costs[i : i+2], costs[i+2:]
		}
	}
	return nil, costs
}

// p99MS is an operation's 99th percentile in milliseconds: from the intended
// start where there was a schedule, else from the send.
func p99MS(ops []Operation, name string) *float64 {
	var us *int64
	for _, op := range ops {
		if op.Name == name && (us == nil || op.Kind == KindResponse) {
			us = op.P99US
		}
	}
	if us == nil {
		return nil
	}
	return Known(float64(*us) / 1000)
}

// linkEngineColumn names the line, and in brackets how it differs from a plain
// step of the kind: profile, compat mode, step, whether it is whole.
func linkEngineColumn(plain string) Column {
	return Column{
		Name:    "engine",
		Meaning: "the run's label, or its engine and tag; in brackets profile and compat mode, how transactions were made where that isn't plain, what a resumed load found done, the step where it has a name of its own, and \"partial\"",
		Text:    Row.label,
		Note: func(r Row) string {
			var notes []string
			if l := r.Run.LinkBench; l != nil {
				notes = append(notes, "profile "+l.Profile, "compat "+l.Compat)
				if l.Transactions != "" {
					notes = append(notes, "transactions "+l.Transactions)
				}
			}
			if l := r.Run.LinkBench; l != nil && l.Resumed != "" && r.Step.Kind == KindLoad {
				notes = append(notes, l.Resumed)
			}
			if r.Step.Name != plain {
				notes = append(notes, r.Step.Name)
			}
			if !r.Step.Complete {
				notes = append(notes, "partial")
			}
			return strings.Join(notes, ", ")
		},
	}
}

// linkColumns say in columns of their own what stands in the engine's brackets.
func linkColumns() []Column {
	of := func(field func(*LinkBench) string) func(Row) string {
		return func(r Row) string {
			if r.Run.LinkBench == nil {
				return ""
			}
			return field(r.Run.LinkBench)
		}
	}
	return []Column{
		{Name: "profile", Meaning: "the generation of the workload: 2017, 2011 or demo", Wide: true, Text: of(func(l *LinkBench) string { return l.Profile })},
		{Name: "compat", Meaning: "whose behaviour is followed: 2020, 2013 or off", Wide: true, Text: of(func(l *LinkBench) string { return l.Compat })},
		{Name: "transactions", Meaning: "how a link and its count change together, where that isn't a plain transaction", Wide: true, Text: of(func(l *LinkBench) string { return l.Transactions })},
	}
}

// wideRequestColumns follow the published ones in CSV and where asked for.
func wideRequestColumns() []Column {
	columns := []Column{
		{Name: "step", Meaning: "the step's name", Text: func(r Row) string { return r.Step.Name }},
		{Name: "complete", Meaning: "whether the step did all it was asked for", Text: func(r Row) string { return strconv.FormatBool(r.Step.Complete) }},
		scaled("requests", "requests", 1, "requests", 0, "requests answered"),
		scaled("secs", "window_seconds", 1, "s", 1, "window, first send to last answer"),
		scaled("target", TargetRequests, 1, "requests/s", 0, "requests per second asked for, all requesters"),
		scaled("w/t", "writes_per_request", 1, "writes/request", 3, "storage writes per request"),
		scaled("cs/t", "context_switches_per_request", 1, "switches/request", 3, "context switches of the host per request"),
		scaled("cpu_us/t", "host_cpu_us_per_request", 1, "us/request", 1, "host CPU per request, one core's microseconds"),
		scaled("srv_us/t", "server_cpu_us_per_request", 1, "us/request", 1, "CPU of the server's process tree per request"),
		scaled("cli_us/t", "client_cpu_us_per_request", 1, "us/request", 1, "CPU of this client per request"),
		scaled("rss.max", rssPeakBytes, gib, "GiB", 1, "most memory of the server's process tree at any second"),
		scaled("dirty", dirtyBytesLeft, gib, "GiB", 1, "still to be written back by the kernel at the end"),
		{Name: "size.src", Meaning: "where size comes from", Text: func(r Row) string { return r.Step.Metrics[sizeBytes].Source }},
	}
	for i := range columns {
		columns[i].Wide = true
	}
	return columns
}

// RequestRows are the lines of a request table: warm-ups and request steps in
// their order.
func RequestRows(runs ...*Run) []Row {
	var rows []Row
	for _, run := range runs {
		rows = append(rows, kindRows(run, KindWarmup, KindRequest)...)
	}
	return rows
}

// SweepColumns are the table of latencies by the rate of requests.
func SweepColumns() []Column {
	ms := func(name, metric, meaning string) Column {
		c := scaled(name, metric, 1000, "ms", 2, meaning+", all requests, from the intended start")
		return c
	}
	return []Column{
		scaled("target", TargetRequests, 1, "requests/s", 0, "requests per second asked for, all requesters"),
		scaled("tps", "requests_per_second", 1, "requests/s", 0, "requests answered per second, all requesters"),
		{Name: "met", Meaning: "whether 95 % of the target was reached: met or missed", Text: targetWord},
		ms("mean", LatencyMean, "mean latency"),
		ms("p50", LatencyP50, "latency that 50 % had at most"),
		ms("p95", LatencyP95, "latency that 95 % had at most"),
		ms("p99", LatencyP99, "latency that 99 % had at most"),
		ms("p99.9", LatencyP999, "latency that 99.9 % had at most"),
		ms("max", LatencyMax, "largest latency"),
		scaled("late", "late_operations", 1, "requests", 0, "sent when the next one was due already"),
		scaled("cpu", "host_cpu_percent", 1, "%", 1, "user + nice + system + irq + softirq of the whole host"),
		linkEngineColumn(KindRequest),
	}
}

// SweepRows are the request steps that were asked for a rate.
func SweepRows(runs ...*Run) []Row {
	var rows []Row
	for _, run := range runs {
		for _, r := range kindRows(run, KindRequest) {
			if r.metric(TargetRequests) != nil {
				rows = append(rows, r)
			}
		}
	}
	return rows
}
