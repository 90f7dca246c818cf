package mysql_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/internal/server/servertest"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// originalDDL are the tables of the original's README.md.
var originalDDL = []string{
	"CREATE TABLE `linktable` (`id1` bigint(20) unsigned NOT NULL DEFAULT '0', `id2` bigint(20) unsigned NOT NULL DEFAULT '0', `link_type` bigint(20) unsigned NOT NULL DEFAULT '0', " +
		"`visibility` tinyint(3) NOT NULL DEFAULT '0', `data` varchar(255) NOT NULL DEFAULT '', `time` bigint(20) unsigned NOT NULL DEFAULT '0', `version` int(11) unsigned NOT NULL DEFAULT '0', " +
		"PRIMARY KEY (link_type, `id1`,`id2`), KEY `id1_type` (`id1`,`link_type`,`visibility`,`time`,`id2`,`version`,`data`)) ENGINE=InnoDB DEFAULT CHARSET=latin1 PARTITION BY key(id1) PARTITIONS 16",
	"CREATE TABLE `counttable` (`id` bigint(20) unsigned NOT NULL DEFAULT '0', `link_type` bigint(20) unsigned NOT NULL DEFAULT '0', `count` int(10) unsigned NOT NULL DEFAULT '0', " +
		"`time` bigint(20) unsigned NOT NULL DEFAULT '0', `version` bigint(20) unsigned NOT NULL DEFAULT '0', PRIMARY KEY (`id`,`link_type`)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
	"CREATE TABLE `nodetable` (`id` bigint(20) unsigned NOT NULL AUTO_INCREMENT, `type` int(10) unsigned NOT NULL, `version` bigint(20) unsigned NOT NULL, `time` int(10) unsigned NOT NULL, " +
		"`data` mediumtext NOT NULL, primary key(`id`)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
}

// A graph in the original's tables is used as it is, and what is written into
// them are the payload's bytes and no others.
func TestGraphInOriginalTables(t *testing.T) {
	s := servertest.MariaDB(t)
	a := openAdmin(t, "root@unix("+s.Socket+")/")
	a.exec(t, "CREATE DATABASE graph_original")
	t.Cleanup(func() { a.exec(t, "DROP DATABASE graph_original") })
	g := openGraph(t, mysql.Config{Socket: s.Socket, User: "root", Database: "graph_original", Engine: "innodb"})
	defer g.Close()
	ctx := context.Background()
	for _, ddl := range originalDDL {
		a.exec(t, strings.Replace(ddl, "TABLE `", "TABLE graph_original.`", 1))
	}
	a.exec(t, "INSERT INTO graph_original.linktable VALUES (1, 2, 123456789, 1, 0xE4FF00, 7, 0)")
	a.exec(t, "INSERT INTO graph_original.counttable VALUES (1, 123456789, 1, 7, 0)")
	a.exec(t, "INSERT INTO graph_original.nodetable VALUES (1, 2048, 1, 7, 0x80E4)")
	c, err := g.OpenClient(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var data []byte
	q := linkbench.ListQuery{ID1: 1, Type: graph.FirstLinkType, MaxTimeMS: math.MaxInt64, Limit: 10}
	if err := c.ListLinks(ctx, &q, func(l *graph.Link) { data = append(data, l.Data...) }); err != nil || string(data) != "\xe4\xff\x00" {
		t.Errorf("payload %x, %v; want e4ff00", data, err)
	}
	var n graph.Node
	if ok, err := c.GetNode(ctx, 1, graph.NodeType, &n); err != nil || !ok || string(n.Data) != "\x80\xe4" {
		t.Errorf("node %v %+v, %v", ok, n, err)
	}
	for id2, want := range map[int64]linkbench.Effect{2: linkbench.Updated, 3: linkbench.Inserted} {
		link := graph.Link{ID1: 1, Type: graph.FirstLinkType, ID2: id2, Visibility: graph.Visible, TimeMS: 8, Data: []byte("\x00\x80\xff'")}
		if got, err := c.AddLink(ctx, &link); err != nil || got != want {
			t.Errorf("adding link %d: %v, %v; want %v", id2, got, err, want)
		}
	}
	if id, err := c.AddNode(ctx, &graph.Node{Type: graph.NodeType, Data: []byte("\x00\x80\xff'")}); err != nil || id != 2 {
		t.Errorf("node added as %d, %v; want 2", id, err)
	}
	var all string
	query := "SELECT CONCAT((SELECT GROUP_CONCAT(HEX(data)) FROM graph_original.linktable), ' ', (SELECT HEX(data) FROM graph_original.nodetable WHERE id = 2), ' ', (SELECT count FROM graph_original.counttable))"
	if err := a.db.QueryRow(query).Scan(&all); err != nil || all != "0080FF27,0080FF27 0080FF27 2" {
		t.Errorf("the tables hold %q, %v; want the payload three times and a count of 2", all, err)
	}
}

// A wait for a lock ends with the server's timeout, and can be tried again; an
// abort ends it at once, and nobody knows.
func TestGraphLockedLink(t *testing.T) {
	s := servertest.MariaDB(t)
	for _, engine := range []string{"innodb", "rocksdb"} {
		t.Run(engine, func(t *testing.T) {
			database := "locked_" + engine
			g := graphDatabase(t, mysql.Config{Socket: s.Socket, User: "root", Database: database, Engine: engine, CreateDatabase: true}, linkbench.Layout{Index: linkbench.IndexCovering})
			a := openAdmin(t, "root@unix("+s.Socket+")/")
			a.database = database
			a.exec(t, "SET GLOBAL innodb_lock_wait_timeout = 1")
			defer a.exec(t, "SET GLOBAL innodb_lock_wait_timeout = 50")
			ctx := context.Background()
			c, err := g.OpenClient(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			link := graph.Link{ID1: 1, Type: graph.FirstLinkType, ID2: 2, Visibility: graph.Visible, TimeMS: 8}
			if _, err := c.AddLink(ctx, &link); err != nil {
				t.Fatal(err)
			}
			release := a.hold(t, "BEGIN", "SELECT * FROM "+a.name("linktable")+" WHERE id1 = 1 AND id2 = 2 AND link_type = 123456789 FOR UPDATE",
				"SELECT * FROM "+a.name("counttable")+" WHERE id = 1 AND link_type = 123456789 FOR UPDATE")
			other := link
			other.ID2 = 3
			for name, send := range map[string]func() (linkbench.Effect, error){
				"add":    func() (linkbench.Effect, error) { return c.AddLink(ctx, &other) },
				"delete": func() (linkbench.Effect, error) { return c.DeleteLink(ctx, 1, graph.FirstLinkType, 2) },
			} {
				if _, err := send(); drivers.ClassOf(err) != drivers.Retryable || drivers.CodeOf(err) != "1205" {
					t.Errorf("%s: class %v of %v, want a retryable 1205", name, drivers.ClassOf(err), err)
				}
			}
			a.exec(t, "SET GLOBAL innodb_lock_wait_timeout = 50")
			b, err := g.OpenClient(ctx)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				_, err := b.DeleteLink(ctx, 1, graph.FirstLinkType, 2)
				ended <- err
			}()
			time.Sleep(50 * time.Millisecond) // if it isn't waiting by then, the abort ends it all the same
			b.Abort()
			b.Abort()
			if err := <-ended; drivers.ClassOf(err) == drivers.Retryable || err == nil {
				t.Errorf("after an abort: class %v of %v", drivers.ClassOf(err), err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			release()
			// Nothing of the first two was kept, so each does what it did.
			if e, err := c.AddLink(ctx, &other); err != nil || e != linkbench.Inserted {
				t.Errorf("add after the lock: %v, %v", e, err)
			}
			if n, err := c.CountLinks(ctx, 1, graph.FirstLinkType); err != nil || n > 2 || n < 1 {
				t.Errorf("count %d, %v", n, err)
			}
		})
	}
}
