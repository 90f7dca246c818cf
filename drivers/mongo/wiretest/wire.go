package wiretest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
)

// Opcodes and flags of the wire protocol (MongoDB manual, "MongoDB Wire Protocol").
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013

	headerBytes     = 16
	maxMessage      = 48_000_000
	checksumPresent = 1 << 0
	moreToCome      = 1 << 1
)

// request is one message.
type request struct {
	id       int32
	op       int32
	flags    uint32
	db       string
	body     bson.Raw
	sequence map[string][]bson.Raw
}

// session is what a connection remembers.
type session struct {
	number   int
	login    *login
	loggedIn bool
}

func (s *Server) serve(nc net.Conn, number int) {
	if s.config.Silent {
		waitForEnd(nc)
		return
	}
	r := bufio.NewReaderSize(nc, 1<<20)
	var buf []byte
	sess := &session{number: number}
	for {
		var err error
		buf, err = readMessage(r, buf)
		if err != nil {
			return
		}
		q, err := parse(buf)
		if err != nil {
			return
		}
		reply, end := s.answer(q, sess)
		if end == hang {
			waitForEnd(r)
		}
		if end != goOn {
			return
		}
		if q.flags&moreToCome != 0 {
			continue
		}
		if _, err := nc.Write(encodeReply(q, reply)); err != nil {
			return
		}
	}
}

// waitForEnd reads until one of the two ends closes the connection.
func waitForEnd(r io.Reader) { _, _ = io.Copy(io.Discard, r) }

func readMessage(r io.Reader, buf []byte) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return buf, err
	}
	n := int(binary.LittleEndian.Uint32(size[:]))
	if n < headerBytes || n > maxMessage {
		return buf, fmt.Errorf("message of %d bytes", n)
	}
	buf = slices.Grow(buf[:0], n)[:n]
	copy(buf, size[:])
	_, err := io.ReadFull(r, buf[4:])
	return buf, err
}

// parse reads a message's header and documents.
func parse(m []byte) (request, error) {
	if len(m) < headerBytes+5 {
		return request{}, fmt.Errorf("message of %d bytes", len(m))
	}
	le := binary.LittleEndian
	q := request{id: int32(le.Uint32(m[4:])), op: int32(le.Uint32(m[12:]))}
	switch q.op {
	case opQuery:
		return q, parseQuery(&q, m[headerBytes:])
	case opMsg:
		return q, parseMsg(&q, m[headerBytes:])
	default:
		return q, fmt.Errorf("opcode %d", q.op)
	}
}

// parseQuery reads the old handshake: flags, "db.$cmd", skip, return, document.
func parseQuery(q *request, m []byte) error {
	end := slices.Index(m[4:], 0)
	if end < 0 || len(m) < 4+end+1+8 {
		return fmt.Errorf("query is cut")
	}
	body, _, err := document(m[4+end+1+8:])
	q.body, q.db = body, "admin"
	return err
}

// parseMsg reads the flags and sections of an OP_MSG.
func parseMsg(q *request, m []byte) error {
	q.flags = binary.LittleEndian.Uint32(m)
	m = m[4:]
	if q.flags&checksumPresent != 0 && len(m) >= 4 {
		m = m[:len(m)-4]
	}
	for len(m) > 0 {
		kind := m[0]
		m = m[1:]
		switch kind {
		case 0:
			body, rest, err := document(m)
			if err != nil {
				return err
			}
			q.body, m = body, rest
		case 1:
			rest, err := parseSequence(q, m)
			if err != nil {
				return err
			}
			m = rest
		default:
			return fmt.Errorf("section of kind %d", kind)
		}
	}
	if q.body == nil {
		return fmt.Errorf("message without a body")
	}
	if db, ok := q.body.Lookup("$db").StringValueOK(); ok {
		q.db = db
	}
	return nil
}

// parseSequence reads size, identifier and documents.
func parseSequence(q *request, m []byte) (rest []byte, err error) {
	if len(m) < 4 {
		return nil, fmt.Errorf("sequence is cut")
	}
	size := int(binary.LittleEndian.Uint32(m))
	if size < 5 || size > len(m) {
		return nil, fmt.Errorf("sequence of %d bytes", size)
	}
	section, rest := m[4:size], m[size:]
	end := slices.Index(section, 0)
	if end < 0 {
		return nil, fmt.Errorf("sequence without a name")
	}
	name := string(section[:end])
	if q.sequence == nil {
		q.sequence = make(map[string][]bson.Raw)
	}
	for section = section[end+1:]; len(section) > 0; {
		var doc bson.Raw
		if doc, section, err = document(section); err != nil {
			return nil, err
		}
		q.sequence[name] = append(q.sequence[name], doc)
	}
	return rest, nil
}

func document(m []byte) (doc bson.Raw, rest []byte, err error) {
	if len(m) < 5 {
		return nil, nil, fmt.Errorf("document is cut")
	}
	n := int(binary.LittleEndian.Uint32(m))
	if n < 5 || n > len(m) {
		return nil, nil, fmt.Errorf("document of %d bytes in %d", n, len(m))
	}
	return bson.Raw(m[:n]), m[n:], nil
}

// encodeReply answers in the form of the request.
func encodeReply(q request, reply bson.D) []byte {
	raw, err := bson.Marshal(reply)
	if err != nil {
		raw, _ = bson.Marshal(failure(1, "InternalError", err.Error()))
	}
	le := binary.LittleEndian
	out := make([]byte, headerBytes, headerBytes+20+len(raw))
	le.PutUint32(out[8:], uint32(q.id))
	if q.op == opQuery {
		le.PutUint32(out[12:], opReply)
		out = append(out, make([]byte, 16)...) // flags, cursor, starting from
		out = le.AppendUint32(out, 1)
	} else {
		le.PutUint32(out[12:], opMsg)
		out = append(out, 0, 0, 0, 0, 0) // flags, section of kind 0
	}
	out = append(out, raw...)
	le.PutUint32(out, uint32(len(out)))
	return out
}
