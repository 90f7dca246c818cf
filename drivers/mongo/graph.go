package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"insertbench/drivers"
	"insertbench/linkbench"

	"go.mongodb.org/mongo-driver/bson"
)

// Collections of LinkBench, as the original's LinkStoreMongoDb2 has them, and
// one of our own.
const (
	linkTable  = "linktable"
	countTable = "counttable"
	nodeTable  = "nodetable"
	// idTable holds the next id of a new node, so that client processes don't
	// give the same one twice. The original counts in each process.
	idTable   = "linkbench_ids"
	linkIndex = "id1_type"
)

// Transactions says whether links and their counts change in transactions.
type Transactions string

// TransactionsAuto takes what a probe finds: a transaction that is aborted, and
// a read of what it wrote. On is an error of kind drivers.ErrConfig where it
// finds none. Off changes a link and then its count; what ends between the two
// leaves a wrong count, which verification finds.
const (
	TransactionsAuto Transactions = "auto"
	TransactionsOn   Transactions = "on"
	TransactionsOff  Transactions = "off"
)

// Graph is a deployment as LinkBench's database, in the layout of the
// original's LinkStoreMongoDb2: natural keys are in _id, payloads are binary.
type Graph struct {
	*Server
	transactions bool
}

var (
	_ linkbench.Database = (*Graph)(nil)
	_ linkbench.Resumer  = (*Graph)(nil)
)

// Graph is the connection as LinkBench's database. Closing either closes both.
// Config.Transactions is the same as TransactionsOn.
func (s *Server) Graph(ctx context.Context, t Transactions) (*Graph, error) {
	g := &Graph{Server: s, transactions: s.cfg.Transactions}
	switch t {
	case TransactionsOff:
		if s.cfg.Transactions {
			return nil, drivers.Configf("transactions are asked for and switched off: leave one of the two out")
		}
		return g, nil
	case TransactionsOn, TransactionsAuto, "":
	default:
		return nil, drivers.Configf("--transactions=%s: it must be auto, on or off", t)
	}
	if g.transactions {
		return g, nil // Open has tried them
	}
	err := s.probeTransactions(ctx)
	if err == nil && s.hello.isMongos() && s.cfg.isSRV() {
		err = drivers.Configf("transactions through mongos must stay on one router each, which a mongodb+srv URI doesn't allow; name the routers in a mongodb:// URI")
	}
	g.transactions = err == nil
	if err != nil && t != TransactionsOn && errors.Is(err, drivers.ErrConfig) && ctx.Err() == nil {
		return g, nil
	}
	return g, err
}

// HasTransactions tells whether links and their counts change in transactions.
func (g *Graph) HasTransactions() bool { return g.transactions }

// Settings are the server's, with LinkBench's transactions.
func (g *Graph) Settings(ctx context.Context) ([]drivers.Setting, error) {
	list, err := g.Server.Settings(ctx)
	for i := range list {
		if list[i].Name == "transactions" {
			list[i].Value = fmt.Sprint(g.transactions)
		}
	}
	return list, err
}

// ListTables gives the names of LinkBench's collections in the database.
func (g *Graph) ListTables(ctx context.Context) ([]string, error) {
	return g.list(ctx, linkTable, countTable, nodeTable)
}

func (g *Graph) list(ctx context.Context, wanted ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.StatementTimeout)
	defer cancel()
	names, err := g.database().ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return nil, fmt.Errorf("listing the collections of database %s: %w", g.cfg.Database, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(wanted, name) })
	slices.Sort(names)
	return names, nil
}

// CreateTables makes the three collections, and where ids of new nodes begin.
func (g *Graph) CreateTables(ctx context.Context, l linkbench.Layout) error {
	switch {
	case l.Partitions > 0:
		return drivers.Configf("collections have no partitions: leave them out")
	case l.KeyBlockKB > 0:
		return drivers.Configf("the key block size is InnoDB's: leave it out")
	case l.ColumnFamilies:
		return drivers.Configf("column families are MyRocks's: leave them out")
	}
	existing, err := g.ListTables(ctx)
	if err != nil {
		return err
	}
	if len(existing) > 0 {
		return drivers.Configf("collection %s exists already in database %s; drop LinkBench's first, or use --drop", strings.Join(existing, ", "), g.cfg.Database)
	}
	if err := g.dropAll(ctx, idTable); err != nil { // left by a graph that someone else dropped
		return err
	}
	for _, name := range []string{nodeTable, linkTable, countTable, idTable} {
		if err := g.change(ctx, bson.D{{Key: "create", Value: name}}); err != nil {
			return fmt.Errorf("making collection %s.%s: %w", g.cfg.Database, name, err)
		}
	}
	err = g.change(ctx, bson.D{{Key: "insert", Value: idTable}, {Key: "documents", Value: bson.A{
		bson.D{{Key: "_id", Value: nodeTable}, {Key: "next", Value: l.FirstNewNode}}}}})
	if err != nil {
		return fmt.Errorf("noting the first id of new nodes in %s.%s: %w", g.cfg.Database, idTable, err)
	}
	return nil
}

// indexFields are those of the links' secondary index.
var indexFields = map[linkbench.Index][]string{
	linkbench.IndexCovering: {"id1", "link_type", "visibility", "time", "id2", "version", "data"},
	linkbench.IndexShort:    {"id1", "link_type", "visibility", "time"},
}

// HasIndex looks for the links' secondary index.
func (g *Graph) HasIndex(ctx context.Context, l linkbench.Layout) (bool, error) {
	doing := fmt.Sprintf("looking for index %s on %s.%s", linkIndex, g.cfg.Database, linkTable)
	reply, err := g.short(ctx, g.database(), bson.D{{Key: "listIndexes", Value: linkTable}})
	if err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	batch, err := firstBatch(reply)
	if err != nil {
		return false, fmt.Errorf("%s: the reply can't be read: %w", doing, err)
	}
	for _, index := range batch {
		if name, _ := index.Lookup("name").StringValueOK(); name != linkIndex {
			continue
		}
		key, _ := index.Lookup("key").DocumentOK()
		keys, err := key.Elements()
		if err != nil {
			return false, fmt.Errorf("%s: the reply can't be read: %w", doing, err)
		}
		var got []string
		for _, key := range keys {
			got = append(got, key.Key())
		}
		if !slices.Equal(got, indexFields[l.Index]) {
			return false, drivers.Configf("index %s on %s.%s has the fields %s, and index %s has %s", linkIndex, g.cfg.Database, linkTable, strings.Join(got, ", "), l.Index, strings.Join(indexFields[l.Index], ", "))
		}
		return true, nil
	}
	return false, nil
}

// CreateIndex builds the secondary index of the links, as of lb.mongo2.post in
// mdcallag/mytools, or the short one of the MySQL scripts.
func (g *Graph) CreateIndex(ctx context.Context, l linkbench.Layout) error {
	fields, ok := indexFields[l.Index]
	if !ok {
		return drivers.Configf("index %q of the links isn't known: use covering or short", l.Index)
	}
	keys := bson.D{}
	for _, field := range fields {
		keys = append(keys, bson.E{Key: field, Value: int32(1)})
	}
	drivers.WaitingFor(ctx, "building index %s", linkIndex)
	err := g.whileAlive(ctx, func(ctx context.Context) error {
		_, err := runOn(ctx, g.database(), bson.D{{Key: "createIndexes", Value: linkTable},
			{Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: keys}, {Key: "name", Value: linkIndex}}}}})
		return err
	})
	if err != nil {
		return classify(fmt.Sprintf("building index %s on %s.%s", linkIndex, g.cfg.Database, linkTable), err, plain)
	}
	return nil
}

// DropTables removes those of LinkBench's collections that exist.
func (g *Graph) DropTables(ctx context.Context) error {
	return g.dropAll(ctx, linkTable, countTable, nodeTable, idTable)
}

func (g *Graph) dropAll(ctx context.Context, names ...string) error {
	existing, err := g.list(ctx, names...)
	if err != nil {
		return err
	}
	for _, name := range existing {
		err := g.change(ctx, bson.D{{Key: "drop", Value: name}})
		if err != nil && commandCode(err) != codeNamespaceNotFound {
			return fmt.Errorf("dropping collection %s.%s: %w", g.cfg.Database, name, err)
		}
	}
	return nil
}

// CheckBatch refuses a bulk insert that the server wouldn't take; see
// Server.CheckBatch.
func (g *Graph) CheckBatch(_ context.Context, rows, payloadBytes int) error {
	if rows > g.hello.MaxBatch {
		return drivers.Configf("%d rows per bulk insert are above the server's limit of %d documents per command; use fewer (bulk_insert_count)", rows, g.hello.MaxBatch)
	}
	const headBytes = 1000 // the command without its documents
	limit := min(g.hello.MaxDocumentBytes+internalDocumentBytes, g.hello.MaxMessageBytes)
	if size := headBytes + rows*maxDocumentFrame + payloadBytes; size > limit {
		return drivers.Configf("a bulk insert of %d rows with %d bytes of payload can make a command of %d bytes, above the server's limit of %d; use fewer rows (bulk_insert_count)", rows, payloadBytes, size, limit)
	}
	return nil
}
