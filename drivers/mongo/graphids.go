package mongo

import (
	"context"
	"fmt"

	"insertbench/drivers"
	"insertbench/linkbench/graph"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// idBlock is how many ids a client takes at once.
const idBlock = 1000

// AddNode inserts a node under an id that no other client has. Where a client
// of another kind has used it, ids go on behind the largest there is.
func (c *graphClient) AddNode(_ context.Context, n *graph.Node) (int64, error) {
	const doing = "adding a node"
	s := &step{ctx: context.Background()}
	for range maxTurns {
		if c.nextID == c.lastID {
			if err := c.takeIDs(doing, s); err != nil {
				return 0, err
			}
		}
		node := *n
		node.ID = c.nextID
		c.nextID++
		ok, err := c.insertOne(doing, nodeTable, s, func(dst []byte) []byte { return appendNode(dst, &node) })
		if ok || err != nil {
			return node.ID, err
		}
		c.nextID = c.lastID
		if err := c.raiseIDs(doing, s); err != nil {
			return 0, err
		}
	}
	return 0, &drivers.Error{Class: drivers.Fatal, Code: "DuplicateKey", Err: fmt.Errorf("%s: %d ids in turn were in use: is another program adding nodes?", doing, maxTurns)}
}

// takeIDs moves the next id of the database on by a block.
func (c *graphClient) takeIDs(doing string, s *step) error {
	for range maxTurns {
		after, found, err := c.changeNext(doing, s, "$inc", idBlock)
		if err != nil {
			return err
		}
		if found {
			c.nextID, c.lastID = after-idBlock, after
			return nil
		}
		// A graph loaded by someone else.
		if err := c.raiseIDs(doing, s); err != nil {
			return err
		}
	}
	return &drivers.Error{Class: drivers.Fatal, Code: codeBadReply, Err: fmt.Errorf("%s: collection %s doesn't keep the next id", doing, idTable)}
}

// raiseIDs lets ids go on behind the largest node.
func (c *graphClient) raiseIDs(doing string, s *step) error {
	largest, err := c.largestID(doing)
	if err != nil {
		return err
	}
	_, found, err := c.changeNext(doing, s, "$max", largest+1)
	if err != nil || found {
		return err
	}
	_, err = c.insertOne(doing, idTable, s, func(dst []byte) []byte {
		start, dst := bsoncore.AppendDocumentStart(dst)
		dst = bsoncore.AppendStringElement(dst, "_id", nodeTable)
		return end(bsoncore.AppendInt64Element(dst, "next", largest+1), start)
	})
	return err
}

// changeNext changes the next id and gives what it is then.
func (c *graphClient) changeNext(doing string, s *step, operator string, n int64) (after int64, found bool, err error) {
	dst := c.begin("findAndModify", idTable)
	query, dst := bsoncore.AppendDocumentElementStart(dst, "query")
	dst = end(bsoncore.AppendStringElement(dst, "_id", nodeTable), query)
	update, dst := bsoncore.AppendDocumentElementStart(dst, "update")
	change, dst := bsoncore.AppendDocumentElementStart(dst, operator)
	dst = end(end(bsoncore.AppendInt64Element(dst, "next", n), change), update)
	reply, err := c.runStep(doing, bsoncore.AppendBooleanElement(dst, "new", true), s)
	if err != nil {
		return 0, false, err
	}
	doc, found := reply.Lookup("value").DocumentOK()
	if !found {
		return 0, false, nil
	}
	if after, err = wholeNumber(doc, "next"); err != nil {
		return 0, true, unreadable(doing, err)
	}
	return after, true, nil
}

// largestID is the largest id of a node, 0 where there is none.
func (c *graphClient) largestID(doing string) (largest int64, err error) {
	dst := c.begin("find", nodeTable)
	sort, dst := bsoncore.AppendDocumentElementStart(dst, "sort")
	dst = end(bsoncore.AppendInt32Element(dst, "_id", -1), sort)
	projection, dst := bsoncore.AppendDocumentElementStart(dst, "projection")
	dst = end(bsoncore.AppendInt32Element(dst, "_id", 1), projection)
	var n graph.Node
	err = c.find(doing, dst, 1, func(doc bson.Raw) error { return readNode(doc, &n) })
	return n.ID, err
}
