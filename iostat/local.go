package iostat

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Location is where a server that runs on this host was found.
type Location struct {
	PID int `json:"pid"`
	// DataDir is the data directory as this process sees it: through /proc/PID/root when the server
	// has mounts of its own.
	DataDir string `json:"data_dir"`
}

// ErrNotProven is in the error of ProveLocal when nothing went wrong but the server wasn't found
// here.
var ErrNotProven = errors.New("not proven to run on this host")

// ProveLocal proves that the server behind ep runs on this host on dataDir, the directory as the
// server names it: one process owns the listening socket, the directory exists in the mount
// namespace of that process, and the process has a file open beneath it. A proxy, a tunnel or a
// container's forwarded port has no such file. The error says which of these does not hold.
func (r Root) ProveLocal(ep Endpoint, dataDir string) (Location, error) {
	fail := func(err error) (Location, error) {
		data := ""
		if dataDir != "" {
			data = fmt.Sprintf(" with data in %q", dataDir)
		}
		return Location{}, fmt.Errorf("the server at %s (%s)%s: %w: %w", ep.Address, ep.Network, data, ErrNotProven, err)
	}
	if dataDir == "" || strings.IndexByte(dataDir, 0) >= 0 {
		return fail(errors.New("the server does not say where its data directory is"))
	}
	socks, err := r.listeners(ep)
	if err != nil {
		return fail(err)
	}
	owners, err := r.owners(socks)
	if err != nil {
		return fail(err)
	}
	var why error
	var found []Location
	for _, pid := range owners {
		dir, err := r.dataDirOf(pid, dataDir)
		switch {
		case err == nil && !r.sameSocket(pid, ep):
			why = fmt.Errorf("process %d listens on a socket of that name, but in mounts of its own "+
				"where it is another file", pid)
		case err == nil:
			found = append(found, Location{PID: pid, DataDir: dir})
		case why == nil || !errors.Is(err, fs.ErrNotExist):
			why = err
		}
	}
	if len(found) == 0 {
		return fail(why)
	}
	loc, err := r.topmost(found)
	if err != nil {
		return fail(err)
	}
	return loc, nil
}

// DataDirOf finds the data directory of a process that the user named: it must exist in the mount
// namespace of the process, and the process must have a file open beneath it. It is given as seen
// from here.
func (r Root) DataDirOf(pid int, dataDir string) (string, error) { return r.dataDirOf(pid, dataDir) }

// owners finds the processes that hold every one of the sockets.
func (r Root) owners(socks []listener) ([]int, error) {
	want := map[string]bool{}
	for _, s := range socks {
		want["socket:["+s.inode+"]"] = true
	}
	entries, err := os.ReadDir(r.proc())
	if err != nil {
		return nil, err
	}
	var out []int
	denied := false
	some := false
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		links, err := r.openFiles(pid)
		denied = denied || errors.Is(err, fs.ErrPermission)
		held := map[string]bool{}
		for _, l := range links {
			if want[l] {
				held[l] = true
			}
		}
		some = some || len(held) > 0
		if len(held) == len(want) {
			out = append(out, pid)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case some:
		return nil, fmt.Errorf("its %d listening sockets belong to different processes", len(want))
	case denied:
		return nil, errors.New("its listening socket belongs to a process whose files may not be " +
			"looked at; run as root or as the server's user")
	default:
		return nil, errors.New("no process seen here owns its listening socket, as with a forwarded " +
			"port or a container of another pid namespace")
	}
}

// openFiles are the targets of /proc/PID/fd.
func (r Root) openFiles(pid int) ([]string, error) {
	dir := r.pid(pid, "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if l, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			out = append(out, l)
		}
	}
	return out, nil
}

// dataDirOf checks that a process has the data directory and a file open beneath it, and returns
// the directory as seen from here.
func (r Root) dataDirOf(pid int, dataDir string) (string, error) {
	if !filepath.IsAbs(dataDir) { // relative to where the server was started, or moved to
		cwd, err := os.Readlink(r.pid(pid, "cwd"))
		if err != nil {
			return "", fmt.Errorf("its data directory is relative, and the working directory of "+
				"process %d can't be read: %w", pid, err)
		}
		dataDir = filepath.Join(cwd, dataDir)
	}
	top := r.pid(pid, "root")
	real, info, err := resolveIn(top, filepath.Clean(dataDir))
	if err != nil {
		return "", fmt.Errorf("the data directory is not there for process %d (%s), which listens: %w",
			pid, r.command(pid), err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory for process %d (%s)", dataDir, pid, r.command(pid))
	}
	links, err := r.openFiles(pid)
	if err != nil {
		return "", err
	}
	// The kernel names open files from our root if it can: those of a server that changed its root
	// have that in front.
	newRoot, _ := os.Readlink(top)
	beneath := strings.TrimSuffix(filepath.Join("/", newRoot, real), "/") + "/"
	if !slices.ContainsFunc(links, func(l string) bool { return strings.HasPrefix(l, beneath) }) {
		return "", fmt.Errorf("process %d (%s) listens but has no file open in the data directory; "+
			"it may be a proxy, or the server runs on another one",
			pid, r.command(pid))
	}
	if r.sameMounts(pid) {
		return real, nil
	}
	return filepath.Join(top, real), nil
}

// DirOf finds a directory that a process names, a log's for example, as seen from here.
func (r Root) DirOf(pid int, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%s is relative to where process %d was started", dir, pid)
	}
	top := r.pid(pid, "root")
	real, info, err := resolveIn(top, filepath.Clean(dir))
	switch {
	case err != nil:
		return "", fmt.Errorf("directory %s of process %d (%s): %w", dir, pid, r.command(pid), err)
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory for process %d (%s)", dir, pid, r.command(pid))
	case r.sameMounts(pid):
		return real, nil
	default:
		return filepath.Join(top, real), nil
	}
}

// command is the name of a process, printable.
func (r Root) command(pid int) string {
	name, err := readWord(r.pid(pid, "comm"))
	if err != nil {
		return "name not known"
	}
	return strings.Trim(strconv.Quote(name), `"`)
}

// sameMounts reports whether a process sees the files we see: the same mount namespace and the same
// root.
func (r Root) sameMounts(pid int) bool {
	same := func(name string) bool {
		a, err := os.Readlink(r.pid(pid, name))
		b, err2 := os.Readlink(r.proc("self", name))
		return err == nil && err2 == nil && a == b
	}
	return same("ns/mnt") && same("root")
}

// sameSocket reports whether the socket file we connect to is the one the process bound. Processes
// of different mount namespaces may bind the same path.
func (r Root) sameSocket(pid int, ep Endpoint) bool {
	if ep.Network != "unix" || strings.HasPrefix(ep.Address, "@") || !r.live() || r.sameMounts(pid) {
		return true
	}
	ours, err := os.Stat(ep.Address)
	if err != nil {
		return false
	}
	theirs, err := os.Stat(filepath.Join(r.pid(pid, "root"), ep.Address))
	return err == nil && os.SameFile(ours, theirs)
}

// topmost picks the process the others descend from; servers that fork share their sockets with
// their children.
func (r Root) topmost(found []Location) (Location, error) {
	if len(found) == 1 {
		return found[0], nil
	}
	var top []Location
	for _, l := range found {
		b, err := readFile(r.pid(l.PID, "stat"))
		if err != nil {
			continue
		}
		st, err := parseProcStat(b)
		if err == nil && !slices.ContainsFunc(found, func(o Location) bool { return o.PID == st.ppid }) {
			top = append(top, l)
		}
	}
	if len(top) != 1 {
		return Location{}, fmt.Errorf("%d unrelated processes own its socket and have files open in "+
			"its data directory", len(top))
	}
	return top[0], nil
}

// OpenDirs lists the directories outside of its data directory in which a server has files open for
// writing, as seen from here: a redo log or a tablespace elsewhere, but also plain logs. Its
// standard streams and files that are deleted already are left out.
func (r Root) OpenDirs(loc Location) ([]string, error) {
	entries, err := os.ReadDir(r.pid(loc.PID, "fd"))
	if err != nil {
		return nil, fmt.Errorf("look at the open files of process %d: %w", loc.PID, err)
	}
	top := ""
	if !r.sameMounts(loc.PID) {
		top = r.pid(loc.PID, "root")
	}
	var out []string
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err != nil || n <= 2 || !r.writes(loc.PID, e.Name()) {
			continue
		}
		file, err := os.Readlink(r.pid(loc.PID, "fd", e.Name()))
		if err != nil || !filepath.IsAbs(file) || strings.HasSuffix(file, " (deleted)") || notOnDisk(file) {
			continue
		}
		dir := filepath.Join(top, filepath.Dir(file))
		if dir != loc.DataDir && !strings.HasPrefix(dir, loc.DataDir+"/") {
			out = appendNew(out, dir)
		}
	}
	slices.Sort(out)
	return out, nil
}

// writes reports whether a file is open for writing, from the octal flags in /proc/PID/fdinfo (man
// 5 proc).
func (r Root) writes(pid int, fd string) bool {
	b, err := readFile(r.pid(pid, "fdinfo", fd))
	if err != nil {
		return false
	}
	flags := uint64(0)
	keyed(b, func(key, value []byte) {
		if field, _ := nextField(value); string(key) == "flags" {
			flags, _ = strconv.ParseUint(string(field), 8, 64)
		}
	})
	const accessMode = 3 // O_ACCMODE; 1 is O_WRONLY and 2 is O_RDWR on every Linux
	return flags&accessMode != 0
}

func notOnDisk(file string) bool {
	prefixes := []string{"/dev/", "/proc/", "/sys/", "/memfd:", "/[aio]", "/SYSV"}
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(file, p) })
}
