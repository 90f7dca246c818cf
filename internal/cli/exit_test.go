package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"insertbench/drivers"
)

// TestCodes holds the table against the published one, and CodeOf against the table.
func TestCodes(t *testing.T) {
	published := []Code{0, 1, 2, 3, 4, 6, 7, 129, 130, 143}
	if len(Codes) != len(published) {
		t.Fatalf("%d codes, want %d", len(Codes), len(published))
	}
	for i, c := range Codes {
		if c.Code != published[i] || c.Meaning == "" {
			t.Errorf("code %d %q, want %d with a meaning", c.Code, c.Meaning, published[i])
		}
	}
	wrap := func(err error) error { return fmt.Errorf("while trying: %w", errors.Join(io.EOF, err)) }
	reached := map[Code]bool{}
	for _, tc := range []struct {
		err  error
		want Code
	}{
		{nil, 0},
		{io.EOF, 1},
		{wrap(&drivers.Error{Class: drivers.Unknown, Err: io.EOF}), 1},
		{wrap(Usagef("no")), 2},
		{wrap(drivers.Configf("no such engine")), 2},
		{wrap(drivers.Connectf("nobody there")), 3},
		{wrap(&Error{Unverified, io.EOF}), 4},
		{wrap(&Error{RateMissed, io.EOF}), 6},
		{wrap(&Error{Locked, io.EOF}), 7},
		{wrap(&SignalError{syscall.SIGHUP}), 129},
		{wrap(&SignalError{syscall.SIGINT}), 130},
		{wrap(&SignalError{syscall.SIGTERM}), 143},
		// A signal is why the rest failed.
		{errors.Join(drivers.Connectf("broken off"), &SignalError{syscall.SIGINT}), 130},
		{errors.Join(&Error{Unverified, io.EOF}, &SignalError{syscall.SIGTERM}), 143},
		{&SignalError{noSignal{}}, 1},
	} {
		got := CodeOf(tc.err)
		if got != tc.want {
			t.Errorf("%v: exit code %d, want %d", tc.err, got, tc.want)
		}
		reached[got] = true
	}
	for _, c := range Codes {
		if !reached[c.Code] {
			t.Errorf("no error leads to exit code %d (%s)", c.Code, c.Meaning)
		}
	}
}

// noSignal is a signal that isn't of this system.
type noSignal struct{}

func (noSignal) String() string { return "wave" }
func (noSignal) Signal()        {}

func TestInterrupted(t *testing.T) {
	broken := drivers.Connectf("context canceled")
	running := t.Context()
	if got := Interrupted(running, broken); got != broken {
		t.Errorf("no signal came: got %v", got)
	}
	ended, cancel := context.WithCancel(running)
	cancel()
	if got := Interrupted(ended, broken); got != broken {
		t.Errorf("ended without a signal: got %v", got)
	}
	signalled, stop := context.WithCancelCause(running)
	stop(&SignalError{syscall.SIGTERM})
	if got := Interrupted(signalled, nil); got != nil {
		t.Errorf("all was done before the signal: got %v", got)
	}
	got := Interrupted(signalled, broken)
	if CodeOf(got) != Terminated || got.Error() != "stopped by SIGTERM: context canceled" {
		t.Errorf("got %d, %v", CodeOf(got), got)
	}
	opening := drivers.Connectf("connecting to MySQL at 127.0.0.1:3306: %w", context.Canceled)
	if got := Interrupted(signalled, opening); CodeOf(got) != Terminated || got.Error() != "stopped by SIGTERM: connecting to MySQL at 127.0.0.1:3306" {
		t.Errorf("canceled while connecting: got %d, %v", CodeOf(got), got)
	}
	if again := Interrupted(signalled, got); again != got {
		t.Errorf("the signal is said twice: %v", again)
	}
}

// TestAfterRecord: codes 2 and 3 promise that nothing was touched, which isn't
// so once a run has its record.
func TestAfterRecord(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want Code
	}{
		{nil, 0},
		{io.EOF, 1},
		{drivers.Configf("the engine doesn't take these options"), 1},
		{drivers.Connectf("the server is gone"), 1},
		{&Error{Unverified, io.EOF}, 4},
		{&Error{RateMissed, io.EOF}, 6},
		{errors.Join(drivers.Connectf("broken off"), &SignalError{syscall.SIGINT}), 130},
	} {
		got := afterRecord(tc.err)
		if CodeOf(got) != tc.want || tc.err != nil && got.Error() != tc.err.Error() {
			t.Errorf("%v: %v with exit code %d, want the same sentence with %d", tc.err, got, CodeOf(got), tc.want)
		}
	}
}
