package iostat

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Devices says what a data directory lies on.
type Devices struct {
	Dir        string `json:"dir"`
	MountPoint string `json:"mount_point"`
	FSType     string `json:"fs_type"`
	Source     string `json:"source"`  // as mounted: a device, pool or share
	Options    string `json:"options"` // of the mount and of the file system, without repetition

	Logical []string `json:"logical"` // what the file system is on: a partition, md0, dm-3; several for btrfs
	Leaves  []string `json:"leaves"`  // the physical devices at the bottom
	// Watch are the devices whose counters hold each transfer of the directory once, for
	// Watch.Disks. They are the logical ones unless these count nothing themselves.
	Watch []string `json:"watch"`
	Notes []string `json:"notes,omitempty"` // what to know about the figures, a sentence each
}

// DataDisks finds the devices beneath a data directory. A directory of another mount namespace is
// given as /proc/PID/root/..., see Location. The error says why they can't be known; it wraps
// ErrNoDevice when the file system has none.
func (r Root) DataDisks(dir string) (Devices, error) { return r.dataDisks(dir, maxDepth) }

func (r Root) dataDisks(dir string, depth int) (Devices, error) {
	d := Devices{Dir: dir}
	if depth == 0 {
		return d, fmt.Errorf("find the devices of %s: more than %d file systems on top of each other",
			dir, maxDepth)
	}
	m, err := r.mountFor(dir)
	if err != nil {
		return d, fmt.Errorf("find the devices of %s: %w", dir, err)
	}
	d.MountPoint, d.FSType, d.Source, d.Options = m.point, m.fsType, m.source, mergeOptions(m.options, m.super)
	if err := r.fileSystemDevices(&d, m, depth); err != nil {
		return d, fmt.Errorf("find the devices of %s: %w", dir, err)
	}
	return d, nil
}

// mountFor finds the mount below dir, in the mount namespace dir is seen through.
func (r Root) mountFor(dir string) (mount, error) {
	if dir == "" || strings.IndexByte(dir, 0) >= 0 {
		return mount{}, fmt.Errorf("%q is not a directory", dir)
	}
	pid, inner := "self", dir
	prefix := r.proc() + "/"
	if rest, ok := strings.CutPrefix(dir, prefix); ok {
		parts := strings.SplitN(rest, "/", 3)
		if _, err := strconv.Atoi(parts[0]); err == nil && len(parts) >= 2 && parts[1] == "root" {
			pid, inner = parts[0], "/"
			if len(parts) == 3 {
				inner += parts[2]
			}
		}
	}
	if !filepath.IsAbs(inner) {
		abs, err := filepath.Abs(inner)
		if err != nil {
			return mount{}, err
		}
		inner = abs
	}
	inner = filepath.Clean(inner)
	number := ""
	if r.live() {
		top := "/"
		if pid != "self" {
			top = r.proc(pid, "root")
		}
		real, info, err := resolveIn(top, inner)
		if err != nil {
			return mount{}, err
		}
		if !info.IsDir() {
			return mount{}, fmt.Errorf("it is a file, not a directory")
		}
		inner, number = real, deviceNumber(info)
	}
	b, err := readFile(r.proc(pid, "mountinfo"))
	if err != nil {
		return mount{}, err
	}
	m, ok := mountOf(parseMountinfo(b), inner, number)
	if !ok {
		return mount{}, fmt.Errorf("no mount in %s lies above it", r.proc(pid, "mountinfo"))
	}
	return m, nil
}

// resolveIn follows the symbolic links of path as a process does whose root is top, and returns the
// path without them.
func resolveIn(top, path string) (string, os.FileInfo, error) {
	real := "/"
	todo := strings.Split(path, "/")
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, part)
		info, err := os.Lstat(top + next)
		if err != nil {
			return "", nil, err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			real = next
			continue
		}
		if links++; links > 40 {
			return "", nil, fmt.Errorf("too many symbolic links in %s", path)
		}
		target, err := os.Readlink(top + next)
		if err != nil {
			return "", nil, err
		}
		if strings.HasPrefix(target, "/") {
			real = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	info, err := os.Stat(filepath.Join(top, real))
	return real, info, err
}

func mergeOptions(a, b string) string {
	out := strings.Split(a, ",")
	for o := range strings.SplitSeq(b, ",") {
		if !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return strings.Join(out, ",")
}

// noDevice are file systems that aren't on a block device of this host, with the reason.
var noDevice = map[string]string{
	"tmpfs":     "is in memory (tmpfs)",
	"ramfs":     "is in memory (ramfs)",
	"devtmpfs":  "is in memory (devtmpfs)",
	"hugetlbfs": "is in memory (hugetlbfs)",
	"nfs":       "is on another host (nfs)",
	"nfs4":      "is on another host (nfs)",
	"cifs":      "is on another host (cifs)",
	"smb3":      "is on another host (smb)",
	"ceph":      "is on other hosts (ceph)",
	"glusterfs": "is on other hosts (glusterfs)",
	"lustre":    "is on other hosts (lustre)",
	"9p":        "is lent by the host of this virtual machine (9p)",
	"virtiofs":  "is lent by the host of this virtual machine (virtiofs)",
	"proc":      "belongs to the kernel (proc)",
	"sysfs":     "belongs to the kernel (sysfs)",
}

func (r Root) fileSystemDevices(d *Devices, m mount, depth int) error {
	if why, ok := noDevice[m.fsType]; ok {
		return fmt.Errorf("%s %s: %w; use a directory on a local disk", m.point, why, ErrNoDevice)
	}
	switch {
	case m.fsType == "overlay":
		return r.overlayDevices(d, m, depth)
	case m.fsType == "zfs":
		return fmt.Errorf("%s is ZFS (%s), and the kernel does not show which devices a pool is made "+
			"of: %w until they are named; zpool status lists them, "+
			"give each to --device", m.point, m.source, ErrNoDevice)
	case m.fsType == "btrfs":
		return r.btrfsDevices(d, m, depth)
	case m.fsType == "bcachefs": // the source lists all members
		for source := range strings.SplitSeq(m.source, ":") {
			if err := r.addNamed(d, source, depth); err != nil {
				return err
			}
		}
		return nil
	}
	if b, ok := r.byNumber(m.number); ok {
		r.add(d, b, true, depth)
	} else if err := r.addNamed(d, m.source, depth); err != nil {
		return fmt.Errorf("%s is %s from %q with device number %s, which is no block device seen "+
			"here: %w; name the device with --device",
			m.point, m.fsType, m.source, m.number, ErrNoDevice)
	}
	// XFS may keep its log and its real-time data on devices of their own.
	for _, o := range []string{"logdev", "rtdev"} {
		if name, ok := m.option(o); ok {
			if err := r.addNamed(d, name, depth); err != nil {
				return fmt.Errorf("%s=%s: %w", o, name, err)
			}
		}
	}
	return nil
}

// overlayDevices follows the upper directory, where everything that is written goes. Its path is
// the one of the namespace that mounted it, in practice the host's.
func (r Root) overlayDevices(d *Devices, m mount, depth int) error {
	upper, ok := m.option("upperdir")
	if !ok {
		return fmt.Errorf("%s is a read-only overlay: %w", m.point, ErrNoDevice)
	}
	under, err := r.dataDisks(upper, depth-1)
	if err != nil {
		return fmt.Errorf("%s is an overlay whose upper directory can't be followed, as from within "+
			"a container: %w; name the device with --device (%w)",
			m.point, err, ErrNoDevice)
	}
	d.take(under)
	d.note("%s is an overlay; its upper directory is on %s. A volume is faster and its figures are "+
		"cleaner", m.point, under.MountPoint)
	return nil
}

// btrfsDevices lists the members of the file system that the mounted device belongs to,
// /sys/fs/btrfs/UUID/devices (fs/btrfs/sysfs.c).
func (r Root) btrfsDevices(d *Devices, m mount, depth int) error {
	name := r.deviceName(m.source)
	lists, _ := filepath.Glob(r.sys("fs/btrfs/*/devices"))
	for _, list := range lists {
		if _, err := os.Lstat(filepath.Join(list, name)); err != nil {
			continue
		}
		members, err := os.ReadDir(list)
		if err != nil {
			return err
		}
		for _, e := range members {
			if err := r.addNamed(d, e.Name(), depth); err != nil {
				return err
			}
		}
		return nil
	}
	if err := r.addNamed(d, m.source, depth); err != nil {
		return err
	}
	d.note("other devices of this btrfs, if it has any, are not seen here")
	return nil
}

func (r Root) addNamed(d *Devices, name string, depth int) error {
	b, err := r.findBlock(r.deviceName(name))
	if err != nil {
		return fmt.Errorf("%w: %w; name the device with --device", err, ErrNoDevice)
	}
	r.add(d, b, true, depth)
	return nil
}

// add takes note of a logical device and all that is beneath it; mounted says that a file system is
// on it.
func (r Root) add(d *Devices, b blockDev, mounted bool, depth int) {
	d.Logical = appendNew(d.Logical, b.name)
	d.Watch = appendNew(d.Watch, r.watchFor(d, b, mounted)...)
	r.descend(b, func(at blockDev, last bool) {
		if !last {
			return
		}
		file, err := readWord(r.sys("block", at.name, "loop/backing_file"))
		if err != nil {
			d.Leaves = appendNew(d.Leaves, at.name)
			return
		}
		// A loop device counts its own requests; what its file lies on is needed for the leaves
		// only.
		under, err := r.dataDisks(filepath.Dir(strings.TrimSuffix(file, " (deleted)")), depth-1)
		if err != nil {
			d.Leaves = appendNew(d.Leaves, at.name)
			d.note("the file behind %s can't be followed: %v", at.name, err)
			return
		}
		d.Leaves = appendNew(d.Leaves, under.Leaves...)
	})
}

// watchFor picks the devices that count the transfers of b: itself, of a partition the whole disk,
// or the next layer beneath it that counts. The disk is what iostat shows and the original's device
// argument names: logs are often on another partition of it, and flushes are counted for it alone. A namespace of NVMe with several paths counts nothing before 6.4 and nothing for its
// partitions since (drivers/nvme/host/multipath.c accounts to part0), and queue/iostats may be off.
func (r Root) watchFor(d *Devices, b blockDev, mounted bool) []string {
	if b.parent != "" {
		b = blockDev{name: b.parent}
	}
	layer := []blockDev{b}
	counts := func(b blockDev) bool { return r.counts(b, mounted) }
	for depth := 0; len(layer) > 0 && depth < maxDepth && !slices.ContainsFunc(layer, counts); depth++ {
		var next []blockDev
		for _, l := range layer {
			next = appendNew(next, r.beneath(l)...)
		}
		layer = next
	}
	var names []string
	for _, l := range layer {
		names = appendNew(names, l.name)
	}
	switch {
	case len(names) == 0:
		d.note("the kernel counts no requests of %s, and its reads and writes are not known", b.name)
	case names[0] != b.name:
		d.note("the kernel counts no requests of %s itself; those of %s beneath it are", b.name,
			strings.Join(names, ", "))
	}
	if strings.HasPrefix(b.name, "zram") {
		d.note("%s is compressed memory, not a disk", b.name)
	}
	return names
}

// counts reports whether the kernel counts a device's requests. One with a file system mounted on
// it has read the superblock at least.
func (r Root) counts(b blockDev, mounted bool) bool {
	return !r.uncounted(b) && !(mounted && r.idleSinceBoot(b.path()))
}

// uncounted reports whether accounting is off for a device (Documentation/ABI/stable/sysfs-block,
// queue/iostats); partitions have it from their disk.
func (r Root) uncounted(b blockDev) bool {
	v, err := readWord(r.sys("block", b.whole(), "queue/iostats"))
	return err == nil && v == "0"
}

func (r Root) idleSinceBoot(name string) bool {
	b, err := readFile(r.sys("block", name, "stat"))
	return err == nil && strings.Trim(string(b), " 0\t\n") == ""
}

func (d *Devices) take(under Devices) {
	d.Logical = appendNew(d.Logical, under.Logical...)
	d.Leaves = appendNew(d.Leaves, under.Leaves...)
	d.Watch = appendNew(d.Watch, under.Watch...)
	d.Notes = append(d.Notes, under.Notes...)
}

func (d *Devices) note(format string, args ...any) {
	d.Notes = appendNew(d.Notes, fmt.Sprintf(format, args...))
}

func appendNew[T comparable](to []T, add ...T) []T {
	for _, a := range add {
		if !slices.Contains(to, a) {
			to = append(to, a)
		}
	}
	return to
}
