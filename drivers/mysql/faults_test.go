package mysql_test

import (
	"context"
	"testing"
	"time"

	"insertbench/drivers/drivertest"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// The connection is broken in every way, and the books must balance.
func TestFaults(t *testing.T) {
	t.Run("MariaDB", func(t *testing.T) {
		s := servertest.MariaDB(t)
		for _, engine := range []string{"InnoDB", "ROCKSDB"} {
			t.Run(engine, func(t *testing.T) { runFaults(t, s.Addr(), engine) })
		}
	})
	t.Run("MySQL", func(t *testing.T) { runFaults(t, servertest.MySQL(t), "InnoDB") })
}

func runFaults(t *testing.T, address, engine string) {
	drivertest.RunFaults(t, drivertest.Faults{
		Upstream: address, Atomic: true,
		Open: func(address string, connect, statement time.Duration) (ibench.Database, error) {
			return mysql.Open(context.Background(), mysql.Config{
				DSN: "root@tcp(" + address + ")/faults_mysql", CreateDatabase: true, Engine: engine, ConnectTimeout: connect, StatementTimeout: statement,
			})
		},
	})
}
