package mysql_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server"
	"insertbench/internal/server/servertest"
)

// A server that is killed under its clients and started again on the same
// data: every acknowledged row is there, since each commit was flushed, and of
// the statements in flight each is there whole or not at all.
func TestKilledAndRestarted(t *testing.T) {
	program := servertest.MariaDBProgram(t)
	for _, engine := range []string{"InnoDB", "ROCKSDB"} {
		t.Run(engine, func(t *testing.T) {
			cfg := killable(t, program, strings.ToLower(engine))
			acked, unknown := insertUntilKilled(t, cfg, engine)
			s, err := server.Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "root", Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			found, _, err := db.Sums(t.Context(), "pi1")
			if err != nil {
				t.Fatal(err)
			}
			if found.Rows < acked || found.Rows > acked+unknown || (found.Rows-acked)%killRows != 0 {
				t.Errorf("the table holds %d rows, where %d were acknowledged and %d are unknown, in statements of %d", found.Rows, acked, unknown, killRows)
			}
		})
	}
}

// killable is a server that opens its data again wherever it was killed.
// RocksDB's default, recovery mode 1, refuses a log whose last record was cut
// off by the kill, and the server then goes on without the engine; mode 2
// recovers all that is whole, which every acknowledged commit is.
func killable(t *testing.T, program, engine string) server.Config {
	return server.Config{Program: program, Engine: engine, DataDir: t.TempDir(),
		ExtraArgs: []string{"--skip-name-resolve", "--loose-rocksdb-wal-recovery-mode=2"}}
}

const (
	killRows    = 50
	killClients = 4
)

// insertUntilKilled lets clients insert, kills the server once each of them
// had statements acknowledged, and counts rows by what became of them.
func insertUntilKilled(t *testing.T, cfg server.Config, engine string) (acked, unknown int64) {
	t.Helper()
	s, err := server.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(context.Background()) }() // it is killed by then
	db, err := mysql.Open(t.Context(), mysql.Config{Socket: s.Socket, User: "root", CreateDatabase: true, Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateTable(t.Context(), ibench.Table{Name: "pi1", Indexes: ibench.Indexes}); err != nil {
		t.Fatal(err)
	}
	var ackedRows, unknownRows, going atomic.Int64
	errs := make(chan error, killClients)
	var wg sync.WaitGroup
	for client := range killClients {
		in, err := db.OpenInserter(t.Context(), "pi1")
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer in.Close()
			errs <- insertUntilError(in, client, &ackedRows, &unknownRows, &going)
		})
	}
	for range 1000 {
		if going.Load() == killClients {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Kill()
	wg.Wait()
	for range killClients {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	return ackedRows.Load(), unknownRows.Load()
}

// insertUntilError inserts until a statement fails, which must be of unknown
// outcome; going counts the clients that have had ten statements acknowledged.
func insertUntilError(in ibench.Inserter, client int, acked, unknown, going *atomic.Int64) error {
	rows := ibench.NewRows(1, client, ibench.DefaultRowSpec())
	var row ibench.Row
	for n := int64(0); ; n++ {
		in.Reset()
		for i := range int64(killRows) {
			rows.At(n*killRows+i, &row)
			in.Append(&row)
		}
		err := in.Insert(context.Background())
		switch {
		case err == nil:
			acked.Add(killRows)
			if n == 9 {
				going.Add(1)
			}
		case drivers.ClassOf(err) == drivers.Unknown:
			unknown.Add(killRows)
			return nil
		case drivers.ClassOf(err) == drivers.Retryable:
			n-- // rolled back; the same rows again
		default:
			return fmt.Errorf("client %d: %w", client, err)
		}
	}
}
