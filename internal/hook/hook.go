// Package hook runs commands that a user has asked for at the ends of a step:
// for perf and flame graphs, for dropping caches, for whatever else belongs to
// a measurement and isn't ours.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Hook is one command, given to the shell.
type Hook struct {
	Command string
	// Timeout ends the command and what it started; it has to be set.
	Timeout time.Duration
	// Hide are names of the environment that the command isn't given.
	Hide []string
}

// killWait bounds the wait for a command that was ended.
const killWait = 2 * time.Second

// Run runs the command with facts ("NAME=value") added to the environment and
// what it prints appended to out, and waits for its end. What it leaves in the
// background goes on, and keeps writing to out. An error says how the command
// ended and ends in what it printed last.
func (h Hook) Run(ctx context.Context, facts []string, out *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	cmd := shell(ctx, h.Command)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = killWait
	setGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	for _, pair := range cmd.Environ() {
		if name, _, _ := strings.Cut(pair, "="); !slices.Contains(h.Hide, name) {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, facts...)
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%q was still running after %s and was ended; let it leave in the background what is to go on, or give it more time%s", h.Command, h.Timeout, said(out))
	case ctx.Err() != nil:
		return fmt.Errorf("%q was ended: %w", h.Command, context.Cause(ctx))
	default:
		return fmt.Errorf("%q failed: %w%s", h.Command, err, said(out))
	}
}

// said is the last line of what was printed, for the error.
func said(out *os.File) string {
	const tail = 400
	size, err := out.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return ""
	}
	text := make([]byte, min(size, tail))
	if _, err := out.ReadAt(text, size-int64(len(text))); err != nil {
		return ""
	}
	text = bytes.TrimSpace(text)
	return fmt.Sprintf("; it said %q", text[bytes.LastIndexByte(text, '\n')+1:])
}
