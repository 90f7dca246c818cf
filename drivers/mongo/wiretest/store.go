package wiretest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/bson"
)

var errUnknownUser = errors.New("unknown user")

// store keeps collections in memory.
type store struct {
	mode Transactions

	mu          sync.Mutex
	collections map[string]*collection
	pending     map[string]*transaction
	ended       map[string]int64
}

type collection struct {
	documents []bson.Raw
	ids       map[string]struct{}
	indexes   []bson.Raw
}

// transaction is what a session has written and not yet committed.
type transaction struct {
	number int64
	writes []write
}

type write struct {
	namespace string
	document  bson.Raw
}

func newStore(mode Transactions) *store {
	return &store{mode: mode, collections: make(map[string]*collection), pending: make(map[string]*transaction), ended: make(map[string]int64)}
}

func (s *store) documents(namespace string) []bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.collections[namespace]; c != nil {
		return slices.Clone(c.documents)
	}
	return nil
}

// execute runs the commands that read or write collections.
func (s *store) execute(q request, name string, c Config) bson.D {
	s.mu.Lock()
	defer s.mu.Unlock()
	table, _ := q.body.Lookup(name).StringValueOK()
	namespace := q.db + "." + table
	if refusal := s.checkConcern(q, c); refusal != nil {
		return refusal
	}
	switch name {
	case "insert":
		return s.insert(q, namespace, c)
	case "delete":
		return s.delete(q, namespace)
	case "find":
		return s.find(q, namespace)
	case "aggregate":
		return s.aggregate(q, namespace)
	case "getMore":
		return failure(43, "CursorNotFound", "cursor id not found")
	case "create":
		if s.collections[namespace] != nil {
			return failure(48, "NamespaceExists", "Collection "+namespace+" already exists.")
		}
		s.collection(namespace)
		return succeed()
	case "listIndexes":
		return s.listIndexes(namespace)
	case "fsync":
		return succeed()
	case "createIndexes":
		return s.createIndexes(q, namespace)
	case "drop":
		if s.collections[namespace] == nil {
			return failure(26, "NamespaceNotFound", "ns not found")
		}
		delete(s.collections, namespace)
		return succeed()
	case "listCollections":
		return s.list(q.db)
	case "commitTransaction", "abortTransaction":
		return s.end(q, name == "commitTransaction")
	default:
		return failure(59, "CommandNotFound", "no such command: '"+name+"'")
	}
}

// checkConcern refuses what the server can't acknowledge, in mongod's words.
func (s *store) checkConcern(q request, c Config) bson.D {
	w, err := q.body.LookupErr("writeConcern", "w")
	if err != nil {
		return nil
	}
	nodes := max(c.Nodes, 1)
	n, isNumber := w.AsInt64OK()
	switch {
	case isNumber && c.ReplicaSet == "" && !c.Mongos && n > 1:
		return failure(2, "BadValue", "cannot use 'w' > 1 when a host is not replicated")
	case isNumber && n > int64(nodes):
		return WriteConcernFailure(0, 100, "UnsatisfiableWriteConcern", "Not enough data-bearing nodes")
	}
	return nil
}

func (s *store) collection(namespace string) *collection {
	c := s.collections[namespace]
	if c == nil {
		c = &collection{ids: make(map[string]struct{})}
		s.collections[namespace] = c
	}
	return c
}

func (s *store) insert(q request, namespace string, c Config) bson.D {
	documents := q.sequence["documents"]
	if array, ok := q.body.Lookup("documents").ArrayOK(); ok {
		if c.Discard {
			return s.discard(array)
		}
		values, err := array.Values()
		if err != nil {
			return failure(22, "InvalidBSON", err.Error())
		}
		for _, v := range values {
			documents = append(documents, v.Document())
		}
	}
	// A number without autocommit is a retryable write: an ordinary one here.
	number, numbered := q.body.Lookup("txnNumber").AsInt64OK()
	if _, err := q.body.LookupErr("autocommit"); err == nil && numbered && s.mode != Ignored {
		return s.insertPending(q, namespace, number, documents)
	}
	ordered, given := q.body.Lookup("ordered").BooleanOK()
	n, errs := s.keep(s.collection(namespace), documents, ordered || !given)
	reply := bson.D{{Key: "n", Value: n}}
	if len(errs) > 0 {
		reply = append(reply, bson.E{Key: "writeErrors", Value: errs})
	}
	return succeed(reply...)
}

// discard counts an array's documents by their lengths and keeps none.
func (s *store) discard(array bson.Raw) bson.D {
	n := int32(0)
	for at := 4; at < len(array)-1; n++ {
		at++
		for array[at] != 0 {
			at++
		}
		doc, _, err := document(array[at+1:])
		if err != nil {
			return failure(22, "InvalidBSON", err.Error())
		}
		at += 1 + len(doc)
	}
	return succeed(bson.E{Key: "n", Value: n})
}

func (s *store) keep(c *collection, documents []bson.Raw, ordered bool) (n int32, errs bson.A) {
	for i, doc := range documents {
		key := idKey(doc)
		if _, found := c.ids[key]; found {
			errs = append(errs, duplicate(i, doc))
			if ordered {
				break
			}
			continue
		}
		c.ids[key] = struct{}{}
		c.documents = append(c.documents, slices.Clone(doc))
		n++
	}
	return n, errs
}

func idKey(doc bson.Raw) string {
	id := doc.Lookup("_id")
	return id.Type.String() + string(id.Value)
}

func duplicate(index int, doc bson.Raw) bson.D {
	return bson.D{{Key: "index", Value: int32(index)}, {Key: "code", Value: int32(11000)},
		{Key: "errmsg", Value: "E11000 duplicate key error, _id: " + doc.Lookup("_id").String()}}
}

func sessionKey(q request) string { return string(q.body.Lookup("lsid").Value) }

func (s *store) insertPending(q request, namespace string, number int64, documents []bson.Raw) bson.D {
	if s.mode == Refused {
		return failure(20, "IllegalOperation", "Transaction numbers are only allowed on a replica set member or mongos")
	}
	key := sessionKey(q)
	starting, _ := q.body.Lookup("startTransaction").BooleanOK()
	t := s.pending[key]
	switch {
	case starting && number <= s.ended[key]:
		return failure(225, "TransactionTooOld", fmt.Sprintf("txnNumber %d is too old", number))
	case starting:
		t = &transaction{number: number} // what an earlier number left open is gone
		s.pending[key] = t
	case t == nil || t.number != number:
		return Failure(251, "NoSuchTransaction", "no such transaction", "TransientTransactionError")
	}
	c := s.collection(namespace)
	for i, d := range documents {
		if _, found := c.ids[idKey(d)]; found {
			delete(s.pending, key)
			s.ended[key] = number
			return succeed(bson.E{Key: "n", Value: int32(i)}, bson.E{Key: "writeErrors", Value: bson.A{duplicate(i, d)}})
		}
		t.writes = append(t.writes, write{namespace, slices.Clone(d)})
	}
	return succeed(bson.E{Key: "n", Value: int32(len(documents))})
}

func (s *store) end(q request, commit bool) bson.D {
	if s.mode == Ignored {
		return succeed()
	}
	key := sessionKey(q)
	number, _ := q.body.Lookup("txnNumber").AsInt64OK()
	t := s.pending[key]
	if t == nil || t.number != number {
		return Failure(251, "NoSuchTransaction", "no such transaction", "TransientTransactionError")
	}
	delete(s.pending, key)
	s.ended[key] = number
	if commit {
		for _, w := range t.writes {
			s.keep(s.collection(w.namespace), []bson.Raw{w.document}, true)
		}
	}
	return succeed()
}

func cursor(namespace string, batch bson.A) bson.D {
	return succeed(bson.E{Key: "cursor", Value: bson.D{{Key: "id", Value: int64(0)}, {Key: "ns", Value: namespace}, {Key: "firstBatch", Value: batch}}})
}

// aggregate understands one $group over everything, or over what a $match
// before it leaves, with sums of a number, a field, or the length of a field.
func (s *store) aggregate(q request, namespace string) bson.D {
	match, matches := q.body.Lookup("pipeline", "0", "$match").DocumentOK()
	at := "0"
	if matches {
		at = "1"
	}
	group, ok := q.body.Lookup("pipeline", at, "$group").DocumentOK()
	if !ok {
		return failure(40324, "Location40324", "Unrecognized pipeline stage name")
	}
	documents := s.matching(namespace, match)
	if len(documents) == 0 {
		return cursor(namespace, bson.A{})
	}
	elements, err := group.Elements()
	if err != nil {
		return failure(22, "InvalidBSON", err.Error())
	}
	out := bson.D{{Key: "_id", Value: nil}}
	for _, e := range elements[1:] {
		total := int64(0)
		for _, d := range documents {
			total += evaluate(e.Value().Document().Lookup("$sum"), d)
		}
		out = append(out, bson.E{Key: e.Key(), Value: narrow(total)})
	}
	return cursor(namespace, bson.A{out})
}

func evaluate(expression bson.RawValue, doc bson.Raw) int64 {
	if n, ok := expression.AsInt64OK(); ok {
		return n
	}
	if field, ok := expression.StringValueOK(); ok {
		n, _ := doc.Lookup(strings.TrimPrefix(field, "$")).AsInt64OK()
		return n
	}
	field, _ := expression.Document().Lookup("$strLenBytes").StringValueOK()
	text, _ := doc.Lookup(strings.TrimPrefix(field, "$")).StringValueOK()
	return int64(len(text))
}

// narrow answers with int32 where it fits, as mongod does.
func narrow(n int64) any {
	if n >= math.MinInt32 && n <= math.MaxInt32 {
		return int32(n)
	}
	return n
}

func (s *store) createIndexes(q request, namespace string) bson.D {
	values, err := q.body.Lookup("indexes").Array().Values()
	if err != nil {
		return failure(22, "InvalidBSON", err.Error())
	}
	c := s.collection(namespace)
	for _, v := range values {
		c.indexes = append(c.indexes, slices.Clone(v.Document()))
	}
	return succeed()
}

func (s *store) list(db string) bson.D {
	batch := bson.A{}
	for namespace := range s.collections {
		if name, ok := strings.CutPrefix(namespace, db+"."); ok {
			batch = append(batch, bson.D{{Key: "name", Value: name}, {Key: "type", Value: "collection"}})
		}
	}
	return cursor(db+".$cmd.listCollections", batch)
}
