//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"insertbench/drivers"
)

func TestNotifyContext(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		exits := make(chan Code, 1)
		p := &Process{Stderr: io.Discard, Exit: func(c Code) { exits <- c }}
		ctx, stop := p.NotifyContext(t.Context())
		raise(t, sig)
		<-ctx.Done()
		var cause *SignalError
		if !errors.As(context.Cause(ctx), &cause) || cause.Signal != sig {
			t.Errorf("%v: the cause is %v", sig, context.Cause(ctx))
		}
		if len(exits) != 0 {
			t.Fatalf("%v: the first signal exits", sig)
		}
		raise(t, syscall.SIGTERM)
		if code := <-exits; code != Terminated {
			t.Errorf("a second signal exits with %d", code)
		}
		stop()
	}
}

// A second signal waits for what is being put back on a server.
func TestNotifyContextUndoing(t *testing.T) {
	exits := make(chan Code, 1)
	p := &Process{Stderr: io.Discard, Exit: func(c Code) { exits <- c }}
	ctx, stop := p.NotifyContext(t.Context())
	defer stop()
	undone := drivers.Undoing(context.WithoutCancel(ctx), "SET GLOBAL x = 1")
	raise(t, syscall.SIGINT)
	<-ctx.Done()
	raise(t, syscall.SIGTERM)
	select {
	case <-exits:
		t.Error("it exits while something is left to put back")
	case <-time.After(50 * time.Millisecond):
	}
	undone()
	if code := <-exits; code != Terminated {
		t.Errorf("a second signal exits with %d", code)
	}
}

// What isn't put back in time is told with the statements that do it.
func TestNotifyContextNotUndone(t *testing.T) {
	exits := make(chan Code, 1)
	var stderr bytes.Buffer
	p := &Process{Stderr: &stderr, Exit: func(c Code) { exits <- c }}
	ctx, stop := p.NotifyContext(t.Context())
	defer stop()
	drivers.Undoing(ctx, "SET GLOBAL x = 1")() // this one was
	defer drivers.Undoing(ctx, "SET GLOBAL y = 2; SET GLOBAL z = 3")()
	raise(t, syscall.SIGINT)
	<-ctx.Done()
	raise(t, syscall.SIGTERM)
	if code := <-exits; code != Terminated {
		t.Errorf("a second signal exits with %d", code)
	}
	want := "stopped by SIGINT: what is under way may take a moment to end; a second signal quits at once\n" +
		"warning: the server's settings may not have been put back; do it by hand: SET GLOBAL y = 2; SET GLOBAL z = 3\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" {
		t.Errorf("standard error (-want +got):\n%s", diff)
	}
}

func TestNotifyContextGivesBack(t *testing.T) {
	p := &Process{Exit: func(Code) { t.Error("exits without a signal") }}
	ctx, stop := p.NotifyContext(t.Context())
	if ctx.Err() != nil {
		t.Fatal("it ended before it began")
	}
	stop()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		t.Errorf("the cause after the end is %v", cause)
	}
}

func raise(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}
