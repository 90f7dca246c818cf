package wiretest

import "go.mongodb.org/mongo-driver/bson"

// What a mongod 7.0.5 with WiredTiger tells of itself, shortened. Field names
// are those of the MongoDB manual (buildInfo, serverStatus, getCmdLineOpts,
// dbStats, collStats); the numbers are made up.
var (
	mongodBuildInfo = bson.D{
		{Key: "version", Value: "7.0.5"}, {Key: "gitVersion", Value: "7809d71e84e314b497f282ea8aa06d7ded3eb205"},
		{Key: "modules", Value: bson.A{}}, {Key: "allocator", Value: "tcmalloc"}, {Key: "javascriptEngine", Value: "mozjs"},
		{Key: "versionArray", Value: bson.A{int32(7), int32(0), int32(5), int32(0)}},
		{Key: "storageEngines", Value: bson.A{"devnull", "wiredTiger"}}, {Key: "bits", Value: int32(64)},
		{Key: "maxBsonObjectSize", Value: int32(16 << 20)},
	}
	mongodStatus = bson.D{
		{Key: "host", Value: "db1"}, {Key: "version", Value: "7.0.5"}, {Key: "process", Value: "mongod"}, {Key: "pid", Value: int64(4242)},
		{Key: "storageEngine", Value: bson.D{{Key: "name", Value: "wiredTiger"}, {Key: "persistent", Value: true}}},
		{Key: "wiredTiger", Value: bson.D{{Key: "cache", Value: bson.D{{Key: "maximum bytes configured", Value: int64(1 << 30)}}}}},
	}
	mongodCmdLine = bson.D{
		{Key: "argv", Value: bson.A{"mongod", "--dbpath", "/data/db", "--tlsCertificateKeyFilePassword", "hunter2", "--ldapBindPassword=hunter2", "--url=postgres://u:hunter2@h/db"}},
		{Key: "parsed", Value: bson.D{
			{Key: "net", Value: bson.D{{Key: "tls", Value: bson.D{{Key: "certificateKeyFilePassword", Value: "hunter2"}}}}},
			{Key: "storage", Value: bson.D{{Key: "dbPath", Value: "/data/db"}}}}},
	}
	mongodDBStats   = bson.D{{Key: "db", Value: "ib"}, {Key: "storageSize", Value: 4096.0}, {Key: "indexSize", Value: 8192.0}, {Key: "totalSize", Value: 12288.0}}
	mongodCollStats = bson.D{{Key: "ns", Value: "ib.pi1"}, {Key: "storageSize", Value: int32(4096)}, {Key: "totalIndexSize", Value: int32(8192)}}
)
