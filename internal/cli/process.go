package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"insertbench/drivers"
)

// Process is all that a command takes from the operating system. Nothing else
// reads os.Args, the environment or the standard streams, or exits.
type Process struct {
	Args   []string
	Getenv func(string) string
	Stdin  *os.File
	Stdout io.Writer
	Stderr io.Writer
	// Terminal says whether Stderr is a terminal, where progress is one line
	// drawn again and again.
	Terminal bool
	// Exit ends the process at once; it is called only for a second signal.
	Exit func(Code)
}

// System is the real process.
func System() *Process {
	return &Process{
		Args: os.Args, Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
		Exit:     func(c Code) { os.Exit(int(c)) },
	}
}

// undoTimeout is what putting settings of a server back takes at most once a
// second signal wants the process to end: two statements that take no lock.
const undoTimeout = 3 * time.Second

// KeepPipe makes writing to a closed standard output, as a pipe into head, fail
// where it would end the process: for what is printed while a run is measured,
// whose record must become whole. The returned function makes it as it was and
// must be called. Commands started meanwhile are not concerned.
func (p *Process) KeepPipe() func() {
	signals := make(chan os.Signal, 1) // Ignore would be inherited by commands
	signal.Notify(signals, syscall.SIGPIPE)
	return func() { signal.Stop(signals) }
}

// NotifyContext gives a context that the first SIGINT, SIGTERM or SIGHUP ends,
// with a *SignalError as its cause. A second signal exits at once, but for
// what is being put back on a server, which has undoTimeout. The returned
// function gives the signals back and must be called.
func (p *Process) NotifyContext(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ctx, undoings := drivers.WithUndoings(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for first := true; ; first = false {
			select {
			case s := <-signals:
				err := &SignalError{s}
				if !first {
					select {
					case <-undoings.Undone():
					case <-time.After(undoTimeout):
						for _, byHand := range undoings.Left() {
							p.Warnf("the server's settings may not have been put back; do it by hand: %s", byHand)
						}
					}
					p.Exit(CodeOf(err))
					return
				}
				fmt.Fprintf(p.Stderr, "%v: what is under way may take a moment to end; a second signal quits at once\n", err)
				cancel(err)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		<-ended
		cancel(nil)
	}
}

// Warnf prints one warning to standard error.
func (p *Process) Warnf(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "warning: "+format+"\n", args...)
}

// ReadPassword asks on the terminal without echo.
func (p *Process) ReadPassword(prompt string) (string, error) {
	if !term.IsTerminal(int(p.Stdin.Fd())) {
		return "", errors.New("can't ask for a password: standard input is no terminal; use --password-file")
	}
	fmt.Fprint(p.Stderr, prompt)
	text, err := term.ReadPassword(int(p.Stdin.Fd()))
	fmt.Fprintln(p.Stderr)
	if err != nil {
		return "", fmt.Errorf("read the password from the terminal: %w", err)
	}
	return string(text), nil
}
