package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// explain makes a sentence of an error of the file system while a record is
// written: what was being done, to which path, what went wrong, what to try.
func explain(doing, path string, err error) error {
	hint := ""
	switch {
	case IsFull(err):
		hint = "; free some space or name another folder with --results"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		hint = "; name another folder with --results"
	}
	return fmt.Errorf("%w%s", sentence(doing, path, err), hint)
}

// sentence is explain without what to try.
func sentence(doing, path string, err error) error {
	// The path stands in the sentence already.
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}

// replaceFile writes data under a temporary name, brings it to disk and
// renames it, so that a reader finds the old file or the new one.
func replaceFile(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := writeSynced(tmp, data); err != nil {
		os.Remove(tmp)
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		os.Remove(tmp)
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir brings the rename to disk where the system can; elsewhere the file
// is whole all the same, only its name may be lost with the power.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// appendFile is a file of whole lines. A nil one is closed.
type appendFile struct {
	f    *os.File
	path string
	size int64
}

func openAppend(path string) (*appendFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, explain("making", path, err)
	}
	return &appendFile{f: f, path: path}, nil
}

// append writes whole lines; what was written of them before an error is
// taken back, so that the next ones don't follow half a line.
func (a *appendFile) append(lines []byte) error {
	if a == nil {
		return errors.New("appending to the run's record: it is closed")
	}
	n, err := a.f.Write(lines)
	if err == nil {
		a.size += int64(n)
		return nil
	}
	if a.f.Truncate(a.size) == nil {
		_, _ = a.f.Seek(a.size, io.SeekStart)
	}
	return explain("appending to", a.path, err)
}

func (a *appendFile) close() error {
	if a == nil {
		return nil
	}
	if err := a.f.Close(); err != nil {
		return explain("closing", a.path, err)
	}
	return nil
}
