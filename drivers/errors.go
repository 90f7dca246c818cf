package drivers

import (
	"errors"
	"fmt"
)

// Class says what an error means for a statement that was sent.
type Class uint8

const (
	// Fatal: the server refused the statement and would refuse it again.
	// Nothing of it was kept.
	Fatal Class = iota
	// Retryable: the server rolled the statement back and asks to try again,
	// as after a deadlock. Nothing of it was kept.
	Retryable
	// Unknown: the answer never came. The statement may or may not have been
	// committed; it is counted as unknown and never sent again.
	Unknown
)

// String gives the word used in records and messages.
func (c Class) String() string {
	switch c {
	case Fatal:
		return "fatal"
	case Retryable:
		return "retryable"
	case Unknown:
		return "unknown outcome"
	default:
		return fmt.Sprintf("class %d", uint8(c))
	}
}

// Error is a statement's failure with its class and the code it is counted by.
type Error struct {
	Class Class
	// Code is what errors are counted by: the server's own number or name
	// ("1213", "WriteConflict"), or a word of ours ("connection lost").
	Code string
	Err  error
}

// Error returns the sentence of the wrapped error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf is the class of an error from a statement. An error that no driver
// classed is Unknown: when in doubt a statement is never sent twice.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Unknown
}

// CodeOf is the code an error is counted by; "unclassified" where no driver
// gave one.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Code != "" {
		return e.Code
	}
	return "unclassified"
}

// ErrConnect marks errors of connecting, logging in or finding the database;
// ErrConfig those of what was asked for (an unknown engine, a statement above
// the server's limit, an existing table). Test with errors.Is; each maps to
// an exit code.
var (
	ErrConnect = errors.New("can't connect")
	ErrConfig  = errors.New("configuration refused")
)

// EngineError is of a server that is there, but can't use the storage engine
// that was asked for. Its kind is ErrConfig.
type EngineError struct {
	Engine string
	Err    error
}

// Error returns the sentence of the wrapped error.
func (e *EngineError) Error() string { return e.Err.Error() }

// Unwrap gives the wrapped error and the kind.
func (e *EngineError) Unwrap() []error { return []error{ErrConfig, e.Err} }

// kindError carries a kind without printing it: the sentence stays the
// caller's own.
type kindError struct {
	kind error
	err  error
}

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

// Connectf makes an error of kind ErrConnect with a sentence of its own.
func Connectf(format string, args ...any) error {
	return &kindError{ErrConnect, fmt.Errorf(format, args...)}
}

// Configf makes an error of kind ErrConfig with a sentence of its own.
func Configf(format string, args ...any) error {
	return &kindError{ErrConfig, fmt.Errorf(format, args...)}
}
