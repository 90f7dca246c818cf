package mongo

import (
	"encoding/binary"
	"fmt"

	"insertbench/linkbench/graph"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// maxDocumentFrame is above the size of a link's document without its payload,
// with its number in the command: 24 bytes of _id, five 8-byte and two 4-byte
// values, 60 bytes of names, types and lengths.
const maxDocumentFrame = 220

// appendKey appends numbers with their high bytes first, so that keys sort as
// numbers do.
func appendKey(dst []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		dst = binary.BigEndian.AppendUint64(dst, uint64(n))
	}
	return dst
}

// linkKey is the _id of a link, countKey that of a count row.
func linkKey(dst []byte, linkType, id1, id2 int64) []byte { return appendKey(dst, linkType, id1, id2) }
func countKey(dst []byte, id, linkType int64) []byte      { return appendKey(dst, id, linkType) }

func appendLinkID(dst []byte, name string, linkType, id1, id2 int64) []byte {
	var key [24]byte
	return bsoncore.AppendBinaryElement(dst, name, 0, linkKey(key[:0], linkType, id1, id2))
}

func appendCountID(dst []byte, name string, id, linkType int64) []byte {
	var key [16]byte
	return bsoncore.AppendBinaryElement(dst, name, 0, countKey(key[:0], id, linkType))
}

// end closes a document that began at start. Documents of this package are
// far below 2 GB, which is the only error.
func end(dst []byte, start int32) []byte {
	dst, _ = bsoncore.AppendDocumentEnd(dst, start)
	return dst
}

// appendLinkValues appends what an update sets.
func appendLinkValues(dst []byte, l *graph.Link) []byte {
	dst = bsoncore.AppendInt32Element(dst, "visibility", int32(l.Visibility))
	dst = bsoncore.AppendInt32Element(dst, "version", l.Version)
	dst = bsoncore.AppendInt64Element(dst, "time", l.TimeMS)
	return bsoncore.AppendBinaryElement(dst, "data", 0, l.Data)
}

func appendLink(dst []byte, l *graph.Link) []byte {
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst = appendLinkID(dst, "_id", l.Type, l.ID1, l.ID2)
	dst = bsoncore.AppendInt64Element(dst, "id1", l.ID1)
	dst = bsoncore.AppendInt64Element(dst, "link_type", l.Type)
	dst = bsoncore.AppendInt64Element(dst, "id2", l.ID2)
	return end(appendLinkValues(dst, l), start)
}

func appendCount(dst []byte, c *graph.Count) []byte {
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst = appendCountID(dst, "_id", c.ID, c.Type)
	dst = bsoncore.AppendInt64Element(dst, "id", c.ID)
	dst = bsoncore.AppendInt64Element(dst, "link_type", c.Type)
	dst = bsoncore.AppendInt64Element(dst, "count", c.Count)
	dst = bsoncore.AppendInt64Element(dst, "time", c.TimeMS)
	return end(bsoncore.AppendInt64Element(dst, "version", c.Version), start)
}

func appendNode(dst []byte, n *graph.Node) []byte {
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsoncore.AppendInt64Element(dst, "_id", n.ID)
	dst = bsoncore.AppendInt32Element(dst, "type", n.Type)
	return end(appendNodeValues(dst, n), start)
}

func appendNodeValues(dst []byte, n *graph.Node) []byte {
	dst = bsoncore.AppendInt64Element(dst, "version", n.Version)
	dst = bsoncore.AppendInt32Element(dst, "time", n.TimeS)
	return bsoncore.AppendBinaryElement(dst, "data", 0, n.Data)
}

// fields reads a document's fields: field is called for each, and says whether
// it could use the value.
func fields(doc bson.Raw, field func(name []byte, v bsoncore.Value) bool) error {
	if len(doc) < 5 {
		return fmt.Errorf("a document of %d bytes", len(doc))
	}
	for rest := []byte(doc[4:]); len(rest) > 1; {
		e, after, ok := bsoncore.ReadElement(rest)
		if !ok {
			return fmt.Errorf("a document can't be read")
		}
		v, err := e.ValueErr()
		if err != nil {
			return err
		}
		if !field(e.KeyBytes(), v) {
			return fmt.Errorf("field %s is a %s", e.KeyBytes(), v.Type)
		}
		rest = after
	}
	return nil
}

// payload is binary; a graph loaded by another client may hold text.
func payload(v bsoncore.Value) (data []byte, ok bool) {
	if _, data, ok = v.BinaryOK(); ok {
		return data, true
	}
	text, ok := v.StringValueOK()
	return []byte(text), ok
}

// readLink fills l, whose payload stays in doc.
func readLink(doc bson.Raw, l *graph.Link) error {
	*l = graph.Link{}
	return fields(doc, func(name []byte, v bsoncore.Value) (ok bool) {
		if string(name) == "data" {
			l.Data, ok = payload(v)
			return ok
		}
		n, ok := v.AsInt64OK()
		switch string(name) {
		case "id1":
			l.ID1 = n
		case "link_type":
			l.Type = n
		case "id2":
			l.ID2 = n
		case "visibility":
			l.Visibility = int8(n)
		case "version":
			l.Version = int32(n)
		case "time":
			l.TimeMS = n
		default:
			ok = true
		}
		return ok
	})
}

// readNode fills n, whose payload stays in doc.
func readNode(doc bson.Raw, node *graph.Node) error {
	*node = graph.Node{}
	return fields(doc, func(name []byte, v bsoncore.Value) (ok bool) {
		if string(name) == "data" {
			node.Data, ok = payload(v)
			return ok
		}
		n, ok := v.AsInt64OK()
		switch string(name) {
		case "_id":
			node.ID = n
		case "type":
			node.Type = int32(n)
		case "version":
			node.Version = n
		case "time":
			node.TimeS = int32(n)
		default:
			ok = true
		}
		return ok
	})
}

func readCount(doc bson.Raw, c *graph.Count) error {
	*c = graph.Count{}
	return fields(doc, func(name []byte, v bsoncore.Value) bool {
		n, ok := v.AsInt64OK()
		switch string(name) {
		case "id":
			c.ID = n
		case "link_type":
			c.Type = n
		case "count":
			c.Count = n
		case "time":
			c.TimeMS = n
		case "version":
			c.Version = n
		default:
			ok = true
		}
		return ok
	})
}
