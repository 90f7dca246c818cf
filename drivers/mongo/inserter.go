package mongo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"insertbench/drivers"
	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// inserter sends one command per statement over a client of its own with one
// connection, so that no worker waits for another's, and closing it ends this
// worker's statement only.
type inserter struct {
	server  *Server
	client  *mongo.Client
	db      *mongo.Database
	admin   *mongo.Database
	dial    *dialer
	command *command
	// collection is where the documents go, with its database, for messages.
	collection string

	// session and txnNumber are for transactions only.
	session   mongo.Session
	txnNumber int64

	// fills is whether documents whose keys exist are passed over.
	fills bool

	// broken is set once a statement's answer was lost.
	broken    bool
	closeOnce sync.Once
	closeErr  error
}

var _ ibench.Inserter = (*inserter)(nil)

// OpenInserter opens a connection of its own for one worker.
func (s *Server) OpenInserter(ctx context.Context, table string) (ibench.Inserter, error) {
	in, err := s.openWorker(ctx, table, s.cfg.StatementTimeout)
	if err != nil {
		return nil, err
	}
	return in, nil
}

// openWorker opens a connection whose answers may take as long as deadline; 0
// is no bound. Through several mongos, workers take them in turn, since a
// transaction must stay on one.
func (s *Server) openWorker(ctx context.Context, table string, deadline time.Duration) (*inserter, error) {
	if err := ibench.CheckTableName(table); err != nil {
		return nil, err
	}
	command, err := s.newCommand(table)
	if err != nil {
		return nil, err
	}
	in, err := s.openConnection(ctx, deadline, s.cfg.Transactions)
	if err != nil {
		return nil, err
	}
	in.command, in.collection = command, s.cfg.Database+"."+table
	return in, nil
}

// openConnection is openWorker without a command, with a session where there
// are to be transactions.
func (s *Server) openConnection(ctx context.Context, deadline time.Duration, transactions bool) (in *inserter, err error) {
	in = &inserter{server: s, dial: newDialer()}
	// The socket timeout bounds each answer without a timer per command; a
	// client-wide timeout would add maxTimeMS to every command.
	own := options.Client().SetDialer(in.dial).SetMaxPoolSize(1).SetSocketTimeout(deadline)
	turn := s.inserters.Add(1) - 1
	// A client made of an SRV record can't be told to keep to one host; Open
	// refused transactions there.
	if s.hello.isMongos() && !s.cfg.isSRV() {
		own.SetHosts([]string{s.options.Hosts[turn%int64(len(s.options.Hosts))]}).SetDirect(true)
	}
	bounded, cancel := context.WithTimeout(ctx, s.cfg.ConnectTimeout)
	defer cancel()
	w := newWatch(len(s.options.Hosts), cancel)
	in.client, err = mongo.Connect(bounded, s.options, own.SetServerMonitor(w.serverMonitor()))
	if err != nil {
		return nil, drivers.Connectf("opening a connection for a worker: %s", s.cfg.redact(err))
	}
	in.db, in.admin = in.client.Database(s.cfg.Database), in.client.Database("admin")
	if _, err := runOn(bounded, in.admin, bson.D{{Key: "ping", Value: 1}}); err != nil {
		in.Close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("opening a connection for a worker: %w", ctx.Err())
		}
		return nil, explain(err, s.cfg, s.options, w)
	}
	if transactions {
		if in.session, err = in.client.StartSession(options.Session().SetCausalConsistency(false)); err != nil {
			in.Close()
			return nil, drivers.Configf("opening a session for transactions: %s", s.cfg.redact(err))
		}
	}
	return in, nil
}

func (s *Server) newCommand(table string) (*command, error) {
	return newCommand(commandHead{
		table: table, unordered: s.cfg.Unordered, concern: s.concern,
		inTransaction: s.cfg.Transactions, readConcern: s.transactionLevel(),
	}, newTemplate(s.cfg.IDKind, s.names))
}

// Append adds a row to the next command.
func (in *inserter) Append(row *ibench.Row) { in.command.add(row) }

// Reset empties the command.
func (in *inserter) Reset() { in.command.reset() }

// Insert sends the command, and its commit where transactions are on, and
// checks that the server acknowledged every document.
func (in *inserter) Insert(ctx context.Context) error {
	if err := in.ended(ctx); err != nil {
		return &drivers.Error{Class: drivers.Fatal, Code: codeAborted, Err: fmt.Errorf("%s: nothing was sent: %w", in.doing(), err)}
	}
	if in.command.rows == 0 {
		return nil
	}
	if in.session != nil {
		return in.insertInTransaction(ctx)
	}
	return in.send(ctx, plain)
}

// ended says why nothing can be sent any more.
func (in *inserter) ended(ctx context.Context) error {
	if in.dial.isAborted() {
		return errAborted
	}
	return ctx.Err()
}

// send runs the insert command.
func (in *inserter) send(ctx context.Context, p phase) error {
	raw := bson.Raw(in.command.finish(in.txnNumber))
	reply, err := in.db.RunCommand(ctx, raw).Raw()
	there := int64(0)
	if err != nil && in.fills {
		if reply, there = existing(err); reply != nil {
			err = nil
		}
	}
	if err != nil {
		return in.fail(err, p)
	}
	n, ok := acknowledged(reply)
	n += there
	if !ok || n != int64(in.command.rows) {
		return &drivers.Error{Class: drivers.Unknown, Code: codeShortReply,
			Err: fmt.Errorf("%s: the server acknowledged %d of them", in.doing(), n)}
	}
	return nil
}

func (in *inserter) doing() string {
	return fmt.Sprintf("inserting %d documents into collection %s", in.command.rows, in.collection)
}

// fail classes an error; after Abort the answer will never be known.
func (in *inserter) fail(err error, p phase) error {
	e := classify(in.doing(), err, p)
	in.broken = in.broken || e.Code == codeConnectionLost || e.Code == codeTimeout || e.Code == codeCantConnect
	if in.dial.isAborted() {
		e.Class, e.Code = drivers.Unknown, codeAborted
		e.Err = fmt.Errorf("%s: aborted before the answer came, whether the documents were kept isn't known", in.doing())
	}
	return e
}

// insertInTransaction sends insert and commit with a transaction number of
// their own. A new number on the same session ends what an earlier attempt
// left open, so nothing of that can appear later. The commit is sent once:
// the client's own commit would repeat it.
func (in *inserter) insertInTransaction(ctx context.Context) error {
	in.txnNumber++
	inSession := mongo.NewSessionContext(ctx, in.session)
	if err := in.send(inSession, inTransaction); err != nil {
		if !in.broken && drivers.ClassOf(err) != drivers.Unknown {
			// Best effort: the server has already ended a transaction that failed.
			_ = in.admin.RunCommand(inSession, endTransaction("abortTransaction", in.txnNumber, writeConcern{})).Err()
		}
		return err
	}
	err := in.admin.RunCommand(inSession, endTransaction("commitTransaction", in.txnNumber, in.server.concern)).Err()
	if err != nil {
		return in.fail(err, committing)
	}
	return nil
}

// Abort closes the connection under an Insert that doesn't return.
func (in *inserter) Abort() { in.dial.abort() }

// Close ends the connection. It is safe to call twice.
func (in *inserter) Close() error {
	in.closeOnce.Do(func() {
		goodbye := goodbyeTimeout
		if in.broken || in.dial.isAborted() {
			goodbye = brokenTimeout
		}
		// The session ends with its client, and with it a transaction left open.
		in.closeErr = disconnect(in.client, goodbye)
	})
	return in.closeErr
}

// internalDocumentBytes is what a command may have beyond the largest
// document (BSONObjMaxInternalSize, src/mongo/bson/util/builder.h).
const internalDocumentBytes = 16 << 10

// CheckBatch refuses a statement that the server wouldn't take. A command is
// itself one document, so all of it must fit into the largest document and
// 16 KiB: the message limit of 48 MB isn't reached, since the client splits
// at 16 MiB too where it sends documents outside the command.
func (s *Server) CheckBatch(_ context.Context, rows, dataBytes int) error {
	c, err := s.newCommand(ibench.TableName(0))
	if err != nil {
		return err
	}
	if size := c.documents.sizeBytes(dataBytes); size > s.hello.MaxDocumentBytes {
		return drivers.Configf("a row with %d bytes of data is a document of %d bytes, above the server's limit of %d; lower --data-length-max", dataBytes, size, s.hello.MaxDocumentBytes)
	}
	if rows > s.hello.MaxBatch {
		return drivers.Configf("%d rows per statement are above the server's limit of %d documents per command; lower --rows-per-commit", rows, s.hello.MaxBatch)
	}
	limit := min(s.hello.MaxDocumentBytes+internalDocumentBytes, s.hello.MaxMessageBytes)
	if size := c.sizeBytes(rows, dataBytes); size > limit {
		return drivers.Configf("%d rows with up to %d bytes of data make a command of %d bytes, above the server's limit of %d; lower --rows-per-commit", rows, dataBytes, size, limit)
	}
	return nil
}
