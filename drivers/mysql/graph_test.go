package mysql_test

import (
	"context"
	"strings"
	"testing"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/internal/server/servertest"
	"insertbench/linkbench"
	"insertbench/linkbench/linktest"
)

func TestGraphMariaDB(t *testing.T) {
	s := servertest.MariaDB(t)
	covering, short := linkbench.Layout{Index: linkbench.IndexCovering}, linkbench.Layout{Index: linkbench.IndexShort}
	parts, families := short, short
	parts.Partitions, parts.KeyBlockKB = 4, 8
	families.Partitions, families.ColumnFamilies = 2, true
	for engine, layouts := range map[string][]linkbench.Layout{
		"innodb":  {covering, parts},
		"rocksdb": {covering, families},
	} {
		t.Run(engine, func(t *testing.T) {
			c := mysql.Config{Socket: s.Socket, User: "root", Database: "graph_" + engine, Engine: engine, CreateDatabase: true}
			graphConformance(t, c, layouts)
			t.Run("few requesters", func(t *testing.T) {
				linktest.Run(t, linktest.Suite{Open: func(t testing.TB) linkbench.Database { return announced(t, openGraph(t, c)) }, Layouts: layouts[:1]})
			})
		})
	}
}

func TestGraphMySQL(t *testing.T) {
	address := servertest.MySQL(t)
	graphConformance(t, mysql.Config{DSN: "root@tcp(" + address + ")/graph_mysql", CreateDatabase: true, Engine: "innodb"},
		[]linkbench.Layout{{Index: linkbench.IndexCovering}})
}

func graphConformance(t *testing.T, c mysql.Config, layouts []linkbench.Layout) {
	linktest.Run(t, linktest.Suite{
		Open:    func(t testing.TB) linkbench.Database { return openGraph(t, c) },
		Layouts: layouts,
	})
}

// announced is told of two requesters, whose connections then wait in the
// kernel where the system has it.
func announced(t testing.TB, g *mysql.Graph) *mysql.Graph {
	if a, ok := any(g).(drivers.Announced); ok {
		t.Cleanup(a.Announce(2))
	}
	return g
}

func openGraph(t testing.TB, c mysql.Config) *mysql.Graph {
	t.Helper()
	db, err := mysql.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return db.Graph()
}

// graphDatabase opens a database with empty tables, which are dropped at the end.
func graphDatabase(t testing.TB, c mysql.Config, l linkbench.Layout) *mysql.Graph {
	t.Helper()
	g := openGraph(t, c)
	if err := g.DropTables(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := g.CreateTables(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	if err := g.CreateIndex(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.DropTables(context.Background()); err != nil {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// The isolation level is that of the connections, and read back.
func TestGraphIsolation(t *testing.T) {
	s := servertest.MariaDB(t)
	for engine, want := range map[string]string{"innodb": "REPEATABLE-READ", "rocksdb": "READ-COMMITTED"} {
		g := graphDatabase(t, mysql.Config{Socket: s.Socket, User: "root", Database: "isolation_" + engine, Engine: engine, CreateDatabase: true},
			linkbench.Layout{Index: linkbench.IndexCovering})
		c, err := g.OpenClient(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		settings, err := g.Settings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if last := settings[len(settings)-1]; last.Value != want || !strings.Contains(last.Name, "isolation") {
			t.Errorf("%s: last setting %+v, want the isolation level %s", engine, last, want)
		}
		if size, err := g.SizeBytes(t.Context()); err != nil || engine == "innodb" && size == 0 {
			t.Errorf("%s: size %d, %v", engine, size, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
