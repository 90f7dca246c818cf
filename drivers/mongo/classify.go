package mongo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"insertbench/drivers"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/x/mongo/driver/topology"
)

// Labels that servers put on errors (MongoDB specifications, "Transactions").
const (
	labelTransient     = "TransientTransactionError"
	labelUnknownCommit = "UnknownTransactionCommitResult"
	labelNetwork       = "NetworkError"
)

// phase is what a command that failed was part of.
type phase uint8

const (
	// plain: an insert that commits by itself.
	plain phase = iota
	// inTransaction: an insert whose transaction was not yet committed.
	inTransaction
	// committing: the commit itself.
	committing
)

// Codes of our own, for what no server answered.
const (
	codeConnectionLost = "connection lost"
	codeTimeout        = "timeout"
	codeCantConnect    = "can't connect"
	codeAborted        = "aborted"
	codeShortReply     = "fewer rows acknowledged"
	codeBadReply       = "unreadable reply"
)

// uncertain are the codes after which a command may have had an effect: the
// server was interrupted, stopped or lost its role while it ran, waited for
// something that didn't come, or failed without saying where.
var uncertain = []int{
	codeInternalError, codeHostUnreachable, codeHostNotFound, codeUnknownError, codeMaxTimeMSExpired,
	codeNetworkTimeout, codeShutdownInProgress, codePrimarySteppedDown, codeCursorKilled,
	codeExceededTimeLimit, codeSocketException, codeInterruptedAtShutdown, codeInterrupted,
	codeInterruptedByReplica, codeNotPrimaryOrSecondary,
}

// notPrimary are the codes with which a server refuses a write before it
// starts, because it isn't the primary.
var notPrimary = []int{codeNotWritablePrimary, codeNotPrimaryNoSecondary}

// classify says what an error means for a command. doing opens its sentence.
func classify(doing string, err error, p phase) *drivers.Error {
	e := &drivers.Error{Err: fmt.Errorf("%s: %w", doing, err)}
	var ce mongo.CommandError
	var we mongo.WriteException
	switch {
	case errors.As(err, &ce) && !ce.HasErrorLabel(labelNetwork):
		e.Code = codeName(ce.Name, int(ce.Code))
		e.Class = classOfCommand(ce, p)
		if e.Class == drivers.Fatal && slices.Contains(notPrimary, int(ce.Code)) {
			e.Err = fmt.Errorf("%s: the server is not the primary: %w", doing, err)
		}
	case errors.As(err, &we):
		e.Code, e.Class = classOfWrite(we, p)
	case neverSent(err):
		// The statement didn't leave: nothing of it was kept.
		e.Code, e.Class = codeCantConnect, drivers.Fatal
	default:
		e.Class, e.Code = drivers.Unknown, codeConnectionLost
		effect, advice := "whether it took effect isn't known", "see whether the server still runs and what its log says"
		if mongo.IsTimeout(err) {
			e.Code, advice = codeTimeout, "the statement timeout can be raised"
		}
		if p == inTransaction {
			// No commit was sent, and the next transaction of the session ends this one.
			e.Class, effect = drivers.Retryable, "nothing was committed"
		}
		e.Err = fmt.Errorf("%s: %s, %s: %w (%s)", doing, e.Code, effect, err, advice)
	}
	return e
}

// classOfCommand is for a command that the server refused as a whole.
func classOfCommand(ce mongo.CommandError, p phase) drivers.Class {
	code := int(ce.Code)
	switch {
	case ce.HasErrorLabel(labelUnknownCommit):
		return drivers.Unknown
	case p != plain && ce.HasErrorLabel(labelTransient):
		return drivers.Retryable
	case p == inTransaction:
		return drivers.Fatal // whatever failed, nothing is committed
	case slices.Contains(uncertain, code), p == committing && slices.Contains(notPrimary, code):
		return drivers.Unknown
	case hasKept(ce.Raw):
		return drivers.Unknown
	case code == codeWriteConflict:
		return drivers.Retryable
	default:
		return drivers.Fatal
	}
}

// classOfWrite is for a command that ran and reports on single documents, or
// on a write concern that wasn't met: that write has happened, but isn't
// acknowledged as asked.
func classOfWrite(we mongo.WriteException, p phase) (code string, class drivers.Class) {
	if len(we.WriteErrors) == 0 {
		if we.WriteConcernError == nil {
			return codeBadReply, drivers.Unknown
		}
		return codeName(we.WriteConcernError.Name, we.WriteConcernError.Code), drivers.Unknown
	}
	first := we.WriteErrors[0].Code
	code = codeName("", first)
	switch {
	case p == inTransaction && we.HasErrorLabel(labelTransient):
		return code, drivers.Retryable
	case p == inTransaction:
		return code, drivers.Fatal
	case hasKept(we.Raw), slices.Contains(uncertain, first):
		return code, drivers.Unknown
	case first == codeWriteConflict:
		return code, drivers.Retryable
	default:
		return code, drivers.Fatal
	}
}

// existing is the reply to an insert of which nothing failed but documents
// whose keys exist, and how many they are; nil where anything else did.
func existing(err error) (reply bson.Raw, there int64) {
	var we mongo.WriteException
	if !errors.As(err, &we) || we.WriteConcernError != nil {
		return nil, 0
	}
	for _, e := range we.WriteErrors {
		if e.Code != codeDuplicateKey {
			return nil, 0
		}
	}
	return we.Raw, int64(len(we.WriteErrors))
}

// hasKept says whether a reply counts documents that were kept before the
// error. The statement is then neither acknowledged nor undone.
func hasKept(reply bson.Raw) bool {
	n, _ := acknowledged(reply)
	return n > 0
}

// acknowledged is n of a reply: the documents that were inserted.
func acknowledged(reply bson.Raw) (n int64, ok bool) {
	if reply == nil {
		return 0, false
	}
	v, err := reply.LookupErr("n")
	if err != nil {
		return 0, false
	}
	return v.AsInt64OK()
}

// neverSent says whether the client failed before it had a connection.
func neverSent(err error) bool {
	var ce mongo.CommandError
	if errors.As(err, &ce) {
		return false // a labelled network error: something was sent
	}
	var selection topology.ServerSelectionError
	var connection topology.ConnectionError
	var queue topology.WaitQueueTimeoutError
	return errors.As(err, &selection) || errors.As(err, &connection) || errors.As(err, &queue) ||
		errors.Is(err, mongo.ErrClientDisconnected) || errors.Is(err, topology.ErrServerClosed)
}

// codeName is what errors are counted by: the server's name for the code, the
// name that the documentation gives it, or the number.
func codeName(name string, code int) string {
	if name != "" {
		return name
	}
	switch code {
	case codeWriteConflict:
		return "WriteConflict"
	case codeDocumentValidation:
		return "DocumentValidationFailure"
	case codeBSONObjectTooLarge:
		return "BSONObjectTooLarge"
	case codeDuplicateKey:
		return "DuplicateKey"
	default:
		return strconv.Itoa(code)
	}
}
