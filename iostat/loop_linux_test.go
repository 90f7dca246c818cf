package iostat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// loopDevice sets up a loop device on a new file of 128 MiB, or skips where that is not allowed.
func loopDevice(t *testing.T) (device, image string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("setting up a loop device takes root")
	}
	image = filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 128<<20); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", image).CombinedOutput()
	if err != nil {
		t.Skipf("losetup is not permitted here: %v: %s", err, out)
	}
	path := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", path).CombinedOutput(); err != nil {
			t.Errorf("losetup --detach: %v: %s", err, out)
		}
	})
	return strings.TrimPrefix(path, "/dev/"), image
}

// makeFS makes a file system on devices, or skips where there is no program for it.
func makeFS(t *testing.T, program string, devices ...string) {
	t.Helper()
	if out, err := exec.Command(program, append([]string{"-q"}, devices...)...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v: %s", program, err, out)
	}
}

// mountOn mounts source on a new directory, or skips where that is not allowed.
func mountOn(t *testing.T, source, fsType, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount(source, dir, fsType, 0, options); err != nil {
		t.Skipf("mount of %s is not permitted here: %v", fsType, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// mountLoop makes ext4 on a loop device and mounts it.
func mountLoop(t *testing.T) (device, image, dir string) {
	t.Helper()
	device, image = loopDevice(t)
	makeFS(t, "mkfs.ext4", "/dev/"+device)
	return device, image, mountOn(t, "/dev/"+device, "ext4", "")
}

// wantWatch checks which devices a directory is found to be on.
func wantWatch(t *testing.T, dir, fsType string, devices ...string) {
	t.Helper()
	d, err := Root{}.DataDisks(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(devices)
	slices.Sort(d.Watch)
	if d.FSType != fsType || !slices.Equal(d.Watch, devices) {
		t.Errorf("want %s on %q, got %+v", fsType, devices, d)
	}
}

func TestOverlayHere(t *testing.T) {
	device, _, dir := mountLoop(t)
	for _, name := range []string{"lower", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	overlay := mountOn(t, "overlay", "overlay", fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", dir))
	wantWatch(t, overlay, "overlay", device)
}

func TestBtrfsHere(t *testing.T) {
	a, _ := loopDevice(t)
	b, _ := loopDevice(t)
	makeFS(t, "mkfs.btrfs", "/dev/"+a, "/dev/"+b)
	dir := mountOn(t, "/dev/"+b, "btrfs", "device=/dev/"+a)
	wantWatch(t, dir, "btrfs", a, b)
}

// A mount on a parent directory covers what was mounted beneath it before.
func TestCoveredMount(t *testing.T) {
	a, _, outer := mountLoop(t)
	b, _ := loopDevice(t)
	makeFS(t, "mkfs.ext4", "/dev/"+b)
	inner := filepath.Join(outer, "in")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("/dev/"+b, inner, "ext4", 0, ""); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { unix.Unmount(inner, 0) })
	wantWatch(t, inner, "ext4", b)
	// Another directory of the first file system over its root: "in" is now a plain directory.
	cover := filepath.Join(outer, "cover")
	if err := os.MkdirAll(filepath.Join(cover, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(cover, outer, "", unix.MS_BIND, ""); err != nil {
		t.Skip(err)
	}
	wantWatch(t, inner, "ext4", a)
	if err := unix.Unmount(outer, 0); err != nil {
		t.Fatal(err)
	}
	wantWatch(t, inner, "ext4", b)
}

func TestLoopDevice(t *testing.T) {
	device, image, dir := mountLoop(t)
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := Root{}.DataDisks(data)
	if err != nil {
		t.Fatal(err)
	}
	if d.FSType != "ext4" || d.MountPoint != dir || len(d.Logical) != 1 || d.Logical[0] != device || len(d.Watch) != 1 || d.Watch[0] != device {
		t.Errorf("want ext4 at %s on %s, got %+v", dir, device, d)
	}
	below, err := Root{}.DataDisks(filepath.Dir(image))
	if err == nil && strings.Join(below.Leaves, " ") != strings.Join(d.Leaves, " ") {
		t.Errorf("leaves: want those of the file behind the device, %q, got %q", below.Leaves, d.Leaves)
	}

	s, err := NewSampler(Root{}, Watch{Disks: []string{"/dev/" + device}, Client: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	const sizeKB = 8192
	f, err := os.Create(filepath.Join(data, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, sizeKB*1024)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	between := Between(a, s.Sample())
	// All of the file was written, and not much more than its metadata beside it.
	if w := between.WrittenKB; !w.OK || w.V < sizeKB || w.V > sizeKB+4096 {
		t.Errorf("want %d kB written and a little metadata, got %v", sizeKB, w)
	}
	if w := between.Client.WriteBytes; w.OK && w.V < sizeKB*1024 {
		t.Errorf("want at least %d bytes by this process, got %d", sizeKB*1024, w.V)
	}

	// Cold reads: drop the file's pages, read it again.
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	a = s.Sample()
	if _, err := os.ReadFile(f.Name()); err != nil {
		t.Fatal(err)
	}
	if r := Between(a, s.Sample()).ReadKB; !r.OK || r.V < sizeKB || r.V > sizeKB+4096 {
		t.Errorf("want %d kB read, got %v", sizeKB, r)
	}
}
