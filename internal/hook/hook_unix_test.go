//go:build unix

package hook_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"insertbench/internal/hook"
)

// patience bounds waiting for something that will come.
const patience = time.Minute

func run(t *testing.T, ctx context.Context, h hook.Hook, facts ...string) (string, error) {
	t.Helper()
	defer goleak.VerifyNone(t)
	out, err := os.OpenFile(filepath.Join(t.TempDir(), "out"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if h.Timeout == 0 {
		h.Timeout = patience
	}
	err = h.Run(ctx, facts, out)
	text, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), err
}

func TestRun(t *testing.T) {
	t.Setenv("HOOK_KEPT", "kept")
	t.Setenv("HOOK_SECRET", "zebra")
	text, err := run(t, t.Context(), hook.Hook{Command: `echo "$HOOK_KEPT $FACT [$HOOK_SECRET]"; echo more >&2`, Hide: []string{"HOOK_SECRET"}}, "FACT=a b")
	if err != nil || text != "kept a b []\nmore\n" {
		t.Errorf("printed %q, %v", text, err)
	}
}

func TestFailures(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		hook hook.Hook
		want []string
	}{
		{"its status", t.Context(), hook.Hook{Command: "echo no such disk; echo sdz is gone; exit 3"}, []string{"exit status 3", `it said "sdz is gone"`}},
		{"no such program", t.Context(), hook.Hook{Command: "nosuchprogram-x"}, []string{"exit status 127", "nosuchprogram-x"}},
		{"too long", t.Context(), hook.Hook{Command: "echo begun; sleep 600 | sleep 600", Timeout: 200 * time.Millisecond}, []string{"still running after 200ms", "in the background", `it said "begun"`}},
		{"interrupted", ended, hook.Hook{Command: "sleep 600"}, []string{"was ended", "canceled"}},
	} {
		_, err := run(t, tc.ctx, tc.hook)
		if err == nil {
			t.Fatalf("%s: no error", tc.name)
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", tc.name, err, want)
			}
		}
	}
}

// TestBackground: what a hook leaves behind goes on until the other hook ends it.
func TestBackground(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	if _, err := run(t, t.Context(), hook.Hook{Command: "sleep 600 & echo $! >" + pid}); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, t.Context(), hook.Hook{Command: "kill $(cat " + pid + ")"}); err != nil {
		t.Errorf("it didn't go on: %v", err)
	}
}
