package mysql

import (
	"context"
	"fmt"
	"strings"

	"insertbench/drivers"
	"insertbench/ibench"
)

// CheckBulkLoad refuses a bulk load where the engine has none.
func (s *Server) CheckBulkLoad(ctx context.Context) error {
	if !strings.EqualFold(s.engine.name, "rocksdb") {
		return drivers.Configf("bulk load is MyRocks's, and tables of %s don't have it: leave out --bulk-load, or add --engine=rocksdb", s.engine.name)
	}
	var value string
	if err := s.db.QueryRowContext(ctx, "SELECT @@session.rocksdb_bulk_load").Scan(&value); err != nil {
		return drivers.Configf("the server at %s has no bulk load (reading rocksdb_bulk_load: %w)", s.where, err)
	}
	return nil
}

// OpenBulkInserter opens a connection for one worker's bulk load.
func (s *Server) OpenBulkInserter(ctx context.Context, table string) (ibench.Inserter, error) {
	return s.openInserter(ctx, table, true)
}

// setOptions prepares an inserter's session.
func (in *inserter) setOptions(s *Server) error {
	var statements []string
	if s.uniqueChecksOff {
		statements = append(statements, "SET SESSION unique_checks = 0")
	}
	if in.bulkLoad {
		statements = append(statements, "SET SESSION rocksdb_bulk_load = 1")
	}
	for _, text := range statements {
		if _, err := in.session.exec.ExecContext(context.Background(), text, nil); err != nil {
			return fmt.Errorf("%s on the connection to %s: %w", text, in.table, in.session.cause(err))
		}
	}
	return nil
}

// NeedsFinish is true for a bulk load, whose rows become visible with Finish.
func (in *inserter) NeedsFinish() bool { return in.bulkLoad }

// Finish switches the bulk load off: the rows go into the engine as sorted
// files, and can be seen afterwards. MyRocks does this work in the SET.
func (in *inserter) Finish(context.Context) error {
	_, err := in.session.exec.ExecContext(context.Background(), "SET SESSION rocksdb_bulk_load = 0", nil)
	if err == nil {
		return nil
	}
	if in.aborted.Load() {
		in.lost = true
		return &drivers.Error{Class: drivers.Unknown, Code: "aborted",
			Err: fmt.Errorf("ending the bulk load of table %s: aborted before the answer came", in.table)}
	}
	return statementError(in.session.cause(err), "ending the bulk load of table "+in.table, in.transactional)
}

var _ ibench.Finisher = (*inserter)(nil)
