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
