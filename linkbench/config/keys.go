package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/degree"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/payload"
)

// Key is a setting of the original's properties files.
type Key struct {
	Name    string
	Meaning string // for the options page: values, unit, what it sets
	// Ignored says why a known key has no effect here; empty for keys that have one.
	Ignored string
	set     func(c *Config, value string) error
}

// Keys lists every key of both generations of the original, in the order of the options page.
func Keys() []Key {
	var keys []Key
	for _, part := range [][]Key{storeKeys(), runKeys(), graphKeys(), payloadKeys(), mixKeys(), accessKeys(), ignoredKeys()} {
		keys = append(keys, part...)
	}
	return keys
}

// The setters below turn a field into a key's effect; their errors name the value, Apply adds the key.

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func whole[T int | int64](field func(*Config) *T) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || int64(T(n)) != n {
			return fmt.Errorf("%q is not a whole number", v)
		}
		*field(c) = T(n)
		return nil
	}
}

func real(field func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, v string) error {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%q is not a number", v)
		}
		*field(c) = x
		return nil
	}
}

// boolean is Java's Boolean.parseBoolean except that what is neither true nor false is an error.
func boolean(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		switch strings.ToLower(v) {
		case "true":
			*field(c) = true
		case "false":
			*field(c) = false
		default:
			return fmt.Errorf("%q is neither true nor false", v)
		}
		return nil
	}
}

func parsed[T any](field func(*Config) *T, parse func(string) (T, error)) func(*Config, string) error {
	return func(c *Config, v string) error {
		x, err := parse(v)
		if err == nil {
			*field(c) = x
		}
		return err
	}
}

func storeKeys() []Key {
	return []Key{
		{Name: "linkstore", Meaning: "class of the link store; the database is chosen by it", set: text(func(c *Config) *string { return &c.Store.Class })},
		{Name: "nodestore", Meaning: "class of the node store, the same as linkstore", set: text(func(c *Config) *string { return &c.Store.NodeClass })},
		{Name: "host", Meaning: "server host", set: text(func(c *Config) *string { return &c.Store.Host })},
		{Name: "port", Meaning: "server port", set: text(func(c *Config) *string { return &c.Store.Port })},
		{Name: "user", Meaning: "user", set: text(func(c *Config) *string { return &c.Store.User })},
		{Name: "password", Meaning: "password", set: text(func(c *Config) *string { return &c.Store.Password })},
		{Name: "url", Meaning: "connection URL, wins over host and port", set: text(func(c *Config) *string { return &c.Store.URL })},
		{Name: "dbprefix", Meaning: "database name without its index, 0", set: func(c *Config, v string) error {
			c.Store.Database = v + "0"
			return nil
		}},
		{Name: "dbid", Meaning: "database name (first release)", set: text(func(c *Config) *string { return &c.Store.Database })},
		{Name: "dbcount", Meaning: "number of databases, 1", set: func(c *Config, v string) error {
			if v != "1" {
				return fmt.Errorf("%q: one process drives one database; start one process for each", v)
			}
			return nil
		}},
		{Name: "dbload", Meaning: "shares of the databases, 100 or empty", set: func(c *Config, v string) error {
			if v != "" && v != "100" {
				return fmt.Errorf("%q: one process drives one database; start one process for each", v)
			}
			return nil
		}},
		{Name: "linktable", Meaning: "table of links", set: text(func(c *Config) *string { return &c.Store.LinkTable })},
		{Name: "counttable", Meaning: "table of counts", set: text(func(c *Config) *string { return &c.Store.CountTable })},
		{Name: "nodetable", Meaning: "table of nodes", set: text(func(c *Config) *string { return &c.Store.NodeTable })},
	}
}

func runKeys() []Key {
	return []Key{
		{Name: "loaders", Meaning: "parallel loaders", set: whole(func(c *Config) *int { return &c.Run.Loaders })},
		{Name: "requesters", Meaning: "parallel requesters", set: whole(func(c *Config) *int { return &c.Run.Requesters })},
		{Name: "requests", Meaning: "requests of each requester, 0 for as many as maxtime allows", set: whole(func(c *Config) *int64 { return &c.Run.RequestsPerRequester })},
		{Name: "requestrate", Meaning: "requests per second of each requester, 0 for no limit", set: real(func(c *Config) *float64 { return &c.Run.RatePerRequester })},
		{Name: "maxtime", Meaning: "seconds of measured requests, 0 for no bound", set: whole(func(c *Config) *int64 { return &c.Run.MaxTimeS })},
		{Name: "warmup_time", Meaning: "seconds of requests before measuring", set: whole(func(c *Config) *int64 { return &c.Run.WarmupS })},
		{Name: "max_failed_requests", Meaning: "failures a requester may have, below 0 for any number", set: whole(func(c *Config) *int64 { return &c.Run.MaxFailedPerRequester })},
		{Name: "bulk_insert_count", Meaning: "rows of one insert of the load", set: whole(func(c *Config) *int { return &c.Run.BulkRows })},
		{Name: "mysql_bulk_insert_batch", Meaning: "bulk_insert_count of the first release", set: whole(func(c *Config) *int { return &c.Run.BulkRows })},
		{Name: "bulkinsert_size", Meaning: "bulk_insert_count of the basic document store", set: whole(func(c *Config) *int { return &c.Run.BulkRows })},
		{Name: "bulk_insert_kb", Meaning: "insert nodes at so many KB too, 0 for rows alone", set: whole(func(c *Config) *int { return &c.Run.BulkKB })},
		{Name: "never_change", Meaning: "true for compat 2013, false for 2020", set: func(c *Config, v string) error {
			var legacy bool
			if err := boolean(func(*Config) *bool { return &legacy })(c, v); err != nil {
				return err
			}
			if legacy {
				c.Compat = compat.Y2013
			} else if c.Compat == compat.Y2013 {
				c.Compat = compat.Y2020
			}
			return nil
		}},
		{Name: "progressfreq", Meaning: "read and without effect: the line it is for is not printed", set: whole(func(c *Config) *int64 { return &c.Run.ProgressS })},
		{Name: "displayfreq", Meaning: "seconds between the legacy statistics of each thread, 0 for at its end alone", set: whole(func(c *Config) *int64 { return &c.Run.DisplayS })},
		{Name: "load_progress_interval", Meaning: "links between the legacy progress lines of the load, 0 for none", set: whole(func(c *Config) *int64 { return &c.Run.LoadProgressLinks })},
		{Name: "req_progress_interval", Meaning: "requests between the legacy progress lines, 0 for none", set: whole(func(c *Config) *int64 { return &c.Run.RequestProgressOps })},
		{Name: "maxsamples", Meaning: "latencies kept of each operation and thread for the legacy statistics, 8 bytes each", set: whole(func(c *Config) *int { return &c.Run.MaxSamples })},
		{Name: "csvstream", Meaning: "file of the legacy statistics of each thread, which must not exist; csvstream.csv in the record's folder unless set. In the original it is an option of the command line alone", set: text(func(c *Config) *string { return &c.Run.CSVStream })},
		{Name: "debuglevel", Meaning: "TRACE, DEBUG, INFO, WARN or ERROR", set: text(func(c *Config) *string { return &c.Run.DebugLevel })},
		{Name: "use_hdr_histogram", Meaning: "legacy output from HdrHistogram", set: boolean(func(c *Config) *bool { return &c.Run.HDR })},
		{Name: "hdr_histogram_accuracy", Meaning: "significant digits, 1 to 5", set: whole(func(c *Config) *int { return &c.Run.HDRDigits })},
		{Name: "hdr_histogram_max_latency", Meaning: "largest latency in microseconds", set: whole(func(c *Config) *int64 { return &c.Run.HDRMaxUS })},
		{Name: "max_retries", Meaning: "retries of a transaction that was rolled back", set: whole(func(c *Config) *int { return &c.Run.MaxRetries })},
		{Name: "skip_transactions", Meaning: "no transactions on document stores", set: boolean(func(c *Config) *bool { return &c.Run.SkipTransactions })},
		{Name: "mysql_disable_binlog_load", Meaning: "load without binary log", set: boolean(func(c *Config) *bool { return &c.Run.DisableBinlogInLoad })},
	}
}

func graphKeys() []Key {
	return []Key{
		{Name: "workload_file", Meaning: "file of further settings, the weakest", set: func(*Config, string) error { return nil }}, // ReadFiles follows it
		{Name: "startid1", Meaning: "first id", set: whole(func(c *Config) *int64 { return &c.StartID1 })},
		{Name: "maxid1", Meaning: "end of ids, itself not one", set: whole(func(c *Config) *int64 { return &c.MaxID1 })},
		{Name: "generate_nodes", Meaning: "load nodes too", set: boolean(func(c *Config) *bool { return &c.GenerateNodes })},
		{Name: "loader_chunk_size", Meaning: "ids of one unit of load work", set: whole(func(c *Config) *int64 { return &c.ChunkIDs })},
		{Name: "load_random_seed", Meaning: "seed of the load", set: whole(func(c *Config) *int64 { return &c.LoadSeed })},
		{Name: "request_random_seed", Meaning: "seed of the requests", set: whole(func(c *Config) *int64 { return &c.RequestSeed })},
		{Name: "link_type_count", Meaning: "link types", set: whole(func(c *Config) *int { return &c.LinkTypes })},
		{Name: "randomid2max", Meaning: "above 0: id2 uniform below it", set: whole(func(c *Config) *int64 { return &c.RandomID2Max })},
		{Name: "id2gen_config", Meaning: "1: requesters change links of their own; else 0", set: func(c *Config, v string) error {
			if v != "0" && v != "1" {
				return fmt.Errorf("%q is neither 0 nor 1", v)
			}
			c.PartitionID2 = v == "1"
			return nil
		}},
		{Name: "data_file", Meaning: "measured distributions", set: text(func(c *Config) *string { return &c.DataFile })},
		{Name: "nlinks_func", Meaning: "out-degree function: real, const, reciprocal, multiples, exponential, perfect_squares, or a distribution class", set: parsed(func(c *Config) *degree.Kind { return &c.Degree.Kind }, degree.ParseKind)},
		{Name: "nlinks_config", Meaning: "parameter of the arithmetic functions", set: whole(func(c *Config) *int64 { return &c.Degree.Config })},
		{Name: "nlinks_default", Meaning: "least links of an id by the arithmetic functions", set: whole(func(c *Config) *int64 { return &c.Degree.Default })},
		{Name: "nlinks_shape", Meaning: "shape of zipf", set: real(func(c *Config) *float64 { return &c.Degree.Shape })},
		{Name: "nlinks_mean", Meaning: "links per id of zipf and uniform", set: real(func(c *Config) *float64 { return &c.Degree.Mean })},
	}
}

func payloadKeys() []Key {
	keys := []Key{
		{Name: "link_datasize", Meaning: "median bytes of a link's payload", set: real(func(c *Config) *float64 { return &c.LinkDataMedian })},
		{Name: "node_datasize", Meaning: "median bytes of a node's payload", set: real(func(c *Config) *float64 { return &c.NodeDataMedian })},
	}
	for _, g := range []struct {
		prefix, what string
		spec         func(*Config) *payload.Spec
	}{
		{"link_add_datagen", "payloads of new links", func(c *Config) *payload.Spec { return &c.LinkAdd }},
		{"link_up_datagen", "payloads of updated links", func(c *Config) *payload.Spec { return &c.LinkUpdate }},
		{"node_add_datagen", "payloads of new nodes", func(c *Config) *payload.Spec { return &c.NodeAdd }},
		{"node_up_datagen", "payloads of updated nodes", func(c *Config) *payload.Spec { return &c.NodeUpdate }},
	} {
		spec := g.spec
		keys = append(keys,
			Key{Name: g.prefix, Meaning: g.what + ": motif or uniform, by class", set: parsed(func(c *Config) *payload.Kind { return &spec(c).Kind }, payload.ParseKind)},
			Key{Name: g.prefix + "_startbyte", Meaning: "lowest byte", set: oneByte(func(c *Config) *byte { return &spec(c).Start })},
			Key{Name: g.prefix + "_endbyte", Meaning: "highest byte", set: oneByte(func(c *Config) *byte { return &spec(c).End })},
			Key{Name: g.prefix + "_uniqueness", Meaning: "share of random blocks, 0 to 1", set: real(func(c *Config) *float64 { return &spec(c).Uniqueness })},
			Key{Name: g.prefix + "_motif_length", Meaning: "bytes of the motif; 512 unless compat is off", set: whole(func(c *Config) *int { return &spec(c).MotifBytes })},
		)
	}
	return keys
}

func oneByte(field func(*Config) *byte) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseUint(v, 10, 8)
		if err != nil {
			return fmt.Errorf("%q is not a byte, 0 to 255", v)
		}
		*field(c) = byte(n)
		return nil
	}
}

func mixKeys() []Key {
	var keys []Key
	for op := graph.Op(0); op < graph.Ops; op++ {
		keys = append(keys, Key{Name: op.Key(), Meaning: "percentage of " + op.String(),
			set: real(func(c *Config) *float64 { return &c.Mix[op] })})
	}
	return append(keys, Key{Name: "getlinklist_history", Meaning: "percentage of list queries for an older page",
		set: real(func(c *Config) *float64 { return &c.HistoryPercent })})
}

// accessPrefix names the family of keys of an access, and the access.
type accessPrefix struct {
	prefix, what string
	access       *Access
	section      degree.Section // what Real draws from; none for deletes
}

func (c *Config) accesses() []accessPrefix {
	return []accessPrefix{
		{"read_", "link reads correlated with out-degree", &c.LinkReads, degree.LinkReads},
		{"read_uncorr_", "other link reads; other link writes too unless compat is off", &c.LinkReadsUncorrelated, degree.LinkReads},
		{"write_", "link writes correlated with out-degree", &c.LinkWrites, degree.LinkWrites},
		{"write_uncorr_", "other link writes with compat off", &c.LinkWritesUncorrelated, degree.LinkWrites},
		{"node_read_", "node reads", &c.NodeReads, degree.NodeReads},
		{"node_update_", "node updates", &c.NodeUpdates, degree.NodeWrites},
		{"node_delete_", "node deletes", &c.NodeDeletes, ""},
	}
}

func accessKeys() []Key {
	var keys []Key
	for i, a := range new(Config).accesses() {
		at := func(c *Config) *Access { return c.accesses()[i].access }
		keys = append(keys,
			Key{Name: a.prefix + "function", Meaning: "ids of " + a.what, set: parsed(func(c *Config) *AccessKind { return &at(c).Kind }, ParseAccessKind)},
			Key{Name: a.prefix + "shape", Meaning: "shape of zipf", set: real(func(c *Config) *float64 { return &at(c).Shape })},
			Key{Name: a.prefix + "config", Meaning: "parameter of multiple, power and perfect_power", set: whole(func(c *Config) *int64 { return &at(c).Config })},
		)
	}
	return append(keys,
		Key{Name: "read_uncorr_blend", Meaning: "percentage of link reads not correlated with out-degree", set: real(func(c *Config) *float64 { return &c.ReadUncorrelatedPercent })},
		Key{Name: "write_uncorr_blend", Meaning: "the same of link writes with compat off", set: real(func(c *Config) *float64 { return &c.WriteUncorrelatedPercent })},
		Key{Name: "link_multiget_dist", Meaning: "links of a multiget: geometric, uniform, or empty for one", set: parsed(func(c *Config) *MultigetKind { return &c.Multiget.Kind }, ParseMultigetKind)},
		Key{Name: "link_multiget_dist_min", Meaning: "fewest links of a multiget", set: whole(func(c *Config) *int64 { return &c.Multiget.Min })},
		Key{Name: "link_multiget_dist_max", Meaning: "end of the number of links, itself not one", set: whole(func(c *Config) *int64 { return &c.Multiget.Max })},
		Key{Name: "link_multiget_dist_prob", Meaning: "parameter of geometric", set: real(func(c *Config) *float64 { return &c.Multiget.P })},
	)
}

func ignoredKeys() []Key {
	const mapReduce = "was for the MapReduce driver, which is not here"
	return []Key{
		{Name: "MySQL_bulk_insert_batch", Ignored: "has no effect in the original either, whose keys are case-sensitive; set bulk_insert_count"},
		{Name: "check_count", Ignored: "is not done after each write: all counts are compared after the run"},
		{Name: "fle_enable", Ignored: "client-side field encryption is not supported"},
		{Name: "tempdir", Ignored: mapReduce},
		{Name: "loaddata", Ignored: mapReduce},
		{Name: "useinputfiles", Ignored: mapReduce},
		{Name: "reportprogress", Ignored: mapReduce},
	}
}
