package mongo

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"insertbench/drivers"

	"go.mongodb.org/mongo-driver/bson"
)

// Settings reads back what decides what a number means. Names are the
// server's own where it has one.
func (s *Server) Settings(ctx context.Context) ([]drivers.Setting, error) {
	status, err := s.readAdmin(ctx, bson.D{{Key: "serverStatus", Value: 1}})
	if err != nil && commandCode(err) == 0 {
		return nil, fmt.Errorf("reading serverStatus: %w", err)
	}
	// What a server or an account doesn't give stays out of the list.
	line, _ := s.readAdmin(ctx, bson.D{{Key: "getCmdLineOpts", Value: 1}})
	fcv, _ := s.readAdmin(ctx, bson.D{{Key: "getParameter", Value: 1}, {Key: "featureCompatibilityVersion", Value: 1}})
	defaults, _ := s.readAdmin(ctx, bson.D{{Key: "getDefaultRWConcern", Value: 1}})

	list := settings{}
	list.add("writeConcern", s.concern.String())
	list.add("readConcern", s.readConcern)
	list.add("ordered", fmt.Sprint(!s.cfg.Unordered))
	list.add("transactions", fmt.Sprint(s.cfg.Transactions))
	list.add("_id", string(s.cfg.IDKind))
	list.add("defaultWriteConcern.w", text(defaults, "defaultWriteConcern", "w"))
	list.add("defaultWriteConcern.wtimeout", text(defaults, "defaultWriteConcern", "wtimeout"))
	list.add("defaultWriteConcernSource", text(defaults, "defaultWriteConcernSource"))
	list.add("defaultReadConcern.level", text(defaults, "defaultReadConcern", "level"))
	list.add("storageEngine", text(status, "storageEngine", "name"))
	list.add("storageEngine.persistent", text(status, "storageEngine", "persistent"))
	list.add("wiredTiger.cache.maximum bytes configured", text(status, "wiredTiger", "cache", "maximum bytes configured"))
	list.add("inMemory.cache.maximum bytes configured", text(status, "inMemory", "cache", "maximum bytes configured"))
	list.add("storage.rocksdb.cacheSizeGB", text(line, "parsed", "storage", "rocksdb", "cacheSizeGB"))
	list.add("storage.rocksdb.compression", text(line, "parsed", "storage", "rocksdb", "compression"))
	list.add("storage.wiredTiger.engineConfig.cacheSizeGB", text(line, "parsed", "storage", "wiredTiger", "engineConfig", "cacheSizeGB"))
	list.add("storage.wiredTiger.collectionConfig.blockCompressor", text(line, "parsed", "storage", "wiredTiger", "collectionConfig", "blockCompressor"))
	list.add("storage.journal.enabled", text(line, "parsed", "storage", "journal", "enabled"))
	list.add("storage.journal.commitIntervalMs", text(line, "parsed", "storage", "journal", "commitIntervalMs"))
	list.add("storage.syncPeriodSecs", text(line, "parsed", "storage", "syncPeriodSecs"))
	list.add("featureCompatibilityVersion", text(fcv, "featureCompatibilityVersion", "version"))
	list.add("replicaSet", s.hello.SetName)
	list.add("maxBsonObjectSize", fmt.Sprint(s.hello.MaxDocumentBytes))
	list.add("maxMessageSizeBytes", fmt.Sprint(s.hello.MaxMessageBytes))
	list.add("maxWriteBatchSize", fmt.Sprint(s.hello.MaxBatch))
	return list, nil
}

type settings []drivers.Setting

// add keeps a setting that the server told.
func (l *settings) add(name, value string) {
	if value != "" {
		*l = append(*l, drivers.Setting{Name: name, Value: value})
	}
}

// SizeBytes is the space that the database takes on disk as the server sees
// it: mmapv1's files, which are allocated ahead, else storage and indexes. A
// server without dbStats is asked for each of the benchmark's collections.
func (s *Server) SizeBytes(ctx context.Context) (int64, error) {
	raw, err := s.read(ctx, bson.D{{Key: "dbStats", Value: 1}})
	if err == nil {
		return sizeOfDatabase(raw)
	}
	if commandCode(err) == 0 {
		return 0, fmt.Errorf("reading dbStats of %s: %w", s.cfg.Database, err)
	}
	tables, err := s.ListTables(ctx)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, table := range tables {
		raw, err := s.read(ctx, bson.D{{Key: "collStats", Value: table}})
		if err != nil {
			return 0, fmt.Errorf("reading collStats of %s.%s: %w", s.cfg.Database, table, err)
		}
		size, err := sumOf(raw, "storageSize", "totalIndexSize")
		if err != nil {
			return 0, fmt.Errorf("reading collStats of %s.%s: %w", s.cfg.Database, table, err)
		}
		total += size
	}
	return total, nil
}

func sizeOfDatabase(dbStats bson.Raw) (int64, error) {
	// fileSize is mmapv1's alone, without its namespace file; other engines
	// leave it out or say 0.
	if files, err := wholeNumber(dbStats, "fileSize"); err == nil && files > 0 {
		namespaceMB, err := wholeNumber(dbStats, "nsSizeMB")
		if err != nil {
			namespaceMB = 0
		}
		return files + namespaceMB<<20, nil
	}
	size, err := sumOf(dbStats, "storageSize", "indexSize")
	if err != nil {
		return 0, fmt.Errorf("reading dbStats: %w", err)
	}
	return size, nil
}

// sumOf adds up fields that must all be there.
func sumOf(doc bson.Raw, fields ...string) (int64, error) {
	total := int64(0)
	for _, field := range fields {
		n, err := wholeNumber(doc, field)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

const (
	// maxDumpBytes bounds one dump.
	maxDumpBytes = 4 << 20
	// maxTableDumps bounds the collections that are dumped one by one.
	maxTableDumps = 64
)

// Dumps reads raw status as extended JSON. Secrets are taken out.
func (s *Server) Dumps(ctx context.Context) []drivers.Dump {
	dumps := []drivers.Dump{
		dump(ctx, "server_status.json", s.readAdmin, bson.D{{Key: "serverStatus", Value: 1}}),
		dump(ctx, "parameters.json", s.readAdmin, bson.D{{Key: "getParameter", Value: "*"}}),
		dump(ctx, "cmd_line_opts.json", s.readAdmin, bson.D{{Key: "getCmdLineOpts", Value: 1}}),
		dump(ctx, "build_info.json", s.readAdmin, bson.D{{Key: "buildInfo", Value: 1}}),
		dump(ctx, "db_stats.json", s.read, bson.D{{Key: "dbStats", Value: 1}}),
	}
	tables, err := s.ListTables(ctx)
	if err != nil {
		return append(dumps, drivers.Dump{Name: "coll_stats.json", Err: err})
	}
	for _, table := range tables[:min(len(tables), maxTableDumps)] {
		dumps = append(dumps, dump(ctx, "coll_stats_"+table+".json", s.read, bson.D{{Key: "collStats", Value: table}}))
	}
	return dumps
}

func dump(ctx context.Context, name string, run func(context.Context, bson.D) (bson.Raw, error), command bson.D) drivers.Dump {
	d := drivers.Dump{Name: name}
	raw, err := run(ctx, command)
	if err != nil {
		d.Err = fmt.Errorf("reading %s: %w", command[0].Key, err)
		return d
	}
	var doc bson.D
	if err := bson.Unmarshal(raw, &doc); err != nil {
		d.Err = fmt.Errorf("reading %s: %w", command[0].Key, err)
		return d
	}
	d.Text, d.Err = bson.MarshalExtJSONIndent(hideSecrets(doc), false, false, "", "  ")
	if len(d.Text) > maxDumpBytes {
		d.Text = append(d.Text[:maxDumpBytes:maxDumpBytes], "\n(cut)\n"...)
	}
	return d
}

// secretName matches names of options and fields that hold secrets.
var secretName = regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|credential|token|apikey)`)

// uriPassword matches user and password of a URI within a longer text.
var uriPassword = regexp.MustCompile(`(://[^/@:\s]*:)[^/@\s]+@`)

func hideURI(text string) string { return uriPassword.ReplaceAllString(text, "${1}***@") }

// hideSecrets replaces the values of secret fields, and of secret options in
// a command line (argv), by asterisks.
func hideSecrets(doc bson.D) bson.D {
	for i, e := range doc {
		_, isText := e.Value.(string)
		switch {
		case isText && secretName.MatchString(e.Key):
			doc[i].Value = "***"
		default:
			doc[i].Value = hideIn(e.Value)
		}
	}
	return doc
}

func hideIn(v any) any {
	switch v := v.(type) {
	case bson.D:
		return hideSecrets(v)
	case bson.A:
		hideNext := false
		for i, element := range v {
			option, isText := element.(string)
			if !isText {
				v[i] = hideIn(element)
				continue
			}
			v[i] = hideURI(option)
			if hideNext {
				v[i] = "***"
			}
			hideNext = false
			if strings.HasPrefix(option, "-") && secretName.MatchString(option) {
				if name, _, found := strings.Cut(option, "="); found {
					v[i] = name + "=***"
				} else {
					hideNext = true
				}
			}
		}
		return v
	case string:
		return hideURI(v)
	default:
		return v
	}
}
