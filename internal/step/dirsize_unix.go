//go:build unix

package step

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// DirBytes is what a directory takes on disk: the blocks allocated to its
// files, each counted once however many names it has. Files that vanish
// meanwhile, as a server's do, are left out.
func DirBytes(dir string) (int64, error) {
	type inode struct{ dev, ino uint64 }
	seen := map[inode]bool{}
	var total int64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path != dir && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		id := inode{uint64(st.Dev), uint64(st.Ino)}
		if !seen[id] {
			seen[id] = true
			total += int64(st.Blocks) * 512
		}
		return nil
	})
	return total, err
}
