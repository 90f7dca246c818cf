// Package cli is what both commands share between the operating system and
// their subcommands: process state, exit codes, flags, and opening a database.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"insertbench/drivers"
)

// Code is an exit code. Codes has the table that documentation and tests are
// made from.
type Code int

// The exit codes. 5 is kept for a regression that a comparison of runs finds. A
// signal's is 128 plus its number, as shells have it.
const (
	OK         Code = 0
	Failed     Code = 1
	Usage      Code = 2
	Connect    Code = 3
	Unverified Code = 4
	RateMissed Code = 6
	Locked     Code = 7
	Hangup     Code = 129
	Interrupt  Code = 130
	Terminated Code = 143
)

// CodeMeaning is one line of the table of exit codes.
type CodeMeaning struct {
	Code    Code
	Meaning string
}

// Codes lists the exit codes and what they mean.
var Codes = []CodeMeaning{
	{OK, "done"},
	{Failed, "the run failed or is partial; a partial record is saved"},
	{Usage, "usage or configuration: a wrong flag, an unknown engine, a table that exists without --drop; nothing was touched"},
	{Connect, "can't connect, log in or find the database; nothing was touched"},
	{Unverified, "verification failed: the database doesn't hold what it acknowledged"},
	{RateMissed, "the target rate was not sustained (with --strict)"},
	{Locked, "another measuring run holds this host's lock (--no-lock to run all the same)"},
	{Hangup, "ended by SIGHUP; a partial record is saved"},
	{Interrupt, "ended by SIGINT; a partial record is saved"},
	{Terminated, "ended by SIGTERM; a partial record is saved"},
}

// Error is an error with an exit code of its own.
type Error struct {
	Code Code
	Err  error
}

// Error gives the wrapped error's sentence.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Usagef is an error of usage, exit code 2.
func Usagef(format string, args ...any) error {
	return &Error{Usage, fmt.Errorf(format, args...)}
}

// SignalError is the cause of a context that a signal ended.
type SignalError struct{ Signal os.Signal }

// Error names the signal.
func (e *SignalError) Error() string {
	if s, ok := e.Signal.(syscall.Signal); ok && signalNames[s] != "" {
		return "stopped by " + signalNames[s]
	}
	return "stopped by signal " + e.Signal.String()
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM",
}

// Interrupted gives an error that a signal brought about the signal as its
// cause: what was under way when ctx ended says no more than that it ended. That
// it was canceled isn't said again.
func Interrupted(ctx context.Context, err error) error {
	var already, sig *SignalError
	if err == nil || errors.As(err, &already) || !errors.As(context.Cause(ctx), &sig) {
		return err
	}
	if doing, only := strings.CutSuffix(err.Error(), ": "+context.Canceled.Error()); only {
		return fmt.Errorf("%w: %s", sig, doing)
	}
	return fmt.Errorf("%w: %w", sig, err)
}

// CodeOf is the exit code of an error: OK for nil.
func CodeOf(err error) Code {
	var coded *Error
	var sig *SignalError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &sig):
		if s, ok := sig.Signal.(syscall.Signal); ok {
			return 128 + Code(s)
		}
		return Failed
	case errors.As(err, &coded):
		return coded.Code
	case errors.Is(err, drivers.ErrConnect):
		return Connect
	case errors.Is(err, drivers.ErrConfig):
		return Usage
	default:
		return Failed
	}
}
