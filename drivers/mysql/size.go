package mysql

import (
	"context"
	"database/sql"
	"strings"
)

// innodbFiles is what the files of InnoDB's tables take on disk, in bytes, by
// table. InnoDB's DATA_LENGTH comes from statistics that are gathered in the
// background: after a load into a new table it may say 64 KB still. A table is
// missing where the server has no such listing, where the user lacks the PROCESS
// privilege, or where tables share a file; their estimate has to do.
func (s *Server) innodbFiles(ctx context.Context, conn *sql.Conn) map[string]int64 {
	if !s.engine.is(innodb) {
		return nil
	}
	// MySQL's name, then MariaDB's.
	for _, listing := range []string{"INNODB_TABLESPACES", "INNODB_SYS_TABLESPACES"} {
		if files, err := allocated(ctx, conn, listing, s.cfg.DBName+"/"); err == nil {
			return files
		}
	}
	return nil
}

// allocated reads one listing of tablespaces, for those of one database.
func allocated(ctx context.Context, conn *sql.Conn, listing, database string) (map[string]int64, error) {
	rows, err := conn.QueryContext(ctx, "SELECT NAME, ALLOCATED_SIZE FROM information_schema."+listing)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	files := map[string]int64{}
	for rows.Next() {
		var name string
		var bytes int64
		if err := rows.Scan(&name, &bytes); err != nil {
			return nil, err
		}
		// A partition's name is DATABASE/TABLE#p#PARTITION.
		if table, ok := strings.CutPrefix(name, database); ok {
			table, _, _ = strings.Cut(table, "#")
			files[table] += bytes
		}
	}
	return files, rows.Err()
}
