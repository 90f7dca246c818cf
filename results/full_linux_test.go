package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountSmall mounts a file system of its own, so that a full disk is a real one.
func mountSmall(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a full disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	return dir
}

func TestDiskFull(t *testing.T) {
	dir := mountSmall(t, "size=1200k")
	w, err := Create(dir, Run{Workload: "ibench", StartedUTC: started})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.AppendInterval(testIntervals()[0]); err != nil {
		t.Fatal(err)
	}
	_, err = w.Dump("load", "end", "big.txt", make([]byte, 1<<20))
	checkFull(t, "a dump", err)
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk isn't full: %v", err)
	}
	written := 1
	for err = nil; err == nil && written < 1_000; written++ {
		err = w.AppendInterval(testIntervals()[0]) // until its last page is full
	}
	checkFull(t, "an interval", err)
	if got, err := LoadIntervals(w.Dir()); err != nil || len(got) != written-1 {
		t.Errorf("%d intervals are read back, %d were written: %v", len(got), written-1, err)
	}
	run := fullRun()
	run.Reason = "the results disk is full"
	if err := w.Save(run); err != nil {
		t.Fatalf("the last word, for which space was kept: %v", err)
	}
	if got, err := Load(w.Dir()); err != nil || got.Reason != run.Reason {
		t.Errorf("read back: %q, %v", got.Reason, err)
	}
	run.Warnings = []string{strings.Repeat("x", 2<<20)}
	checkFull(t, "a record larger than the disk", w.Save(run))
	if got, err := Load(w.Dir()); err != nil || len(got.Warnings) != 1 || got.Warnings[0] != "w" {
		t.Errorf("the record before it is gone: %v", err)
	}
}

func TestNoSpaceAtAll(t *testing.T) {
	dir := mountSmall(t, "size=64k")
	_, err := Create(dir, Run{Workload: "ibench", StartedUTC: started})
	checkFull(t, "creating", err)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestReadOnly(t *testing.T) {
	dir := mountSmall(t, "size=64k,ro")
	_, err := Create(filepath.Join(dir, "runs"), Run{StartedUTC: started})
	if !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "--results") {
		t.Errorf("creating on a read-only file system: %v", err)
	}
}

func checkFull(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") || !strings.Contains(err.Error(), string(filepath.Separator)) {
		t.Errorf("%s on a full disk: %v", what, err)
	}
}
