package mongo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"insertbench/drivers"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// probeCollection is what probes write to and read from. It isn't one of the
// benchmark's names, and is removed again by the probe that made it.
const probeCollection = "ibench_probe"

// probe tries what was asked for before anything is measured.
func (s *Server) probe(ctx context.Context) error {
	if err := s.probeWriteConcern(ctx); err != nil {
		return err
	}
	if s.cfg.Transactions && s.hello.isMongos() && s.cfg.isSRV() {
		return drivers.Configf("transactions through mongos must stay on one router each, which a mongodb+srv URI doesn't allow; name the routers in a mongodb:// URI")
	}
	if s.cfg.Transactions {
		return s.probeTransactions(ctx)
	}
	return nil
}

// probeWriteConcern deletes a document that doesn't exist with the write
// concern of the run: nothing is written, and the server waits for, or
// refuses, what it would for an insert.
func (s *Server) probeWriteConcern(ctx context.Context) error {
	if !s.concern.isSet() {
		return nil
	}
	if s.concern.needsReplicas() && s.hello.SetName == "" && !s.hello.isMongos() {
		return drivers.Configf("write concern %s: the server is a single node without a replica set, which can't give it; ask for w=1 or w=majority", s.concern)
	}
	bounded, cancel := context.WithTimeout(ctx, s.cfg.ConnectTimeout)
	defer cancel()
	_, err := runOn(bounded, s.database(), bson.D{
		{Key: "delete", Value: probeCollection},
		{Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: 0}}}, {Key: "limit", Value: 1}}}},
		{Key: "writeConcern", Value: s.concern.document()},
	})
	switch {
	case err == nil, commandCode(err) == codeUnauthorized:
		return nil // an account that may only read can still verify
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil:
		return drivers.Configf("write concern %s was not acknowledged within %s; are enough members up? a wtimeout would bound the wait", s.concern, s.cfg.ConnectTimeout)
	case mongo.IsNetworkError(err):
		return drivers.Connectf("trying the write concern: the connection broke: %s", s.cfg.redact(err))
	default:
		return drivers.Configf("write concern %s is refused: %s", s.concern, serverWords(err))
	}
}

// serverWords is the server's own message, without the client's prefixes and
// without a period at its end.
func serverWords(err error) string {
	words := err.Error()
	var ce mongo.CommandError
	var we mongo.WriteException
	switch {
	case errors.As(err, &ce):
		words = ce.Message
	case errors.As(err, &we) && len(we.WriteErrors) > 0:
		words = we.WriteErrors[0].Message
	case errors.As(err, &we) && we.WriteConcernError != nil:
		words = we.WriteConcernError.Message
	}
	return strings.TrimSuffix(words, ".")
}

// probeTransactions writes in a transaction, aborts it and reads. Some
// servers take every field of a transaction and ignore them all, so what
// hello says decides nothing.
func (s *Server) probeTransactions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StatementTimeout)
	defer cancel()
	db := s.database()
	_, err := runOn(ctx, db, bson.D{{Key: "create", Value: probeCollection}})
	if err != nil && commandCode(err) != codeNamespaceExists {
		return drivers.Configf("trying transactions: making collection %s.%s: %s", s.cfg.Database, probeCollection, serverWords(err))
	}
	if err == nil {
		defer runOn(ctx, db, bson.D{{Key: "drop", Value: probeCollection}}) //nolint:errcheck // what stays is an empty collection
	}
	id := primitive.NewObjectID()
	if err := s.writeAndAbort(ctx, db, id); err != nil {
		return drivers.Configf("transactions are asked for, but this server has none: %s; do without them, or use a replica set or mongos", serverWords(err))
	}
	raw, err := runOn(ctx, db, bson.D{
		{Key: "find", Value: probeCollection}, {Key: "filter", Value: bson.D{{Key: "_id", Value: id}}},
		{Key: "limit", Value: 1}, {Key: "singleBatch", Value: true}})
	if err != nil {
		return drivers.Configf("trying transactions: reading back: %s", serverWords(err))
	}
	if kept, err := firstBatch(raw); err != nil || len(kept) > 0 {
		return drivers.Configf("transactions are asked for, but this server only pretends to have them: a row whose transaction was aborted is still there; do without them")
	}
	return nil
}

func (s *Server) writeAndAbort(ctx context.Context, db *mongo.Database, id primitive.ObjectID) error {
	session, err := s.client.StartSession(options.Session().SetCausalConsistency(false))
	if err != nil {
		return err
	}
	defer session.EndSession(ctx)
	inSession := mongo.NewSessionContext(ctx, session)
	_, err = runOn(inSession, db, bson.D{
		{Key: "insert", Value: probeCollection}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: id}}}},
		{Key: "readConcern", Value: bson.D{{Key: "level", Value: s.transactionLevel()}}},
		{Key: "txnNumber", Value: int64(1)}, {Key: "startTransaction", Value: true}, {Key: "autocommit", Value: false}})
	if err != nil {
		return err
	}
	_, err = runOn(inSession, s.client.Database("admin"), endTransaction("abortTransaction", 1, writeConcern{}))
	return err
}

// transactionLevel is the read concern that transactions start with.
func (s *Server) transactionLevel() string {
	if s.readConcern == "" {
		return transactionReadConcern
	}
	return s.readConcern
}

// endTransaction is the command that commits or aborts; it goes to admin.
func endTransaction(command string, txnNumber int64, wc writeConcern) bson.D {
	d := bson.D{{Key: command, Value: 1}, {Key: "txnNumber", Value: txnNumber}, {Key: "autocommit", Value: false}}
	if wc.isSet() {
		d = append(d, bson.E{Key: "writeConcern", Value: wc.document()})
	}
	return d
}

// firstBatch is the first batch of a cursor's reply. The client's decoder
// isn't used: it panics on a nested document with a wrong length.
func firstBatch(reply bson.Raw) ([]bson.Raw, error) {
	v, err := reply.LookupErr("cursor", "firstBatch")
	if err != nil {
		return nil, fmt.Errorf("the reply has no first batch: %w", err)
	}
	array, ok := v.ArrayOK()
	if !ok {
		return nil, errors.New("the reply's first batch is no array")
	}
	values, err := array.Values()
	if err != nil {
		return nil, fmt.Errorf("the reply's first batch can't be read: %w", err)
	}
	var batch []bson.Raw
	for _, v := range values {
		doc, ok := v.DocumentOK()
		if !ok || doc.Validate() != nil {
			return nil, errors.New("the reply's first batch holds something else than documents")
		}
		batch = append(batch, doc)
	}
	return batch, nil
}
