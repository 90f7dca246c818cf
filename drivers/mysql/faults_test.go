package mysql_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"insertbench/drivers/drivertest"
	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// TestFaultsMariaDB breaks the connection in every way and balances the books.
func TestFaultsMariaDB(t *testing.T) {
	s := servertest.MariaDB(t)
	drivertest.RunFaults(t, drivertest.Faults{
		Upstream: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)), Atomic: true,
		Open: func(address string, connect, statement time.Duration) (ibench.Database, error) {
			return mysql.Open(context.Background(), mysql.Config{
				DSN: "root@tcp(" + address + ")/faults_mysql", CreateDatabase: true, ConnectTimeout: connect, StatementTimeout: statement,
			})
		},
	})
}
