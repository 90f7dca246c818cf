package mongo

import (
	"bytes"
	"context"
	"fmt"

	"insertbench/drivers"
	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/bson"
)

var _ ibench.DeletingDatabase = (*Server)(nil)

// OpenDeleter opens a connection for one client's deletes. The delete command
// has no limit beside 1, so the next n keys are named by their ends: keys are
// made of the client's row numbers, which have no gaps.
func (s *Server) OpenDeleter(ctx context.Context, table string) (ibench.Deleter, error) {
	in, err := s.openWorker(ctx, table, s.cfg.StatementTimeout)
	if err != nil {
		return nil, err
	}
	d := &deleter{inserter: in, kind: s.cfg.IDKind, table: table}
	if d.lowest, err = bson.Marshal(s.withConcern(endKey(table, 1, nil))); err != nil {
		return nil, err
	}
	if d.command, err = d.build([][2]int64{{0, 1}}); err != nil {
		return nil, err
	}
	d.begin = bytes.Index(d.command, []byte("$gte\x00")) + len("$gte\x00")
	d.end = bytes.Index(d.command, []byte("$lte\x00")) + len("$lte\x00")
	return d, nil
}

// build makes the command that deletes ranges of rows of the client.
func (d *deleter) build(ranges [][2]int64) ([]byte, error) {
	deletes := bson.A{}
	for _, r := range ranges {
		ends := bson.D{{Key: "$gte", Value: key(d.kind, d.client, r[0])}, {Key: "$lte", Value: key(d.kind, d.client, r[1]-1)}}
		deletes = append(deletes, bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: ends}}}, {Key: "limit", Value: int32(0)}})
	}
	command := bson.D{{Key: "delete", Value: d.table}, {Key: "ordered", Value: true}, {Key: "deletes", Value: deletes}}
	if concern := d.server.concern; concern.isSet() {
		command = append(command, bson.E{Key: "writeConcern", Value: concern.document()})
	}
	return bson.Marshal(command)
}

type deleter struct {
	*inserter
	kind   IDKind
	table  string
	lowest []byte
	// command has the two keys at begin and end.
	command    []byte
	begin, end int
	// client and from are the row at which the next Delete begins.
	client int
	from   int64
}

// FindLowest asks for the smallest _id.
func (d *deleter) FindLowest(context.Context) error {
	doing := "asking for the smallest _id of " + d.table
	reply, err := d.ask(doing, d.lowest)
	if err != nil {
		return err
	}
	batch, err := firstBatch(reply)
	if err != nil {
		return unreadable(doing, err)
	}
	if len(batch) == 0 {
		return nil
	}
	if d.client, d.from, err = keyOf(batch[0].Lookup("_id")); err != nil {
		return unreadable(doing, err)
	}
	return d.beforeTurn(doing)
}

// beforeTurn looks, where the smallest key is that of a row behind a turn, for
// rows of the same second before it, whose keys are larger.
func (d *deleter) beforeTurn(doing string) error {
	t, turns := turnOf(d.from)
	if d.kind == Int64 || !turns || !t.isIn(d.from) || d.from < t.at {
		return nil
	}
	command, err := bson.Marshal(d.server.withConcern(endKey(d.table, 1, bson.D{{Key: "$gte", Value: key(d.kind, d.client, t.first)}})))
	if err != nil {
		return err
	}
	reply, err := d.ask(doing, command)
	if err != nil {
		return err
	}
	batch, err := firstBatch(reply)
	if err != nil || len(batch) == 0 {
		return err
	}
	_, number, err := keyOf(batch[0].Lookup("_id"))
	if err != nil {
		return unreadable(doing, err)
	}
	d.from = min(d.from, number)
	return nil
}

// Delete removes the next n documents.
func (d *deleter) Delete(_ context.Context, n int) (int64, error) {
	doing := fmt.Sprintf("deleting %d documents from %s", n, d.table)
	to := d.from + int64(n)
	command := d.command
	if ranges := pieces(d.kind, d.from, to); len(ranges) == 1 {
		keyBytes(command[:d.begin], d.kind, d.client, d.from)
		keyBytes(command[:d.end], d.kind, d.client, to-1)
	} else {
		var err error
		if command, err = d.build(ranges); err != nil {
			return 0, err
		}
	}
	reply, err := d.ask(doing, command)
	if err != nil {
		return 0, err
	}
	deleted, ok := acknowledged(reply)
	if !ok {
		return 0, &drivers.Error{Class: drivers.Unknown, Code: codeShortReply, Err: fmt.Errorf("%s: the server acknowledged %d, with an error beside", doing, deleted)}
	}
	d.from += deleted
	return deleted, nil
}
