package iostat

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// blockDev is a device of /sys/block, or a partition, which is a directory within its disk's.
type blockDev struct {
	name   string
	parent string // the disk a partition belongs to, else empty
}

func (b blockDev) path() string { return filepath.Join(b.parent, b.name) }

// whole is the disk a partition belongs to, else the device itself.
func (b blockDev) whole() string {
	if b.parent != "" {
		return b.parent
	}
	return b.name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// deviceName turns what a user wrote into a kernel name: "sda", "/dev/sda", "/dev/mapper/vg-lv",
// "/dev/disk/by-id/...". The kernel writes the slash of "/dev/cciss/c0d0" as "!".
func (r Root) deviceName(name string) string {
	if mapped, ok := strings.CutPrefix(name, "/dev/mapper/"); ok {
		if dm := r.mapperName(mapped); dm != "" {
			return dm
		}
	}
	if r.live() && strings.HasPrefix(name, "/dev/") {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			name = real
		}
	}
	return strings.ReplaceAll(strings.TrimPrefix(name, "/dev/"), "/", "!")
}

func (r Root) mapperName(name string) string {
	files, _ := filepath.Glob(r.sys("block/dm-*/dm/name"))
	for _, f := range files {
		if got, err := readWord(f); err == nil && got == name {
			return filepath.Base(filepath.Dir(filepath.Dir(f)))
		}
	}
	return ""
}

// findBlock finds a device by kernel name.
func (r Root) findBlock(name string) (blockDev, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return blockDev{}, fmt.Errorf("%.40q is not the name of a block device; name one of "+
			"/sys/block, as in sda", name)
	}
	if exists(r.sys("block", name, "stat")) {
		return blockDev{name: name}, nil
	}
	for _, disk := range r.blockNames() {
		if strings.HasPrefix(name, disk) && exists(r.sys("block", disk, name, "partition")) {
			return blockDev{name: name, parent: disk}, nil
		}
	}
	have := r.blockNames()
	if len(have) == 0 {
		return blockDev{}, fmt.Errorf("block device %q is not known: %s holds no devices, so this "+
			"system shows none", name, r.sys("block"))
	}
	return blockDev{}, fmt.Errorf("there is no block device %q; there are %s",
		name, strings.Join(have, ", "))
}

func (r Root) blockNames() []string {
	entries, err := os.ReadDir(r.sys("block"))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// byNumber finds a device by "major:minor", as in mountinfo.
func (r Root) byNumber(number string) (blockDev, bool) {
	for _, disk := range r.blockNames() {
		if got, err := readWord(r.sys("block", disk, "dev")); err == nil && got == number {
			return blockDev{name: disk}, true
		}
		parts, _ := os.ReadDir(r.sys("block", disk))
		for _, p := range parts {
			if !strings.HasPrefix(p.Name(), disk) {
				continue
			}
			if got, err := readWord(r.sys("block", disk, p.Name(), "dev")); err == nil && got == number {
				return blockDev{name: p.Name(), parent: disk}, true
			}
		}
	}
	return blockDev{}, false
}

// beneath lists the devices one layer below: the disk of a partition, the members of a stacked
// device (Documentation/ABI/testing/sysfs-block, slaves), the paths of a multipath NVMe namespace.
// What a loop device lies on is a file, see add.
func (r Root) beneath(b blockDev) []blockDev {
	if b.parent != "" {
		return []blockDev{{name: b.parent}}
	}
	var out []blockDev
	entries, _ := os.ReadDir(r.sys("block", b.name, "slaves"))
	for _, e := range entries {
		if s, err := r.findBlock(e.Name()); err == nil {
			out = append(out, s)
		}
	}
	for _, p := range r.nvmePaths(b.name) {
		out = append(out, blockDev{name: p})
	}
	return out
}

var nvmeHead = regexp.MustCompile(`^(nvme[0-9]+)(n[0-9]+)$`)

// nvmePaths lists the hidden devices nvmeXcYnZ behind a multipath namespace nvmeXnZ
// (drivers/nvme/host/multipath.c).
func (r Root) nvmePaths(name string) []string {
	m := nvmeHead.FindStringSubmatch(name)
	if m == nil {
		return nil
	}
	path := regexp.MustCompile("^" + m[1] + "c[0-9]+" + m[2] + "$")
	var out []string
	for _, other := range r.blockNames() {
		if path.MatchString(other) {
			out = append(out, other)
		}
	}
	return out
}

// maxDepth bounds stacks of file systems and of devices; real ones have four or five layers.
const maxDepth = 16

// descend visits b and all that is beneath it, each once; last says that nothing is beneath.
func (r Root) descend(b blockDev, visit func(d blockDev, last bool)) {
	seen := map[string]bool{}
	var down func(b blockDev)
	down = func(b blockDev) {
		if seen[b.name] {
			return
		}
		seen[b.name] = true
		under := r.beneath(b)
		visit(b, len(under) == 0)
		for _, u := range under {
			down(u)
		}
	}
	down(b)
}

// findDisk makes a disk of a name given by a user.
func (r Root) findDisk(name string) (*disk, error) {
	b, err := r.findBlock(r.deviceName(name))
	if err != nil {
		return nil, err
	}
	return &disk{
		name: b.name, path: b.path(), parent: b.parent, uncounted: r.uncounted(b),
		// Only devices with hardware queues of their own pass through the code that counts flushes
		// (block/blk-flush.c): whole ones, and not md, dm and the like.
		flushes: b.parent == "" && exists(r.sys("block", b.name, "mq")),
	}, nil
}

// countOnce picks the disks whose sum holds each transfer once: a partition whose disk is there too
// is left out, and so is a device below a stacked one.
func (r Root) countOnce(disks []*disk) []int {
	left := map[string]bool{}
	for _, d := range disks {
		under := map[string]bool{}
		r.descend(blockDev{d.name, d.parent}, func(b blockDev, _ bool) { under[b.name] = true })
		for _, o := range disks {
			switch {
			case o == d:
			case d.parent == o.name:
				left[d.name] = true
			case under[o.name]:
				left[o.name] = true
			}
		}
	}
	var keep []int
	for i, d := range disks {
		if !left[d.name] {
			keep = append(keep, i)
		}
	}
	return keep
}

// CheckDisk says what is wrong with a device named by a user: a kernel name or a path below /dev of
// a disk, a partition or a stacked device.
func (r Root) CheckDisk(name string) error {
	_, err := r.DeviceDisks(name)
	return err
}

// ErrNoDevice is in the error when a data directory isn't on a block device that can be known.
var ErrNoDevice = errors.New("its reads and writes can't be priced")
