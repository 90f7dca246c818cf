package mongo

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"insertbench/drivers"
	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

var _ ibench.Reader = (*Server)(nil)

// NumbersByClient is true: keys are made of a client and its row.
func (s *Server) NumbersByClient() bool { return true }

// withConcern adds the read concern where one is asked for.
func (s *Server) withConcern(command bson.D) bson.D {
	if s.readConcern == "" {
		return command
	}
	return append(command, bson.E{Key: "readConcern", Value: bson.D{{Key: "level", Value: s.readConcern}}})
}

// ask runs a prebuilt command on a worker's connection.
func (in *inserter) ask(doing string, command []byte) (bson.Raw, error) {
	reply, err := in.db.RunCommand(context.Background(), bson.Raw(command)).Raw()
	if err != nil {
		e := classify(doing, err, plain)
		if in.dial.isAborted() {
			e.Class, e.Code = drivers.Unknown, codeAborted
		}
		return nil, e
	}
	return reply, nil
}

// unreadable is a reply that isn't what the command's answer must be.
func unreadable(doing string, err error) error {
	return &drivers.Error{Class: drivers.Fatal, Code: codeShortReply, Err: fmt.Errorf("%s: the reply can't be read: %w", doing, err)}
}

// OpenQuerier opens a connection for one reader. Its commands are built once
// and have their values put in.
func (s *Server) OpenQuerier(ctx context.Context, table string, client, rows int) (ibench.Querier, error) {
	in, err := s.openWorker(ctx, table, s.cfg.StatementTimeout)
	if err != nil {
		return nil, err
	}
	q := &querier{inserter: in, id: s.cfg.IDKind, client: client, product: s.names.productID, data: s.names.data}
	for i := range q.ranges {
		if q.ranges[i], err = s.rangeCommand(table, i, rows); err != nil {
			return nil, err
		}
	}
	if q.points, err = s.pointCommand(table, rows); err != nil {
		return nil, err
	}
	return q, nil
}

type querier struct {
	*inserter
	id            IDKind
	client        int
	product, data string
	ranges        [3]rangeQuery
	points        pointQuery
}

// rangeQuery is a find command; at is where its value stands, an int32.
type rangeQuery struct {
	command []byte
	at      int
	fields  []string
}

func (s *Server) rangeCommand(table string, index, rows int) (rangeQuery, error) {
	x := ibench.Indexes[index]
	q := rangeQuery{}
	order, projection := bson.D{}, bson.D{{Key: "_id", Value: int32(0)}}
	for _, column := range x.Columns {
		field := s.names.of(column)
		q.fields = append(q.fields, field)
		order = append(order, bson.E{Key: field, Value: int32(1)})
		projection = append(projection, bson.E{Key: field, Value: int32(1)})
	}
	const from = "$gte"
	command, err := bson.Marshal(s.withConcern(bson.D{
		{Key: "find", Value: table},
		{Key: "filter", Value: bson.D{{Key: q.fields[0], Value: bson.D{{Key: from, Value: int32(0)}}}}},
		{Key: "sort", Value: order}, {Key: "limit", Value: int64(rows)}, {Key: "batchSize", Value: int64(rows)}, {Key: "singleBatch", Value: true},
		{Key: "projection", Value: projection}, {Key: "hint", Value: indexName(x)},
	}))
	q.command = command
	q.at = bytes.Index(command, []byte(from+"\x00")) + len(from) + 1
	return q, err
}

// Range reads a secondary index, covered by it.
func (q *querier) Range(_ context.Context, index int, from int64, dst []ibench.Entry) ([]ibench.Entry, error) {
	doing := "querying index " + indexName(ibench.Indexes[index])
	query := &q.ranges[index]
	binary.LittleEndian.PutUint32(query.command[query.at:], uint32(int32(from)))
	reply, err := q.ask(doing, query.command)
	if err != nil {
		return dst, err
	}
	batch, err := firstBatch(reply)
	if err != nil {
		return dst, unreadable(doing, err)
	}
	for _, doc := range batch {
		var e ibench.Entry
		for i, field := range query.fields {
			v := doc.Lookup(field)
			if v.Type == bson.TypeDateTime {
				e[i] = v.DateTime() / 1000
				continue
			}
			n, ok := v.AsInt64OK()
			if !ok {
				return dst, unreadable(doing, fmt.Errorf("%s is no number", field))
			}
			e[i] = n
		}
		dst = append(dst, e)
	}
	return dst, nil
}

// pointQuery is a find command; at is where its keys stand.
type pointQuery struct {
	command []byte
	at      []int
	width   int
}

func (s *Server) pointCommand(table string, rows int) (pointQuery, error) {
	keys := bson.A{}
	q := pointQuery{width: len(keyBytes(nil, s.cfg.IDKind, 0, 0))}
	for range rows {
		keys = append(keys, key(s.cfg.IDKind, 0, 0))
	}
	command, err := bson.Marshal(s.withConcern(bson.D{
		{Key: "find", Value: table}, {Key: "filter", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: keys}}}}},
		{Key: "limit", Value: int64(rows)}, {Key: "batchSize", Value: int64(rows)}, {Key: "singleBatch", Value: true},
		{Key: "projection", Value: bson.D{{Key: s.names.productID, Value: int32(1)}, {Key: s.names.data, Value: int32(1)}}},
		{Key: "hint", Value: bson.D{{Key: "_id", Value: int32(1)}}},
	}))
	if err != nil {
		return q, err
	}
	q.command = command
	// Behind "$in" and its zero comes the array's length, then each element's
	// type, number and value.
	at := bytes.Index(command, []byte("$in\x00")) + len("$in\x00") + 4
	for i := range rows {
		at += 1 + len(fmt.Sprint(i)) + 1
		q.at = append(q.at, at)
		at += q.width
	}
	return q, nil
}

// Points reads documents by their _id.
func (q *querier) Points(_ context.Context, numbers []int64, dst []ibench.PointRow) ([]ibench.PointRow, error) {
	const doing = "querying by _id"
	for i, n := range numbers {
		at := q.points.at[i]
		keyBytes(q.points.command[:at], q.id, q.client, n) // there is room: it overwrites the old key
	}
	reply, err := q.ask(doing, q.points.command)
	if err != nil {
		return dst, err
	}
	batch, err := firstBatch(reply)
	if err != nil {
		return dst, unreadable(doing, err)
	}
	for _, doc := range batch {
		_, number, err := keyOf(doc.Lookup("_id"))
		if err != nil {
			return dst, unreadable(doing, err)
		}
		product, isNumber := doc.Lookup(q.product).AsInt64OK()
		data, isText := doc.Lookup(q.data).StringValueOK()
		if !isNumber || !isText {
			return dst, unreadable(doing, fmt.Errorf("row %d has no %s or %s", number, q.product, q.data))
		}
		var p ibench.PointRow
		if len(dst) < cap(dst) {
			p = dst[:len(dst)+1][len(dst)]
		}
		p.Number, p.ProductID, p.Data = number, int32(product), append(p.Data[:0], data...)
		dst = append(dst, p)
	}
	return dst, nil
}

// OpenScanner opens a connection for scans.
func (s *Server) OpenScanner(ctx context.Context, table string) (ibench.Scanner, error) {
	in, err := s.openWorker(ctx, table, 0)
	if err != nil {
		return nil, err
	}
	return &scanner{inserter: in, table: table}, nil
}

type scanner struct {
	*inserter
	table string
}

// Scan counts what it reads.
func (c *scanner) Scan(_ context.Context, index int) (int64, error) {
	doing := "scanning all documents of " + c.table
	if index != ibench.PrimaryKey {
		doing = "scanning index " + indexName(ibench.Indexes[index]) + " of " + c.table
	}
	command, err := c.server.scanCommand(c.table, index)
	if err != nil {
		return 0, err
	}
	reply, err := c.ask(doing, command)
	if err != nil {
		return 0, err
	}
	groups, err := firstBatch(reply)
	if err != nil {
		return 0, unreadable(doing, err)
	}
	if len(groups) == 0 {
		return 0, nil
	}
	n, err := wholeNumber(groups[0], "n")
	if err != nil {
		return 0, unreadable(doing, err)
	}
	return n, nil
}

// scanCommand counts documents in their own order, looking at data so that
// they have to be read, or the entries of an index.
func (s *Server) scanCommand(table string, index int) ([]byte, error) {
	match, hint := bson.D{{Key: s.names.data, Value: bson.D{{Key: "$type", Value: "string"}}}}, any(bson.D{{Key: "$natural", Value: int32(1)}})
	if index != ibench.PrimaryKey {
		x := ibench.Indexes[index]
		match, hint = bson.D{{Key: s.names.of(x.Columns[0]), Value: bson.D{{Key: "$gte", Value: int32(0)}}}}, indexName(x)
	}
	return bson.Marshal(s.withConcern(bson.D{
		{Key: "aggregate", Value: table},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$match", Value: match}},
			bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int64(1)}}}}}},
		}},
		{Key: "cursor", Value: bson.D{}}, {Key: "hint", Value: hint},
	}))
}

// Extent counts the documents and reads the ends of _id and the indexes.
func (s *Server) Extent(ctx context.Context, table string) (ibench.Extent, error) {
	var x ibench.Extent
	sums, _, err := s.Sums(ctx, table)
	if err != nil || sums.Rows == 0 {
		if err == nil {
			x.Indexes, err = s.indexNames(ctx, table)
		}
		return x, err
	}
	x.Rows = sums.Rows
	if x.Lowest, err = s.end(ctx, table, 1); err != nil {
		return x, err
	}
	if x.Highest, err = s.end(ctx, table, -1); err != nil {
		return x, err
	}
	x.Indexes, err = s.indexNames(ctx, table)
	return x, err
}

// short runs a command that isn't expected to take long.
func (s *Server) short(ctx context.Context, db *mongo.Database, command bson.D) (bson.Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StatementTimeout)
	defer cancel()
	return readOn(ctx, db, command)
}

// end is the row with the smallest _id (order 1) or the largest (order -1);
// in a second in which the bits of ObjectIds begin anew, the first row that
// there is, or the last.
func (s *Server) end(ctx context.Context, table string, order int32) (int64, error) {
	client, number, found, err := s.findKey(ctx, table, order, nil)
	if err != nil || !found || s.cfg.IDKind == Int64 {
		return number, err
	}
	t, turns := turnOf(number)
	if !turns || !t.isIn(number) || order > 0 == (number < t.at) {
		return number, nil
	}
	bound := bson.D{{Key: "$gte", Value: key(ObjectID, client, t.first)}}
	if order < 0 {
		bound = bson.D{{Key: "$lte", Value: key(ObjectID, client, t.last)}}
	}
	_, other, found, err := s.findKey(ctx, table, order, bound)
	if err != nil || !found || !t.isIn(other) {
		return number, err
	}
	return other, nil
}

// findKey reads the smallest or the largest _id within a bound.
func (s *Server) findKey(ctx context.Context, table string, order int32, bound bson.D) (client int, number int64, found bool, err error) {
	reply, err := s.short(ctx, s.database(), s.withConcern(endKey(table, order, bound)))
	if err != nil {
		return 0, 0, false, fmt.Errorf("reading the ends of collection %s.%s: %w", s.cfg.Database, table, err)
	}
	batch, err := firstBatch(reply)
	if err != nil || len(batch) == 0 {
		return 0, 0, false, err
	}
	client, number, err = keyOf(batch[0].Lookup("_id"))
	return client, number, err == nil, err
}

// endKey is the command that finds the smallest or the largest _id.
func endKey(table string, order int32, bound bson.D) bson.D {
	filter := bson.D{}
	if bound != nil {
		filter = bson.D{{Key: "_id", Value: bound}}
	}
	return bson.D{
		{Key: "find", Value: table}, {Key: "filter", Value: filter}, {Key: "sort", Value: bson.D{{Key: "_id", Value: order}}}, {Key: "limit", Value: int64(1)},
		{Key: "singleBatch", Value: true}, {Key: "projection", Value: bson.D{{Key: "_id", Value: int32(1)}}},
		{Key: "hint", Value: bson.D{{Key: "_id", Value: int32(1)}}},
	}
}

// indexNames are the benchmark's names of the indexes that are there.
func (s *Server) indexNames(ctx context.Context, table string) ([]string, error) {
	reply, err := s.short(ctx, s.database(), bson.D{{Key: "listIndexes", Value: table}})
	if err != nil {
		return nil, fmt.Errorf("listing the indexes of collection %s.%s: %w", s.cfg.Database, table, err)
	}
	batch, err := firstBatch(reply)
	if err != nil {
		return nil, fmt.Errorf("listing the indexes of collection %s.%s: the reply can't be read: %w", s.cfg.Database, table, err)
	}
	var names []string
	for _, x := range ibench.Indexes {
		if slices.ContainsFunc(batch, func(doc bson.Raw) bool { return doc.Lookup("name").StringValue() == indexName(x) }) {
			names = append(names, x.Name)
		}
	}
	return names, nil
}
