package iostat

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mountLoop makes a file system on a loop device and mounts it, or skips where that is not allowed.
func mountLoop(t *testing.T) (device, image, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("setting up a loop device takes root")
	}
	image, dir = filepath.Join(t.TempDir(), "disk.img"), t.TempDir()
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 64<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", image).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v: %s", err, out)
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
	if err := unix.Mount(path, dir, "ext4", 0, ""); err != nil {
		t.Skipf("mount is not permitted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return strings.TrimPrefix(path, "/dev/"), image, dir
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
