package servertest_test

import (
	"context"
	"database/sql"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"insertbench/internal/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestMariaDBIsSharedAndHasItsEngines(t *testing.T) {
	s := servertest.MariaDB(t)
	if again := servertest.MariaDB(t); again != s {
		t.Error("the second call gave another server")
	}
	for _, dsn := range []string{"root@unix(" + s.Socket + ")/", "root@tcp(" + s.Addr() + ")/"} {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		var engines int
		err = db.QueryRow("SELECT COUNT(*) FROM information_schema.engines WHERE engine IN ('InnoDB','ROCKSDB','BLACKHOLE') AND support IN ('YES','DEFAULT')").Scan(&engines)
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
		} else if engines != 3 {
			t.Errorf("%s: %d of the 3 engines", dsn, engines)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPrivateMariaDBCanBeKilled(t *testing.T) {
	s := servertest.PrivateMariaDB(t)
	s.Kill()
	<-s.Done()
}

func TestMySQLAnswers(t *testing.T) {
	db, err := sql.Open("mysql", "root@tcp("+servertest.MySQL(t)+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Ping(); err != nil {
		t.Error(err)
	}
}

func TestDocumentDBAnswers(t *testing.T) {
	client, err := mongo.Connect(t.Context(), options.Client().ApplyURI(servertest.DocumentDB(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Disconnect(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if err := client.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
