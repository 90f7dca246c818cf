package mongo

import (
	"context"
	"fmt"
	"math"
	"slices"

	"insertbench/drivers"
	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/bson"
)

// ListTables gives the benchmark's collections.
func (s *Server) ListTables(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StatementTimeout)
	defer cancel()
	names, err := s.database().ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return nil, fmt.Errorf("listing the collections of database %s: %w", s.cfg.Database, err)
	}
	var tables []string
	for _, name := range names {
		if ibench.IsTableName(name) {
			tables = append(tables, name)
		}
	}
	return tables, nil
}

// CreateTable makes a collection, then its indexes. The engine is the
// server's, and was read back by Open. Some servers make one that exists
// again without a word, so that is looked up.
func (s *Server) CreateTable(ctx context.Context, t ibench.Table) error {
	if err := ibench.CheckTableName(t.Name); err != nil {
		return err
	}
	existing, err := s.ListTables(ctx)
	if err != nil {
		return err
	}
	exists := slices.Contains(existing, t.Name)
	if !exists {
		err = s.change(ctx, bson.D{{Key: "create", Value: t.Name}})
		exists = commandCode(err) == codeNamespaceExists
	}
	if exists {
		return drivers.Configf("collection %s.%s exists already; drop it first, or use --drop", s.cfg.Database, t.Name)
	}
	if err != nil {
		return fmt.Errorf("making collection %s.%s: %w", s.cfg.Database, t.Name, err)
	}
	return s.CreateIndexes(ctx, t.Name, t.Indexes)
}

// CreateIndexes builds indexes one by one, as iibench.py does.
func (s *Server) CreateIndexes(ctx context.Context, table string, indexes []ibench.Index) error {
	if err := ibench.CheckTableName(table); err != nil {
		return err
	}
	for _, x := range indexes {
		keys := bson.D{}
		for _, column := range x.Columns {
			keys = append(keys, bson.E{Key: s.names.of(column), Value: int32(1)})
		}
		err := s.whileAlive(ctx, func(ctx context.Context) error {
			_, err := runOn(ctx, s.database(), bson.D{
				{Key: "createIndexes", Value: table},
				{Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: keys}, {Key: "name", Value: indexName(x)}}}}})
			return err
		})
		if err != nil {
			return classify(fmt.Sprintf("building index %s on %s.%s", indexName(x), s.cfg.Database, table), err, plain)
		}
	}
	return nil
}

// indexName is iibench.py's name for an index in MongoDB.
func indexName(x ibench.Index) string {
	switch x.Name {
	case "marketsegment":
		return "pc"
	case "registersegment":
		return "cpc"
	default:
		return x.Name
	}
}

// DropTable removes one of the benchmark's collections. Servers since 7.0
// drop one that isn't there without a word, so that is looked up.
func (s *Server) DropTable(ctx context.Context, table string) error {
	if err := ibench.CheckTableName(table); err != nil {
		return err
	}
	existing, err := s.ListTables(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(existing, table) {
		return drivers.Configf("collection %s.%s doesn't exist", s.cfg.Database, table)
	}
	err = s.change(ctx, bson.D{{Key: "drop", Value: table}})
	if err != nil && commandCode(err) != codeNamespaceNotFound {
		return fmt.Errorf("dropping collection %s.%s: %w", s.cfg.Database, table, err)
	}
	return nil
}

// Sums reads a collection back with one aggregation over all documents.
func (s *Server) Sums(ctx context.Context, table string) (sums ibench.Sums, keepsNothing bool, err error) {
	if err := ibench.CheckTableName(table); err != nil {
		return ibench.Sums{}, false, err
	}
	sum := func(column string) bson.D { return bson.D{{Key: "$sum", Value: "$" + s.names.of(column)}} }
	group := bson.D{
		{Key: "_id", Value: nil},
		{Key: "rows", Value: bson.D{{Key: "$sum", Value: int64(1)}}},
		{Key: "cash", Value: sum("cashregisterid")},
		{Key: "customer", Value: sum("customerid")},
		{Key: "product", Value: sum("productid")},
		{Key: "price", Value: sum("price")},
		{Key: "data", Value: bson.D{{Key: "$sum", Value: bson.D{{Key: "$strLenBytes", Value: "$" + s.names.data}}}}},
	}
	command := bson.D{
		{Key: "aggregate", Value: table},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$group", Value: group}}}},
		{Key: "cursor", Value: bson.D{}},
	}
	if s.readConcern != "" {
		command = append(command, bson.E{Key: "readConcern", Value: bson.D{{Key: "level", Value: s.readConcern}}})
	}
	var reply bson.Raw
	err = s.whileAlive(ctx, func(ctx context.Context) (err error) {
		reply, err = readOn(ctx, s.database(), command)
		return err
	})
	if err != nil {
		return ibench.Sums{}, false, fmt.Errorf("summing collection %s.%s: %w", s.cfg.Database, table, err)
	}
	groups, err := firstBatch(reply)
	if err != nil {
		return ibench.Sums{}, false, fmt.Errorf("summing collection %s.%s: the reply can't be read: %w", s.cfg.Database, table, err)
	}
	if len(groups) == 0 {
		return ibench.Sums{}, s.keepsNothing, nil
	}
	g := groups[0]
	for field, to := range map[string]*int64{
		"rows": &sums.Rows, "cash": &sums.CashRegisterID, "customer": &sums.CustomerID,
		"product": &sums.ProductID, "price": &sums.Price, "data": &sums.DataBytes,
	} {
		if *to, err = wholeNumber(g, field); err != nil {
			return ibench.Sums{}, false, fmt.Errorf("summing collection %s.%s: %w", s.cfg.Database, table, err)
		}
	}
	return sums, s.keepsNothing, nil
}

// maxExact is the largest integer up to which a double holds every integer.
const maxExact = 1 << 53

// wholeNumber reads a count or a sum exactly: servers answer with int32, int64
// or double.
func wholeNumber(doc bson.Raw, field string) (int64, error) {
	v, err := doc.LookupErr(field)
	if err != nil {
		return 0, fmt.Errorf("the reply has no %s", field)
	}
	if d, ok := v.DoubleOK(); ok && (d != math.Trunc(d) || math.Abs(d) > maxExact) {
		return 0, fmt.Errorf("%s is %g, which is not exact", field, d)
	}
	n, ok := v.AsInt64OK()
	if !ok {
		return 0, fmt.Errorf("%s is not a number", field)
	}
	return n, nil
}
