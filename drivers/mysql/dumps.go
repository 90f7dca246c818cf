package mysql

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"insertbench/drivers"
)

const (
	dumpTimeout  = 10 * time.Second
	maxDumpBytes = 4 << 20
)

// dumps are the raw listings; one with an engine is read for that engine only.
var dumps = []struct{ file, engine, query string }{
	{"global_status.txt", "", "SHOW GLOBAL STATUS"},
	{"global_variables.txt", "", "SHOW GLOBAL VARIABLES"},
	{"table_status.txt", "", "SHOW TABLE STATUS LIKE 'pi%'"},
	{"engine_innodb_status.txt", innodb, "SHOW ENGINE INNODB STATUS"},
	{"engine_rocksdb_status.txt", rocksdb, "SHOW ENGINE ROCKSDB STATUS"},
}

// tableDumps are the tables that np.sh (mdcallag/mytools, bench/ibench) saves
// after a step, read where the server has them; one with an engine is read for
// that engine only.
var tableDumps = []struct{ schema, table, engine string }{
	{"information_schema", "INNODB_METRICS", innodb},
	{"information_schema", "INNODB_BUFFER_POOL_STATS", innodb},
	{"information_schema", "INNODB_TABLESPACES", innodb},
	{"information_schema", "INNODB_SYS_TABLESPACES", innodb},
	{"information_schema", "INNODB_CMP_PER_INDEX", innodb},
	{"information_schema", "ROCKSDB_GLOBAL_INFO", rocksdb},
	{"information_schema", "ROCKSDB_CFSTATS", rocksdb},
	{"information_schema", "ROCKSDB_DBSTATS", rocksdb},
	{"information_schema", "ROCKSDB_CF_OPTIONS", rocksdb},
	{"information_schema", "ROCKSDB_COMPACTION_STATS", rocksdb},
	{"information_schema", "ROCKSDB_PERF_CONTEXT_GLOBAL", rocksdb},
	{"information_schema", "ROCKSDB_DDL", rocksdb},
	{"performance_schema", "memory_summary_global_by_event_name", ""},
	{"performance_schema", "file_summary_by_event_name", ""},
	{"performance_schema", "table_io_waits_summary_by_index_usage", ""},
	{"performance_schema", "table_lock_waits_summary_by_table", ""},
	{"performance_schema", "events_waits_summary_global_by_event_name", ""},
}

// Dumps reads the raw status and variables, and the tables among tableDumps
// that the server has, each for at most 10 s and 4 MiB.
func (s *Server) Dumps(ctx context.Context) []drivers.Dump {
	var out []drivers.Dump
	add := func(file, engine, query string) {
		if engine != "" && !s.engine.is(engine) {
			return
		}
		text, err := s.dump(ctx, query)
		out = append(out, drivers.Dump{Name: file, Text: text, Err: err})
	}
	for _, d := range dumps {
		add(d.file, d.engine, d.query)
	}
	have, err := s.dump(ctx, "SELECT CONCAT(LOWER(TABLE_SCHEMA), '.', UPPER(TABLE_NAME)) FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('information_schema', 'performance_schema')")
	if err != nil {
		return append(out, drivers.Dump{Name: "tables.txt", Err: err})
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(have)) {
		names[strings.TrimSpace(line)] = true
	}
	for _, d := range tableDumps {
		if names[d.schema+"."+strings.ToUpper(d.table)] {
			// is and ps are the original's marks for the two schemas.
			mark := d.schema[:1] + "s."
			add(mark+strings.ToLower(d.table)+".txt", d.engine, "SELECT * FROM "+d.schema+"."+d.table)
		}
	}
	return out
}

// dump writes the columns' names and the rows as lines with tabs between them.
func (s *Server) dump(ctx context.Context, query string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, dumpTimeout)
	defer cancel()
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s on the server at %s: %w", query, s.where, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("%s on the server at %s: %w", query, s.where, err)
	}
	values := make([][]byte, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var text bytes.Buffer
	text.WriteString(strings.Join(columns, "\t") + "\n")
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return text.Bytes(), fmt.Errorf("%s on the server at %s: %w", query, s.where, err)
		}
		text.Write(bytes.Join(values, []byte{'\t'}))
		text.WriteByte('\n')
		if text.Len() > maxDumpBytes {
			text.Truncate(maxDumpBytes)
			text.WriteString("\n(cut off here: too long)\n")
			return text.Bytes(), nil
		}
	}
	if err := rows.Err(); err != nil {
		return text.Bytes(), fmt.Errorf("%s on the server at %s: %w", query, s.where, err)
	}
	return text.Bytes(), nil
}
