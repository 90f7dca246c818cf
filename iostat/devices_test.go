package iostat

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// wantDevices is what an archive's section "want" says of one directory.
type wantDevices struct {
	dir   string
	field map[string]string
}

func readWants(t *testing.T, archive string) []wantDevices {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	var out []wantDevices
	for _, f := range a.Files {
		if f.Name != "want" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if key == "dir" {
				out = append(out, wantDevices{value, map[string]string{}})
				continue
			}
			out[len(out)-1].field[key] = value
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s wants nothing", archive)
	}
	return out
}

func TestDataDisks(t *testing.T) {
	archives, err := filepath.Glob("testdata/devices/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range archives {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		archive := "devices/" + name + ".txtar"
		r := unpack(t, archive)
		for _, w := range readWants(t, archive) {
			t.Run(name+w.dir, func(t *testing.T) {
				d, err := r.DataDisks(strings.Replace(w.dir, "{proc}", r.proc(), 1))
				if want, ok := w.field["error"]; ok {
					if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrNoDevice) {
						t.Fatalf("want ErrNoDevice with %q, got %v", want, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]string{"mount": d.MountPoint, "type": d.FSType, "logical": strings.Join(d.Logical, " "),
					"leaves": strings.Join(d.Leaves, " "), "watch": strings.Join(d.Watch, " ")}
				for key, want := range w.field {
					if key != "note" && got[key] != want {
						t.Errorf("%s: want %q, got %q", key, want, got[key])
					}
				}
				if note := w.field["note"]; !strings.Contains(strings.Join(d.Notes, "\n"), note) {
					t.Errorf("want a note with %q, got %q", note, d.Notes)
				}
				s, err := NewSampler(r, Watch{Disks: d.Watch})
				if err != nil {
					t.Fatal(err)
				}
				if c := s.Counted(); strings.Join(c, " ") != got["watch"] {
					t.Errorf("each device to watch counts once: want %q, got %q", got["watch"], c)
				}
			})
		}
	}
}

// Watching a device and what lies beneath it counts each transfer once.
func TestCountOnce(t *testing.T) {
	for _, tc := range []struct{ archive, watch, want string }{
		{"md", "sda sdb md0 sda1", "md0"},
		{"dm", "nvme0n1 dm-1 dm-0 sdc", "dm-1 sdc"},
		{"bcache", "bcache0 sdb", "bcache0"},
		{"nvme-multipath-6.6", "nvme0c0n1 nvme0n1 nvme1n1", "nvme0n1 nvme1n1"},
		{"btrfs", "sda1 sdb sda1", "sda1 sdb"},
		{"dm", "/dev/mapper/vg0-data /dev/mapper/vg1-log", "dm-1 dm-2"},
		{"other", "/dev/cciss/c0d0", "cciss!c0d0"},
	} {
		s, err := NewSampler(unpack(t, "devices/"+tc.archive+".txtar"), Watch{Disks: strings.Fields(tc.watch)})
		if err != nil {
			t.Errorf("%s: %v", tc.watch, err)
			continue
		}
		if got := strings.Join(s.Counted(), " "); got != tc.want {
			t.Errorf("%s: want %q, got %q", tc.watch, tc.want, got)
		}
		if s.Sample().sum == nil {
			t.Errorf("%s: nothing is summed", tc.watch)
		}
	}
}

func TestCheckDisk(t *testing.T) {
	r := unpack(t, "devices/partition.txtar")
	for _, name := range []string{"sda", "/dev/sda", "sda1", "/dev/sda1"} {
		if err := r.CheckDisk(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", "/dev/", "sda3", "/dev/mapper/nope", "sd", "stat", "sda/sda1\x00", "a\nb"} {
		if err := r.CheckDisk(name); err == nil {
			t.Errorf("%q: want an error", name)
		}
	}
	off := unpack(t, "devices/uncounted.txtar")
	if err := off.CheckDisk("sdb"); err == nil || !strings.Contains(err.Error(), "write 1 to") {
		t.Errorf("a disk without accounting: got %v", err)
	}
	if err := off.CheckDisk("ram0"); err != nil { // it may just be idle
		t.Errorf("an idle disk: got %v", err)
	}
	s, err := NewSampler(off, Watch{Disks: []string{"sdb"}})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Sample()
	if b := s.Sample(); Between(a, b).Reads.OK || len(b.Notes) == 0 || !strings.Contains(b.Notes[0], "queue/iostats") {
		t.Errorf("a disk without accounting: got %+v", b)
	}
	d, err := r.DeviceDisks("sda1")
	if err != nil || len(d.Notes) != 0 || !slices.Equal(d.Logical, []string{"sda1"}) || !slices.Equal(d.Watch, []string{"sda"}) {
		t.Errorf("got %+v, %v", d, err)
	}
}

// A directory that isn't there, and a mountinfo that says nothing.
func TestDataDisksBadInput(t *testing.T) {
	if _, err := (Root{}).DataDisks(filepath.Join(t.TempDir(), "nope")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want not there, got %v", err)
	}
	r := unpack(t, "devices/partition.txtar")
	for _, dir := range []string{"", "/a\x00b"} {
		if _, err := r.DataDisks(dir); err == nil {
			t.Errorf("%q: want an error", dir)
		}
	}
	// Devices that claim to be made of each other.
	for _, pair := range [][2]string{{"sda", "sdb"}, {"sdb", "sda"}, {"sdb", "sdb"}} {
		put(t, r.sys("block", pair[0], "slaves", pair[1]), "-> ../x")
	}
	if _, err := r.DeviceDisks("sda"); err != nil {
		t.Error(err)
	}
	put(t, r.proc("self/mountinfo"), "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw") // cut short
	if _, err := r.DataDisks("/var"); err == nil {
		t.Error("want an error for a mountinfo cut short")
	}
}

func TestFacts(t *testing.T) {
	r := unpack(t, "devices/partition.txtar")
	put(t, r.sys("block/sda/device/model"), "QEMU HARDDISK   \n")
	put(t, r.sys("block/sda/sda1/size"), "2048\n")
	put(t, r.sys("block/sda/queue/rotational"), "1\n")
	put(t, r.sys("block/sda/queue/scheduler"), "none [mq-deadline] bfq\n")
	put(t, r.sys("block/sda/queue/write_cache"), "write back\n")
	put(t, r.sys("block/sdb/device/model"), "evil\x1b[2J\n")
	put(t, r.sys("block/sdb/size"), "99999999999999999999\n")
	want := DeviceFacts{"sda1", "QEMU HARDDISK", Some[int64](1 << 20), Some(true), "mq-deadline", "write back"}
	if diff := cmp.Diff(want, r.Facts("sda1")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []string{"sdb", "nosuch"} {
		if diff := cmp.Diff(DeviceFacts{Name: name}, r.Facts(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
