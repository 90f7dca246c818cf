package mongo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"insertbench/drivers"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// errGone is a link that was neither to insert nor to find, or a count row.
var errGone = errors.New("it was there when it was inserted and missing when it was updated")

// maxTurns bounds how often something is inserted and updated in turn, and how
// often a count is tried again whose link is changed already.
const maxTurns = 100

// step is a command's place in a transaction.
type step struct {
	ctx context.Context
	// number is the transaction's; 0 outside one.
	number int64
	// begun is whether an earlier command began it.
	begun bool
}

func (s *step) phase() phase {
	if s.number != 0 {
		return inTransaction
	}
	return plain
}

// appendStep adds a command's transaction, or else its write concern.
func (c *graphClient) appendStep(dst []byte, s *step) ([]byte, error) {
	if s.number == 0 {
		return c.appendWriteConcern(dst)
	}
	if !s.begun {
		s.begun = true
		level, started := bsoncore.AppendDocumentElementStart(dst, "readConcern")
		dst = end(bsoncore.AppendStringElement(started, "level", c.server.transactionLevel()), level)
		dst = bsoncore.AppendBooleanElement(dst, "startTransaction", true)
	}
	dst = bsoncore.AppendInt64Element(dst, "txnNumber", s.number)
	return bsoncore.AppendBooleanElement(dst, "autocommit", false), nil
}

// runStep sends a command that changes something.
func (c *graphClient) runStep(doing string, dst []byte, s *step) (bson.Raw, error) {
	dst, err := c.appendStep(dst, s)
	if err != nil {
		return nil, err
	}
	return c.run(s.ctx, doing, dst, s.phase())
}

// transaction runs a body in a transaction where there are any. A body that
// changed nothing is aborted; so is one that failed, as well as can be: a new
// number on the session ends what an earlier one left open.
func (c *graphClient) transaction(doing string, body func(s *step) (changed bool, err error)) error {
	if c.session == nil {
		_, err := body(&step{ctx: context.Background()})
		return err
	}
	c.txnNumber++
	s := &step{ctx: mongo.NewSessionContext(context.Background(), c.session), number: c.txnNumber}
	changed, err := body(s)
	if err != nil || !changed {
		if !c.broken && drivers.ClassOf(err) != drivers.Unknown || err == nil {
			_ = c.admin.RunCommand(s.ctx, endTransaction("abortTransaction", s.number, writeConcern{})).Err()
		}
		return err
	}
	if err := c.admin.RunCommand(s.ctx, endTransaction("commitTransaction", s.number, c.server.concern)).Err(); err != nil {
		return c.failed(doing, err, committing)
	}
	return nil
}

// findAndModify changes a link that is there, and reads what it was before into
// c.link. In a transaction it may insert one that isn't. Outside, another
// client's insert may come between what an upsert sees and what it says.
func (c *graphClient) findAndModify(doing string, s *step, l *graph.Link, upsert bool) (found bool, err error) {
	dst := c.begin("findAndModify", linkTable)
	query, dst := bsoncore.AppendDocumentElementStart(dst, "query")
	dst = end(appendLinkID(dst, "_id", l.Type, l.ID1, l.ID2), query)
	update, dst := bsoncore.AppendDocumentElementStart(dst, "update")
	set, dst := bsoncore.AppendDocumentElementStart(dst, "$set")
	dst = end(appendLinkValues(dst, l), set)
	if upsert {
		start, inserted := bsoncore.AppendDocumentElementStart(dst, "$setOnInsert")
		dst = bsoncore.AppendInt64Element(inserted, "id1", l.ID1)
		dst = bsoncore.AppendInt64Element(dst, "link_type", l.Type)
		dst = end(bsoncore.AppendInt64Element(dst, "id2", l.ID2), start)
	}
	dst = end(dst, update)
	if upsert {
		dst = bsoncore.AppendBooleanElement(dst, "upsert", true)
	}
	return c.before(doing, dst, s)
}

// before ends a findAndModify and reads the link as it was.
func (c *graphClient) before(doing string, dst []byte, s *step) (found bool, err error) {
	projection, dst := bsoncore.AppendDocumentElementStart(dst, "fields")
	dst = bsoncore.AppendInt32Element(dst, "_id", 0)
	for _, field := range [...]string{"visibility", "version", "time", "data"} {
		dst = bsoncore.AppendInt32Element(dst, field, 1)
	}
	reply, err := c.runStep(doing, end(dst, projection), s)
	if err != nil {
		return false, err
	}
	value, err := reply.LookupErr("value")
	if err != nil {
		return false, &drivers.Error{Class: drivers.Unknown, Code: codeBadReply, Err: fmt.Errorf("%s: the reply has no value", doing)}
	}
	doc, found := value.DocumentOK()
	if !found {
		c.link = graph.Link{}
		return false, nil
	}
	if err := readLink(doc, &c.link); err != nil {
		return true, &drivers.Error{Class: drivers.Unknown, Code: codeBadReply, Err: fmt.Errorf("%s: the link before can't be read: %w", doing, err)}
	}
	return true, nil
}

// insertOne inserts a document; ok is false where its key exists.
func (c *graphClient) insertOne(doing, collection string, s *step, document func(dst []byte) []byte) (ok bool, err error) {
	dst := c.begin("insert", collection)
	array, dst := bsoncore.AppendArrayElementStart(dst, "documents")
	dst = document(bsoncore.AppendHeader(dst, bson.TypeEmbeddedDocument, "0"))
	reply, err := c.runStep(doing, end(dst, array), s)
	switch n, _ := acknowledged(reply); {
	case err != nil && commandCode(err) == codeDuplicateKey:
		return false, nil
	case err != nil:
		return false, err
	case n != 1:
		return false, &drivers.Error{Class: drivers.Unknown, Code: codeShortReply, Err: fmt.Errorf("%s: the server acknowledged %d documents of 1", doing, n)}
	}
	return true, nil
}

// AddLink inserts a link, or updates one that exists.
func (c *graphClient) AddLink(_ context.Context, l *graph.Link) (linkbench.Effect, error) {
	return c.put("adding a link", l, true)
}

// UpdateLink updates a link, or inserts one that doesn't exist.
func (c *graphClient) UpdateLink(_ context.Context, l *graph.Link) (linkbench.Effect, error) {
	return c.put("updating a link", l, false)
}

func (c *graphClient) put(doing string, l *graph.Link, insertFirst bool) (effect linkbench.Effect, err error) {
	err = c.transaction(doing, func(s *step) (bool, error) {
		var found bool
		var err error
		if s.number != 0 {
			found, err = c.findAndModify(doing, s, l, true)
		} else {
			found, err = c.take(doing, s, l, insertFirst)
		}
		if err != nil {
			return false, err
		}
		old := &c.link // zero, and so hidden, where there was none
		switch {
		case !found:
			effect = linkbench.Inserted
		case old.Visibility == l.Visibility && old.Version == l.Version && old.TimeMS == l.TimeMS && bytes.Equal(old.Data, l.Data):
			effect = linkbench.Unchanged
			return false, nil
		default:
			effect = linkbench.Updated
		}
		return true, c.count(doing, s, l.ID1, l.Type, int64(l.Visibility)-int64(old.Visibility))
	})
	return effect, err
}

// take inserts or updates without a transaction, the one that is likelier to
// succeed first.
func (c *graphClient) take(doing string, s *step, l *graph.Link, insert bool) (found bool, err error) {
	for range maxTurns {
		if insert {
			ok, err := c.insertOne(doing, linkTable, s, func(dst []byte) []byte { return appendLink(dst, l) })
			if ok || err != nil {
				c.link = graph.Link{}
				return false, err
			}
		} else if found, err := c.findAndModify(doing, s, l, false); found || err != nil {
			return found, err
		}
		insert = !insert
	}
	return false, &drivers.Error{Class: drivers.Retryable, Code: "link comes and goes", Err: fmt.Errorf("%s: %w, %d times over", doing, errGone, maxTurns)}
}

// DeleteLink hides a link that is visible.
func (c *graphClient) DeleteLink(_ context.Context, id1, linkType, id2 int64) (effect linkbench.Effect, err error) {
	const doing = "deleting a link"
	err = c.transaction(doing, func(s *step) (bool, error) {
		dst := c.begin("findAndModify", linkTable)
		query, dst := bsoncore.AppendDocumentElementStart(dst, "query")
		dst = appendLinkID(dst, "_id", linkType, id1, id2)
		dst = end(bsoncore.AppendInt32Element(dst, "visibility", graph.Visible), query)
		update, dst := bsoncore.AppendDocumentElementStart(dst, "update")
		set, dst := bsoncore.AppendDocumentElementStart(dst, "$set")
		dst = end(end(bsoncore.AppendInt32Element(dst, "visibility", graph.Hidden), set), update)
		found, err := c.before(doing, dst, s)
		if err != nil || !found {
			return false, err
		}
		effect = linkbench.Hidden
		return true, c.count(doing, s, id1, linkType, -1)
	})
	return effect, err
}

// count moves the count row by 1, 0 or -1. Outside a transaction the link is
// changed already, so a count that the server refused for now is sent again,
// and one that can't be sent leaves the graph in an unknown state.
func (c *graphClient) count(doing string, s *step, id, linkType, by int64) error {
	if by == 0 {
		return nil
	}
	if s.number != 0 {
		found, err := c.increment(doing, s, id, linkType, by, true)
		if err == nil && !found {
			err = &drivers.Error{Class: drivers.Fatal, Code: codeShortReply, Err: fmt.Errorf("%s: the count of id %d, type %d wasn't changed", doing, id, linkType)}
		}
		return err
	}
	pause := time.Millisecond
	for range maxTurns {
		found, err := c.increment(doing, s, id, linkType, by, false)
		if err == nil && !found {
			found, err = c.insertOne(doing, countTable, s, func(dst []byte) []byte {
				return appendCount(dst, &graph.Count{ID: id, Type: linkType, Count: by, TimeMS: time.Now().UnixMilli()})
			})
		}
		switch {
		case err == nil && found:
			return nil
		case err == nil: // the row has come meanwhile
		case drivers.ClassOf(err) == drivers.Retryable:
			time.Sleep(pause)
			pause = min(2*pause, 100*time.Millisecond)
		default:
			return unknownCount(doing, id, linkType, err)
		}
	}
	return unknownCount(doing, id, linkType, errGone)
}

func unknownCount(doing string, id, linkType int64, err error) error {
	return &drivers.Error{Class: drivers.Unknown, Code: drivers.CodeOf(err),
		Err: fmt.Errorf("%s: the link was changed and its count, of id %d and type %d, may not be: %w", doing, id, linkType, err)}
}

// increment changes a count row.
func (c *graphClient) increment(doing string, s *step, id, linkType, by int64, upsert bool) (found bool, err error) {
	dst := c.begin("update", countTable)
	updates, dst := bsoncore.AppendArrayElementStart(dst, "updates")
	one, dst := bsoncore.AppendDocumentElementStart(dst, "0")
	query, dst := bsoncore.AppendDocumentElementStart(dst, "q")
	dst = end(appendCountID(dst, "_id", id, linkType), query)
	change, dst := bsoncore.AppendDocumentElementStart(dst, "u")
	inc, dst := bsoncore.AppendDocumentElementStart(dst, "$inc")
	dst = end(bsoncore.AppendInt64Element(bsoncore.AppendInt64Element(dst, "count", by), "version", 1), inc)
	set, dst := bsoncore.AppendDocumentElementStart(dst, "$set")
	dst = end(bsoncore.AppendInt64Element(dst, "time", time.Now().UnixMilli()), set)
	if upsert {
		start, inserted := bsoncore.AppendDocumentElementStart(dst, "$setOnInsert")
		dst = end(bsoncore.AppendInt64Element(bsoncore.AppendInt64Element(inserted, "id", id), "link_type", linkType), start)
	}
	dst = end(dst, change)
	if upsert {
		dst = bsoncore.AppendBooleanElement(dst, "upsert", true)
	}
	reply, err := c.runStep(doing, end(end(dst, one), updates), s)
	n, _ := acknowledged(reply)
	return n > 0, err
}
