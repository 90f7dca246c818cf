package mongo_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"insertbench/drivers"
	"insertbench/drivers/mongo"
	"insertbench/drivers/mongo/wiretest"
	"insertbench/ibench"
)

// recorded makes a server of what another answered (testdata/README.md).
func recorded(t *testing.T, name string) wiretest.Config {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Hello          bson.D `bson:"hello"`
		BuildInfo      bson.D `bson:"buildInfo"`
		ServerStatus   bson.D `bson:"serverStatus"`
		CollStats      bson.D `bson:"collStats"`
		DBStats        bson.D `bson:"dbStats"`
		GetCmdLineOpts bson.D `bson:"getCmdLineOpts"`
	}
	if err := bson.UnmarshalExtJSON(raw, false, &r); err != nil {
		t.Fatal(err)
	}
	return wiretest.Config{Hello: r.Hello, BuildInfo: withoutOK(r.BuildInfo), Status: withoutOK(r.ServerStatus),
		CollStats: withoutOK(r.CollStats), DBStats: withoutOK(r.DBStats), CmdLine: withoutOK(r.GetCmdLineOpts)}
}

func withoutOK(d bson.D) bson.D {
	return slices.DeleteFunc(d, func(e bson.E) bool { return e.Key == "ok" })
}

// TestIdentity: who answers is what it says of itself, and nothing that only
// speaks the protocol is called MongoDB.
func TestIdentity(t *testing.T) {
	for _, tt := range []struct {
		name                     string
		product, version, engine string
		dataDir                  string
		// sizeBytes is by hand: storageSize + indexSize of dbStats, or
		// mmapv1's fileSize + nsSizeMB.
		sizeBytes int64
		settings  []drivers.Setting
	}{
		{"wiredtiger", "MongoDB", "7.0.5", "wiredTiger", "/var/lib/mongodb", 61440 + 106496, []drivers.Setting{
			{Name: "wiredTiger.cache.maximum bytes configured", Value: "1073741824"},
			{Name: "storage.wiredTiger.collectionConfig.blockCompressor", Value: "snappy"},
			{Name: "featureCompatibilityVersion", Value: "7.0"}}},
		{"mmapv1", "MongoDB", "3.6.23", "mmapv1", "/data/mmap", 67108864 + 16<<20, []drivers.Setting{
			{Name: "storage.journal.enabled", Value: "true"}, {Name: "storage.journal.commitIntervalMs", Value: "100"}, {Name: "storage.syncPeriodSecs", Value: "60"}}},
		{"rocksdb", "MongoDB", "4.2.5", "rocksdb", "/data/rocks", 129000 + 82000, []drivers.Setting{
			{Name: "storage.rocksdb.cacheSizeGB", Value: "1"}, {Name: "storage.rocksdb.compression", Value: "lz4"}}},
		{"percona", "Percona Server for MongoDB", "6.0.12-9", "inMemory", "", 61440 + 106496, []drivers.Setting{
			{Name: "inMemory.cache.maximum bytes configured", Value: "536870912"}, {Name: "storageEngine.persistent", Value: "false"}}},
		{"mongos", "MongoDB", "7.0.5", "unknown", "", 122880 + 212992, nil},
		{"ferretdb", "FerretDB", "2.7.0", "unknown", "", 16384 + 16384, nil},
		{"documentdb", "MongoDB-protocol server", "7.0.0", "unknown", "", 3, nil},
		{"cosmos", "MongoDB-protocol server", "4.2.0", "unknown", "", 3, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := context.Background()
			s := wiretest.Start(t, recorded(t, tt.name))
			db := open(t, mongo.Config{URI: s.URI()})
			id := db.Identity()
			if id.DBMS != "mongo" || id.Product != tt.product || id.Version != tt.version || id.Engine != tt.engine {
				t.Errorf("identity %+v, want %s %s with %s", id, tt.product, tt.version, tt.engine)
			}
			if got := db.Place().DataDir; got != tt.dataDir {
				t.Errorf("data directory %q, want %q", got, tt.dataDir)
			}
			if got, err := db.SizeBytes(ctx); err != nil || got != tt.sizeBytes {
				t.Errorf("SizeBytes gave %d and %v, want %d", got, err, tt.sizeBytes)
			}
			settings, err := db.Settings(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.settings {
				if !slices.Contains(settings, want) {
					t.Errorf("settings %v don't hold %v", settings, want)
				}
			}
		})
	}
}

// TestSizeWithoutDBStats adds up the benchmark's collections: by hand
// storageSize + totalIndexSize of collStats, for each of two.
func TestSizeWithoutDBStats(t *testing.T) {
	ctx := context.Background()
	for name, want := range map[string]int64{"wiredtiger": 61440 + 106496, "mmapv1": 696320 + 204400, "rocksdb": 129000 + 82000, "ferretdb": 16384 + 16384} {
		s := wiretest.Start(t, recorded(t, name))
		db := open(t, mongo.Config{URI: s.URI()})
		for _, table := range []string{"pi1", "pi2"} {
			if err := db.CreateTable(ctx, ibench.Table{Name: table}); err != nil {
				t.Fatal(err)
			}
		}
		s.Script("dbStats", wiretest.Step{Reply: wiretest.Failure(13, "Unauthorized", "not authorized")})
		if got, err := db.SizeBytes(ctx); err != nil || got != 2*want {
			t.Errorf("%s: SizeBytes gave %d and %v, want %d", name, got, err, 2*want)
		}
	}
}

func TestDurability(t *testing.T) {
	noDefault := wiretest.Step{Reply: wiretest.Failure(59, "CommandNotFound", "no such command")}
	for _, tt := range []struct {
		name   string
		server wiretest.Config
		config mongo.Config
		step   *wiretest.Step
		want   string
	}{
		{"as sent", wiretest.Config{}, mongo.Config{W: "1", Journal: pointer(true)}, nil, "write concern w=1 j=true"},
		{"default", wiretest.Config{}, mongo.Config{}, nil, "the server's default write concern, w=majority"},
		{"default not told", wiretest.Config{}, mongo.Config{}, &noDefault, "the server's default write concern, which it doesn't tell"},
		{"replica set", wiretest.Config{ReplicaSet: "rs0"}, mongo.Config{W: "majority"}, nil, "write concern w=majority, replica set rs0 of 1"},
		{"mongos", wiretest.Config{Mongos: true}, mongo.Config{W: "majority"}, nil, "write concern w=majority, through mongos"},
		{"in memory", wiretest.Config{Status: bson.D{{Key: "storageEngine", Value: bson.D{{Key: "name", Value: "inMemory"}}}}}, mongo.Config{W: "1"}, nil, "write concern w=1, nothing kept on disk"},
		{"transactions", wiretest.Config{ReplicaSet: "rs0", Transactions: wiretest.Kept}, mongo.Config{W: "1", Transactions: true}, nil, "write concern w=1, replica set rs0 of 1, a transaction per statement"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Start(t, tt.server)
			if tt.step != nil {
				s.Script("getDefaultRWConcern", *tt.step)
			}
			tt.config.URI = s.URI()
			if got := open(t, tt.config).Identity().Durability; got != tt.want {
				t.Errorf("durability %q, want %q", got, tt.want)
			}
		})
	}
}

// TestKeepsNothing: an engine that stores nothing is told from a table that
// lost its rows.
func TestKeepsNothing(t *testing.T) {
	s := wiretest.Start(t, wiretest.Config{Status: bson.D{{Key: "storageEngine", Value: bson.D{{Key: "name", Value: "devnull"}}}}})
	db := open(t, mongo.Config{URI: s.URI()})
	if sums, keepsNothing, err := db.Sums(context.Background(), "pi1"); err != nil || !keepsNothing || sums != (ibench.Sums{}) {
		t.Errorf("Sums gave %+v, %v and %v", sums, keepsNothing, err)
	}
}

// TestDumpsHideSecrets: the server's command line holds a password in four places.
func TestDumpsHideSecrets(t *testing.T) {
	s := wiretest.Start(t, wiretest.Config{})
	db := open(t, mongo.Config{URI: s.URI()})
	if err := db.CreateTable(context.Background(), ibench.Table{Name: "pi1"}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range db.Dumps(context.Background()) {
		if d.Err != nil {
			t.Errorf("%s: %v", d.Name, d.Err)
		}
		if strings.Contains(string(d.Text), "hunter2") {
			t.Errorf("%s holds the password:\n%s", d.Name, d.Text)
		}
		names = append(names, d.Name)
	}
	want := []string{"server_status.json", "parameters.json", "cmd_line_opts.json", "build_info.json", "db_stats.json", "coll_stats_pi1.json"}
	if !slices.Equal(names, want) {
		t.Errorf("dumps %v, want %v", names, want)
	}
}

// TestCheckBatch: a row of so many bytes of data is 114 + L bytes with an
// ObjectId and the original's names: 4 + 17 (_id) + 21 (dateandtime) + 20 +
// 16 + 13 (product) + 11 (price) + 11 + L (data) + 1.
func TestCheckBatch(t *testing.T) {
	const documentLimit, overhead = 16 << 20, 114
	s := wiretest.Start(t, wiretest.Config{})
	db := open(t, mongo.Config{URI: s.URI()})
	for _, tt := range []struct {
		name       string
		rows, data int
		want       string
	}{
		{"as usual", 1000, 20, ""},
		{"the most documents", 100_000, 20, ""},
		{"one document more", 100_001, 20, "100000 documents per command"},
		{"the largest document", 1, documentLimit - overhead, ""},
		{"a byte more", 1, documentLimit - overhead + 1, "a document of 16777217 bytes"},
		{"17 MB", 1, 17 << 20, "--data-length-max"},
		// 4,114 + 3 to 7 bytes each; the limit is 16 MiB + 16 KiB = 16,793,600.
		{"4,000 rows of 4,000 bytes", 4_000, 4_000, ""},
		{"5,000 rows of 4,000 bytes", 5_000, 4_000, "above the server's limit of 16793600"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := db.CheckBatch(context.Background(), tt.rows, tt.data)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
