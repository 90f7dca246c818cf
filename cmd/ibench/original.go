package main

import (
	"slices"
	"strings"

	"insertbench/internal/cli"
)

// original is an option of iibench.py (mdcallag/mytools, bench/ibench) and
// what does the same here.
type original struct {
	// name is the original's; ours what is put in its place, a flag, or a flag
	// with its value where the original's takes none. ours is empty where there
	// is no counterpart.
	name, ours string
	// note says what differs, or why there is none.
	note string
}

// originals lists all options of iibench.py at HEAD. docs/iibench-options.md
// is made from it.
var originals = []original{
	{"my_id", "", "a run starts its clients itself and numbers them"},
	{"data_length_max", "data-length-max", ""},
	{"data_length_min", "data-length-min", ""},
	{"data_random_pct", "data-random-pct", ""},
	{"rows_per_commit", "rows-per-commit", "default 100, as the scripts have it; never lowered to the rate"},
	{"secs_per_report", "", "intervals are one second, in intervals.ndjson"},
	{"rows_per_query", "rows-per-query", ""},
	{"cashregisters", "cash-registers", ""},
	{"products", "products", ""},
	{"customers", "customers", ""},
	{"max_price", "max-price", ""},
	{"max_rows", "rows", "the total of all clients, split exactly; the original's is per client and rounded up to whole statements"},
	{"no_inserts", "writers=0", ""},
	{"max_seconds", "seconds", "also without inserts"},
	{"query_threads", "readers", "per client"},
	{"query_pk_only", "query=point", ""},
	{"setup", "drop", "ibench load makes the tables; --drop replaces those that exist"},
	{"warmup", "", "does nothing in the original"},
	{"initial_size", "", "ibench load fills the tables first"},
	{"print_get_min", "", "min_key_queries and min_key_us in the record"},
	{"resync_get_min", "", "always every 1,000 statements, the original's default"},
	{"max_table_rows", "", "does nothing in the original"},
	{"delete_per_insert", "deletes", "on MongoDB too"},
	{"num_secondary_indexes", "secondary-indexes", ""},
	{"secondary_at_end", "indexes-at=end", ""},
	{"secondary_at_start", "indexes-at=start", "the default"},
	{"inserts_per_second", "rate", "met exactly over time, without bursts, with catch-up"},
	{"seed", "seed", "covers the random letters of data too"},
	{"dbopt", "", "--mongo-j, --mongo-transactions, --mongo-read-concern, --mongo-w"},
	{"dbms", "dbms", "mysql, mariadb, mongo, sqlite; no postgres"},
	{"use_prepared_query", "", "Postgres only; queries are always prepared here"},
	{"use_prepared_insert", "", "Postgres only"},
	{"htap_transaction_seconds", "htap-seconds", "MySQL and SQLite"},
	{"db_host", "host", ""},
	{"db_name", "database", ""},
	{"table_name", "", "tables are pi1 to piN, as in the scripts"},
	{"engine", "engine", ""},
	{"engine_options", "engine-options", ""},
	{"db_user", "user", ""},
	{"db_password", "password", "better --password-file"},
	{"db_config_file", "", "--dsn holds all of a connection"},
	{"db_socket", "socket", ""},
	{"mysql_use_socket", "", "the socket is used where --socket names one"},
	{"unique_checks", "unique-checks", ""},
	{"bulk_load", "bulk-load", "of loads; off by default, since rows show only at their end"},
	{"num_partitions", "partitions", "MySQL; 0, one piece, by default"},
	{"rows_per_partition", "rows-per-partition", ""},
	{"mongo_w", "mongo-w", ""},
	{"mongo_r", "mongo-read-concern", ""},
	{"mongo_j", "mongo-j", ""},
	{"mongo_trx", "mongo-transactions", ""},
	{"name_cash", "", "--short-names has the scripts' short names, all six of them"},
	{"name_cust", "", "--short-names"},
	{"name_ts", "", "--short-names"},
	{"name_price", "", "--short-names"},
	{"name_prod", "", "--short-names"},
	{"name_data", "", "--short-names; data has no short name"},
}

// translate puts our flags in the place of the original's names, before
// anything else reads the arguments: a password is hidden under the one name
// that is known to hold one.
func translate(args []string) ([]string, error) {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		name, value, given := strings.Cut(name, "=")
		at := slices.IndexFunc(originals, func(o original) bool { return isFlag && o.name == name })
		if at < 0 || originals[at].ours == name {
			out = append(out, args[i])
			continue
		}
		o := originals[at]
		switch {
		case o.ours == "":
			return args, cli.Usagef("--%s of iibench.py has no counterpart: %s", name, o.note)
		case given && strings.Contains(o.ours, "="):
			return args, cli.Usagef("--%s of iibench.py takes no value: leave out =%s, or write --%s as it is here", name, value, o.ours)
		case given:
			out = append(out, "--"+o.ours+"="+value)
		case slices.Contains(numbered, name) && i+1 < len(args):
			i++
			out = append(out, "--"+o.ours+"="+args[i])
		default:
			out = append(out, "--"+o.ours)
		}
	}
	return out, nil
}

// numbered are options whose 0 or 1 may be the next argument, where ours are
// switches that never take one from there.
var numbered = []string{"unique_checks", "bulk_load"}
