package mongo

import (
	"context"
	"fmt"
	"strconv"

	"insertbench/drivers"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// graphClient is a requester: one connection, which commands and transactions
// follow each other on. Commands are built in a buffer that is kept.
type graphClient struct {
	*inserter
	graph *Graph
	buf   []byte
	link  graph.Link
	// nextID to lastID are ids of new nodes that this client may give.
	nextID, lastID int64
}

// OpenClient opens a requester's connection.
func (g *Graph) OpenClient(ctx context.Context) (linkbench.Client, error) {
	in, err := g.openConnection(ctx, g.cfg.StatementTimeout, g.transactions)
	if err != nil {
		return nil, err
	}
	return &graphClient{inserter: in, graph: g}, nil
}

// begin starts a command.
func (c *graphClient) begin(command, collection string) []byte {
	_, dst := bsoncore.AppendDocumentStart(c.buf[:0])
	return bsoncore.AppendStringElement(dst, command, collection)
}

// run ends a command and sends it.
func (c *graphClient) run(ctx context.Context, doing string, dst []byte, p phase) (bson.Raw, error) {
	c.buf = end(dst, 0)
	if c.dial.isAborted() {
		return nil, &drivers.Error{Class: drivers.Fatal, Code: codeAborted, Err: fmt.Errorf("%s: nothing was sent: %w", doing, errAborted)}
	}
	reply, err := c.db.RunCommand(ctx, bson.Raw(c.buf)).Raw()
	if err != nil {
		return nil, c.failed(doing, err, p)
	}
	return reply, nil
}

// failed classes an error; after Abort the answer will never be known.
func (c *graphClient) failed(doing string, err error, p phase) *drivers.Error {
	e := classify(doing+" in database "+c.server.cfg.Database, err, p)
	c.broken = c.broken || e.Code == codeConnectionLost || e.Code == codeTimeout || e.Code == codeCantConnect
	if c.dial.isAborted() {
		e.Class, e.Code = drivers.Unknown, codeAborted
		e.Err = fmt.Errorf("%s: aborted before the answer came", doing)
	}
	return e
}

// appendReadConcern and appendWriteConcern add what the configuration says.
func (c *graphClient) appendReadConcern(dst []byte) []byte {
	if c.server.readConcern == "" {
		return dst
	}
	start, dst := bsoncore.AppendDocumentElementStart(dst, "readConcern")
	return end(bsoncore.AppendStringElement(dst, "level", c.server.readConcern), start)
}

func (c *graphClient) appendWriteConcern(dst []byte) ([]byte, error) {
	if !c.server.concern.isSet() {
		return dst, nil
	}
	raw, err := bson.Marshal(c.server.concern.document())
	return bsoncore.AppendDocumentElement(dst, "writeConcern", raw), err
}

// find ends a find command for at most limit documents and visits them: one
// round trip.
func (c *graphClient) find(doing string, dst []byte, limit int, visit func(bson.Raw) error) error {
	dst = bsoncore.AppendInt64Element(dst, "limit", int64(limit))
	dst = bsoncore.AppendInt64Element(dst, "batchSize", int64(limit))
	dst = bsoncore.AppendBooleanElement(dst, "singleBatch", true)
	reply, err := c.run(context.Background(), doing, c.appendReadConcern(dst), plain)
	if err != nil {
		return err
	}
	batch, err := firstBatch(reply)
	for i := 0; err == nil && i < len(batch); i++ {
		err = visit(batch[i])
	}
	if err != nil {
		return unreadable(doing, err)
	}
	return nil
}

// CountLinks reads a count row.
func (c *graphClient) CountLinks(_ context.Context, id1, linkType int64) (int64, error) {
	dst := c.begin("find", countTable)
	start, dst := bsoncore.AppendDocumentElementStart(dst, "filter")
	dst = end(appendCountID(dst, "_id", id1, linkType), start)
	var count graph.Count
	err := c.find("counting links", dst, 1, func(doc bson.Raw) error { return readCount(doc, &count) })
	return count.Count, err
}

// MultigetLinks finds links by their keys.
func (c *graphClient) MultigetLinks(_ context.Context, id1, linkType int64, id2s []int64, visit func(*graph.Link)) error {
	if len(id2s) == 0 {
		return nil
	}
	dst := c.begin("find", linkTable)
	filter, dst := bsoncore.AppendDocumentElementStart(dst, "filter")
	id, dst := bsoncore.AppendDocumentElementStart(dst, "_id")
	in, dst := bsoncore.AppendArrayElementStart(dst, "$in")
	for i, id2 := range id2s {
		dst = appendLinkID(dst, strconv.Itoa(i), linkType, id1, id2)
	}
	dst = end(end(end(dst, in), id), filter)
	return c.find("getting links", dst, len(id2s), c.visitor(visit))
}

func (c *graphClient) visitor(visit func(*graph.Link)) func(bson.Raw) error {
	return func(doc bson.Raw) error {
		if err := readLink(doc, &c.link); err != nil {
			return err
		}
		visit(&c.link)
		return nil
	}
}

// ListLinks reads a page of the visible links. The projection is that of the
// covering index.
func (c *graphClient) ListLinks(_ context.Context, q *linkbench.ListQuery, visit func(*graph.Link)) error {
	dst := c.begin("find", linkTable)
	filter, dst := bsoncore.AppendDocumentElementStart(dst, "filter")
	dst = bsoncore.AppendInt64Element(dst, "id1", q.ID1)
	dst = bsoncore.AppendInt64Element(dst, "link_type", q.Type)
	between, dst := bsoncore.AppendDocumentElementStart(dst, "time")
	dst = bsoncore.AppendInt64Element(dst, "$gte", q.MinTimeMS)
	dst = end(bsoncore.AppendInt64Element(dst, "$lte", q.MaxTimeMS), between)
	dst = end(bsoncore.AppendInt32Element(dst, "visibility", graph.Visible), filter)
	sort, dst := bsoncore.AppendDocumentElementStart(dst, "sort")
	dst = end(bsoncore.AppendInt32Element(dst, "time", -1), sort)
	projection, dst := bsoncore.AppendDocumentElementStart(dst, "projection")
	dst = bsoncore.AppendInt32Element(dst, "_id", 0)
	for _, field := range [...]string{"id1", "link_type", "visibility", "time", "id2", "version", "data"} {
		dst = bsoncore.AppendInt32Element(dst, field, 1)
	}
	dst = end(dst, projection)
	dst = bsoncore.AppendInt64Element(dst, "skip", int64(q.Offset))
	return c.find("listing links", dst, q.Limit, c.visitor(visit))
}

// GetNode reads a node.
func (c *graphClient) GetNode(_ context.Context, id int64, nodeType int32, n *graph.Node) (found bool, err error) {
	dst := c.begin("find", nodeTable)
	filter, dst := bsoncore.AppendDocumentElementStart(dst, "filter")
	dst = end(bsoncore.AppendInt64Element(dst, "_id", id), filter)
	err = c.find("getting a node", dst, 1, func(doc bson.Raw) error {
		found = true
		return readNode(doc, n) // the reply is a buffer of its own
	})
	return found && n.Type == nodeType, err
}

// write ends a command that is a write by itself and gives the number of
// documents that it found.
func (c *graphClient) write(doing string, dst []byte) (found bool, err error) {
	if dst, err = c.appendWriteConcern(dst); err != nil {
		return false, err
	}
	reply, err := c.run(context.Background(), doing, dst, plain)
	if err != nil {
		return false, err
	}
	n, ok := acknowledged(reply)
	if !ok {
		return false, &drivers.Error{Class: drivers.Unknown, Code: codeBadReply, Err: fmt.Errorf("%s: the reply has no n", doing)}
	}
	return n > 0, nil
}

// UpdateNode changes a node.
func (c *graphClient) UpdateNode(_ context.Context, n *graph.Node) (bool, error) {
	dst := c.begin("update", nodeTable)
	updates, dst := bsoncore.AppendArrayElementStart(dst, "updates")
	update, dst := bsoncore.AppendDocumentElementStart(dst, "0")
	dst = appendNodeQuery(dst, n.ID, n.Type)
	change, dst := bsoncore.AppendDocumentElementStart(dst, "u")
	set, dst := bsoncore.AppendDocumentElementStart(dst, "$set")
	dst = end(end(appendNodeValues(dst, n), set), change)
	return c.write("updating a node", end(end(dst, update), updates))
}

// DeleteNode removes a node.
func (c *graphClient) DeleteNode(_ context.Context, id int64, nodeType int32) (bool, error) {
	dst := c.begin("delete", nodeTable)
	deletes, dst := bsoncore.AppendArrayElementStart(dst, "deletes")
	one, dst := bsoncore.AppendDocumentElementStart(dst, "0")
	dst = bsoncore.AppendInt32Element(appendNodeQuery(dst, id, nodeType), "limit", 1)
	return c.write("deleting a node", end(end(dst, one), deletes))
}

func appendNodeQuery(dst []byte, id int64, nodeType int32) []byte {
	q, dst := bsoncore.AppendDocumentElementStart(dst, "q")
	dst = bsoncore.AppendInt64Element(dst, "_id", id)
	return end(bsoncore.AppendInt32Element(dst, "type", nodeType), q)
}
