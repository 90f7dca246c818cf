package iostat

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// deviceNumber is the device a file is on, as "major:minor".
func deviceNumber(info os.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	dev := uint64(st.Dev)
	return fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
}

// FreeBytes is the space of a directory's file system that is free for users other than root.
func FreeBytes(dir string) Opt[int64] {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Opt[int64]{}
	}
	return Some(int64(st.Bavail) * int64(st.Bsize))
}
