package mysql_test

import (
	"context"
	"testing"

	"insertbench/drivers/mysql"
	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

func TestSizeOfANewTable(t *testing.T) {
	t.Run("MariaDB", func(t *testing.T) {
		s := servertest.MariaDB(t)
		newTableSize(t, "root@unix("+s.Socket+")/", mysql.Config{Socket: s.Socket, User: "root", Database: "size", Engine: "innodb"})
	})
	t.Run("MySQL", func(t *testing.T) {
		address := servertest.MySQL(t)
		newTableSize(t, "root@tcp("+address+")/", mysql.Config{DSN: "root@tcp(" + address + ")/size", Engine: "innodb"})
	})
}

// newTableSize asks for the size of a table of 2,000 rows of 4,000 bytes, which
// no background statistics may have seen yet.
func newTableSize(t *testing.T, dsn string, config mysql.Config) {
	const rows, dataBytes = 2000, 4000
	ctx := context.Background()
	a := openAdmin(t, dsn)
	a.exec(t, "DROP DATABASE IF EXISTS size")
	a.exec(t, "CREATE DATABASE size")
	t.Cleanup(func() { a.exec(t, "DROP DATABASE size") })
	db, err := mysql.Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table := ibench.TableName(0)
	if err := db.CreateTable(ctx, ibench.Table{Name: table}); err != nil {
		t.Fatal(err)
	}
	in, err := db.OpenInserter(ctx, table)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	spec := ibench.DefaultRowSpec()
	spec.DataLengthMin, spec.DataLengthMax = dataBytes, dataBytes
	source := ibench.NewRows(1, 0, spec)
	var row ibench.Row
	for i := int64(0); i < rows; i++ {
		source.At(i, &row)
		in.Append(&row)
		if i%100 == 99 {
			if err := in.Insert(ctx); err != nil {
				t.Fatal(err)
			}
			in.Reset()
		}
	}
	// 8,000,000 bytes of data at least; pages, the key and the file's growth
	// by at most 4 MiB at a time stay below twice that.
	got, err := db.SizeBytes(ctx)
	if err != nil || got < rows*dataBytes || got > 2*rows*dataBytes+4<<20 {
		t.Errorf("the table's size is %d, error %v, want from %d to %d", got, err, rows*dataBytes, 2*rows*dataBytes+4<<20)
	}
}
