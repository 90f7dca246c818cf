package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

const (
	markerName = "insertbench-server.json"
	lockName   = "insertbench-server.lock"
	// A unix socket's path is limited to 107 bytes on Linux and 103 on BSD.
	maxSocketPath = 99
	// mongod chooses its socket's name; this is its longest.
	longestSocketName = "mongodb-65535.sock"
)

// marker is written into a directory that we made, so that a later run can tell it from any other.
type marker struct {
	Product     string `json:"product"`
	Version     string `json:"version"`
	Initialised bool   `json:"initialised"`
}

// home is the directory a server lives in: data/, tmp/, its log, its configuration, a marker and a lock.
type home struct {
	root, data, log, pidFile string
	tmp                      string // for the server's sort files, on the same device as its data
	socketDir                string // root, or a directory of its own where root's path is too long
	remove                   bool   // at close
	initialised              bool   // data/ was made by an earlier run
	lock                     *flock.Flock
}

// openHome makes or reopens the directory; "" makes a temporary one, removed at close unless keep.
func openHome(dir string, id Identity, keep bool) (*home, error) {
	h := &home{}
	var err error
	if dir == "" {
		if h.root, err = os.MkdirTemp("", "insertbench-"); err != nil {
			return nil, fmt.Errorf("make a temporary directory for its data: %w", err)
		}
		h.remove = !keep
	} else {
		if h.root, err = filepath.Abs(dir); err != nil {
			return nil, fmt.Errorf("its data directory %s: %w", dir, err)
		}
		if err := os.MkdirAll(h.root, 0o700); err != nil {
			return nil, fmt.Errorf("make its data directory: %w", err)
		}
	}
	h.data = filepath.Join(h.root, "data")
	h.tmp = filepath.Join(h.root, "tmp")
	h.log = filepath.Join(h.root, "server.err")
	h.pidFile = filepath.Join(h.root, "server.pid")
	if err := h.claim(id); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// claim checks that the directory is ours to use, locks and marks it.
func (h *home) claim(id Identity) error {
	if err := h.checkContents(); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(h.root, lockName))
	ok, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock its data directory: %w", err)
	}
	if !ok {
		return fmt.Errorf("the data directory %s is in use by another run (pid file %s); stop that or choose another directory", h.root, h.pidFile)
	}
	h.lock = lock
	if err := h.readMarker(id); err != nil {
		return err
	}
	if !h.initialised {
		// What an interrupted start left is incomplete, and ours.
		if err := os.RemoveAll(h.data); err != nil {
			return fmt.Errorf("clear what an interrupted start left: %w", err)
		}
		if err := h.writeMarker(id); err != nil {
			return err
		}
	}
	if err := os.Remove(h.pidFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove an old pid file: %w", err)
	}
	if err := os.RemoveAll(h.tmp); err != nil {
		return fmt.Errorf("clear its directory for temporary files: %w", err)
	}
	if err := os.Mkdir(h.tmp, 0o700); err != nil {
		return fmt.Errorf("make a directory for its temporary files: %w", err)
	}
	return h.chooseSocketDir()
}

// checkContents refuses a directory that holds anything and not our marker.
func (h *home) checkContents() error {
	entries, err := os.ReadDir(h.root)
	if err != nil {
		return fmt.Errorf("read its data directory: %w", err)
	}
	var others []string
	for _, e := range entries {
		switch e.Name() {
		case markerName:
			return nil
		case lockName, "lost+found": // an unmarked lock is left by a start cut short; lost+found by mkfs
		default:
			others = append(others, e.Name())
		}
	}
	if len(others) == 0 {
		return nil
	}
	if len(others) > 3 {
		others = append(others[:3], "…")
	}
	return fmt.Errorf("the data directory %s is not empty (%s) and was not made by an earlier run; nothing in it was touched: choose an empty or a new directory",
		h.root, strings.Join(others, ", "))
}

func (h *home) readMarker(id Identity) error {
	path := filepath.Join(h.root, markerName)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the data directory's marker: %w", err)
	}
	var m marker
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("read the data directory's marker %s: %w; choose another directory", path, err)
	}
	if m.Initialised && m.Product != id.Product {
		return fmt.Errorf("the data directory %s holds data of %s %s; choose another directory", h.root, m.Product, m.Version)
	}
	h.initialised = m.Initialised
	return nil
}

func (h *home) writeMarker(id Identity) error {
	b, err := json.Marshal(marker{Product: id.Product, Version: id.Version, Initialised: h.initialised})
	if err == nil {
		err = os.WriteFile(filepath.Join(h.root, markerName), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("mark its data directory: %w", err)
	}
	return nil
}

func (h *home) markInitialised(id Identity) error {
	h.initialised = true
	return h.writeMarker(id)
}

// chooseSocketDir finds a directory in which a socket's path is short enough.
func (h *home) chooseSocketDir() error {
	fits := func(dir string) bool { return len(filepath.Join(dir, longestSocketName)) <= maxSocketPath }
	if h.socketDir = h.root; fits(h.root) {
		return nil
	}
	parent := os.TempDir()
	if !fits(filepath.Join(parent, "ib-0123456789")) {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "ib-")
	if err != nil {
		return fmt.Errorf("make a directory for its socket: %w", err)
	}
	h.socketDir = dir
	return nil
}

// close gives up the lock and removes what is temporary.
func (h *home) close() error {
	var errs []error
	if h.lock != nil {
		errs = append(errs, h.lock.Unlock())
	}
	if h.socketDir != "" && h.socketDir != h.root {
		errs = append(errs, os.RemoveAll(h.socketDir))
	}
	if h.remove {
		errs = append(errs, os.RemoveAll(h.root))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clean up the server's directory: %w", err)
	}
	return nil
}
