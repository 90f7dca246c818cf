package scripttest

import (
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

const canMount = true

// mountSmall mounts a file system of its own size in memory: mount FOLDER SIZE
func mountSmall(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+args[1]))
	ts.Defer(func() { ts.Check(syscall.Unmount(dir, 0)) })
}
