package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLockHost(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	unlock, err := LockHost()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockHost(); CodeOf(err) != Locked || !strings.Contains(err.Error(), filepath.Join(dir, "insertbench.lock")) || !strings.Contains(err.Error(), "--no-lock") {
		t.Errorf("a second lock: %d, %v", CodeOf(err), err)
	}
	unlock()
	unlock, err = LockHost()
	if err != nil {
		t.Errorf("the lock was given back: %v", err)
	} else {
		unlock()
	}
	if err := os.Remove(filepath.Join(dir, "insertbench.lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "insertbench.lock"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := LockHost(); err == nil || !strings.Contains(err.Error(), "--no-lock") {
		t.Errorf("a lock that can't be opened: %v", err)
	}
}
