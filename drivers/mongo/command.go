package mongo

import (
	"encoding/binary"
	"strconv"

	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/bson"
)

// command is one insert command, built in a buffer that is kept:
//
//	{insert: table, ordered: true, writeConcern: {…}, documents: [{…}, …]}
//
// and inside a transaction
//
//	{insert: table, ordered: true, readConcern: {level: …}, txnNumber: n,
//	 startTransaction: true, autocommit: false, documents: [{…}, …]}
//
// where the write concern belongs to the commit. The session's lsid is added
// by the client. The documents come last, so that adding one is an append.
type command struct {
	documents template
	buf       []byte
	// prefix is the length of what comes before the first document.
	prefix int
	// array is where the length of the documents' array stands.
	array int
	// txnNumber is where its value stands; 0 outside transactions.
	txnNumber int
	rows      int
}

// commandHead is what an insert command says besides its documents.
type commandHead struct {
	table     string
	unordered bool
	concern   writeConcern
	// inTransaction and readConcern: a transaction of its own per command.
	inTransaction bool
	readConcern   string
}

func newCommand(h commandHead, documents template) (*command, error) {
	c := &command{documents: documents, buf: make([]byte, 4)}
	c.buf = appendHeader(c.buf, typeString, "insert")
	c.buf = appendString(c.buf, h.table)
	c.buf = appendBool(c.buf, "ordered", !h.unordered)
	switch {
	case h.inTransaction:
		c.appendTransaction(h.readConcern)
	case h.concern.isSet():
		raw, err := bson.Marshal(h.concern.document())
		if err != nil {
			return nil, err
		}
		c.buf = append(appendHeader(c.buf, typeDocument, "writeConcern"), raw...)
	}
	c.buf = appendHeader(c.buf, typeArray, "documents")
	c.array = len(c.buf)
	c.buf = append(c.buf, 0, 0, 0, 0)
	c.prefix = len(c.buf)
	return c, nil
}

func (c *command) appendTransaction(readConcern string) {
	c.buf = appendHeader(c.buf, typeDocument, "readConcern")
	level := appendString(appendHeader(make([]byte, 4), typeString, "level"), readConcern)
	level = append(level, 0)
	binary.LittleEndian.PutUint32(level, uint32(len(level)))
	c.buf = append(c.buf, level...)
	c.buf = appendHeader(c.buf, typeInt64, "txnNumber")
	c.txnNumber = len(c.buf)
	c.buf = append(c.buf, 0, 0, 0, 0, 0, 0, 0, 0)
	c.buf = appendBool(c.buf, "startTransaction", true)
	c.buf = appendBool(c.buf, "autocommit", false)
}

// add appends a row as the next document.
func (c *command) add(row *ibench.Row) {
	c.next()
	c.buf = c.documents.append(c.buf, row)
}

// next begins another document, which the caller appends.
func (c *command) next() {
	c.buf = append(c.buf, typeDocument)
	c.buf = strconv.AppendInt(c.buf, int64(c.rows), 10)
	c.buf = append(c.buf, 0)
	c.rows++
}

// finish gives the whole command. Rows can still be added after it, and it
// can be called again.
func (c *command) finish(txnNumber int64) []byte {
	le := binary.LittleEndian
	end := len(c.buf)
	whole := append(c.buf, 0, 0) // ends the array, then the command
	c.buf = whole[:end]
	le.PutUint32(whole[c.array:], uint32(end+1-c.array))
	le.PutUint32(whole, uint32(len(whole)))
	if c.txnNumber != 0 {
		le.PutUint64(whole[c.txnNumber:], uint64(txnNumber))
	}
	return whole
}

func (c *command) reset() {
	c.buf = c.buf[:c.prefix]
	c.rows = 0
}

// sizeBytes is the size of a command of so many rows with so many bytes of
// data each: the prefix, per document its type, its number and a zero, and
// the two zeros at the end.
func (c *command) sizeBytes(rows, data int) int {
	return c.prefix + rows*(c.documents.sizeBytes(data)+2) + digits(rows) + 2
}

// digits is how many decimal digits the numbers 0 to n-1 have together.
func digits(n int) int {
	total := n
	for bound := 10; bound < n; bound *= 10 {
		total += n - bound
	}
	return total
}

func appendString(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)+1))
	dst = append(dst, s...)
	return append(dst, 0)
}

func appendBool(dst []byte, name string, v bool) []byte {
	dst = appendHeader(dst, typeBool, name)
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}
