package iostat

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// The agreement check runs for half a minute and puts load on a disk, so it is asked for:
//
//	IOSTAT_AGREE=1 go test -count=1 -v -run TestAgreement ./iostat
//
// IOSTAT_AGREE_DIR names a directory on the disk to load, by default the one of temporary files.
const (
	agreeEnv     = "IOSTAT_AGREE"
	agreeDirEnv  = "IOSTAT_AGREE_DIR"
	agreeSeconds = 20
)

// report is one report of the other program, with our own reading at the moment it appeared.
type report struct {
	values map[string]float64
	sample Sample
}

func TestAgreement(t *testing.T) {
	if os.Getenv(agreeEnv) == "" {
		t.Skipf("set %s=1 to compare with iostat and vmstat for %d s", agreeEnv, agreeSeconds)
	}
	dir := os.Getenv(agreeDirEnv)
	if dir == "" {
		dir = os.TempDir()
	}
	d, err := Root{}.DataDisks(dir)
	if err != nil {
		t.Fatal(err)
	}
	device := d.Watch[0]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var load, meters errgroup.Group
	load.Go(func() error { return loadDisk(ctx, dir) })
	var disk, cpu []report
	meters.Go(func() (err error) {
		disk, err = follow(device, parseIostat(device), "iostat", "-y", "-kx", "1", strconv.Itoa(agreeSeconds+1), device)
		return err
	})
	meters.Go(func() (err error) {
		cpu, err = follow(device, parseVmstat, "vmstat", "-n", "1", strconv.Itoa(agreeSeconds+2))
		return err
	})
	err = meters.Wait()
	cancel()
	if e := load.Wait(); e != nil {
		t.Error(e)
	}
	if err != nil {
		t.Fatal(err)
	}
	agreeDisk(t, device, disk)
	agreeCPU(t, cpu[1:]) // vmstat's first line is since boot
}

// follow runs a program and takes a reading each time it has printed a report.
func follow(device string, parse func(line string) map[string]float64, name string, args ...string) ([]report, error) {
	s, err := NewSampler(Root{}, Watch{Disks: []string{device}})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var all []report
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if v := parse(lines.Text()); v != nil {
			all = append(all, report{v, s.Sample()})
		}
	}
	return all, cmd.Wait()
}

// parseIostat returns the columns of the device's line.
func parseIostat(device string) func(string) map[string]float64 {
	var header []string
	return func(line string) map[string]float64 {
		f := strings.Fields(line)
		switch {
		case len(f) > 0 && f[0] == "Device":
			header = f
		case len(f) == len(header) && len(f) > 0 && f[0] == device:
			return numbers(header[1:], f[1:])
		}
		return nil
	}
}

func parseVmstat(line string) map[string]float64 {
	f := strings.Fields(line)
	if len(f) < 17 || f[0] == "r" || f[0] == "procs" {
		return nil
	}
	return numbers([]string{"r", "b", "swpd", "free", "buff", "cache", "si", "so", "bi", "bo", "in", "cs", "us", "sy", "id", "wa", "st"}, f)
}

func numbers(names, fields []string) map[string]float64 {
	out := map[string]float64{}
	for i, name := range names {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return nil
		}
		out[name] = v
	}
	return out
}

// agreeDisk compares rates over all windows, and ratios in the seconds in which both counted the
// same requests.
func agreeDisk(t *testing.T, device string, reports []report) {
	type pair struct{ theirs, ours float64 }
	rates := map[string]*pair{}
	ratios := map[string]*pair{} // the window with the largest difference
	same := 0
	for i := 1; i < len(reports); i++ {
		theirs, view := reports[i].values, NewView(reports[i-1].sample, reports[i].sample)
		ours := map[string]Opt[float64]{}
		sameSecond := true
		for _, c := range DeviceColumns {
			ours[c.Name] = c.disk(view.Rows[0])
			if strings.HasSuffix(c.Name, "/s") {
				if rates[c.Name] == nil {
					rates[c.Name] = &pair{}
				}
				rates[c.Name].theirs += theirs[c.Name]
				rates[c.Name].ours += ours[c.Name].V
				// The same counts, divided by lengths that differ by no more than a reading takes.
				sameSecond = sameSecond && math.Abs(theirs[c.Name]-ours[c.Name].V*view.Seconds) < 0.5+0.002*theirs[c.Name]
			}
		}
		if !sameSecond {
			continue
		}
		same++
		for _, c := range DeviceColumns {
			if strings.HasSuffix(c.Name, "/s") {
				continue
			}
			p := pair{theirs[c.Name], ours[c.Name].V}
			if ratios[c.Name] == nil || math.Abs(p.theirs-p.ours) > math.Abs(ratios[c.Name].theirs-ratios[c.Name].ours) {
				ratios[c.Name] = &p
			}
		}
	}
	n := float64(len(reports) - 1)
	fmt.Printf("%s, %d windows of a second, mean rates:\n%-9s %12s %12s %9s\n", device, len(reports)-1, "column", "iostat", "ours", "percent")
	for _, c := range DeviceColumns {
		p := rates[c.Name]
		if p == nil || p.theirs == 0 && p.ours == 0 {
			continue
		}
		off := 100 * (p.ours - p.theirs) / p.theirs
		fmt.Printf("%-9s %12.2f %12.2f %+9.3f\n", c.Name, p.theirs/n, p.ours/n, off)
		// Both read within a millisecond of each other: a few requests fall between the two readings.
		const between = 5
		if math.Abs(off) > 1 && math.Abs(p.ours-p.theirs) > between {
			t.Errorf("%s: %.3f percent off, at most 1 is wanted", c.Name, off)
		}
	}
	fmt.Printf("ratios in the %d seconds both saw alike, at the largest difference:\n", same)
	for _, c := range DeviceColumns {
		p := ratios[c.Name]
		if p == nil || p.theirs == 0 && p.ours == 0 {
			continue
		}
		fmt.Printf("%-9s %12.2f %12.2f\n", c.Name, p.theirs, p.ours)
		if math.Abs(p.theirs-p.ours) > 0.02+0.01*math.Abs(p.theirs) {
			t.Errorf("%s: iostat says %.2f, we say %.2f of the same second", c.Name, p.theirs, p.ours)
		}
	}
	if same == 0 {
		t.Error("there was no second that both saw alike")
	}
}

// agreeCPU compares percents and context switches over all windows. vmstat rounds each second's
// percents to whole numbers.
func agreeCPU(t *testing.T, reports []report) {
	names := []string{"us", "sy", "id", "wa", "st", "cs"}
	theirs, ours := map[string]float64{}, map[string]float64{}
	n := float64(len(reports) - 1)
	for i := 1; i < len(reports); i++ {
		h := NewView(reports[i-1].sample, reports[i].sample).Host
		for name, v := range map[string]float64{"us": h.User.V + h.Nice.V, "sy": h.System.V, "id": h.Idle.V, "wa": h.IOWait.V, "st": h.Steal.V, "cs": h.ContextPerS.V} {
			theirs[name] += reports[i].values[name] / n
			ours[name] += v / n
		}
	}
	fmt.Printf("CPU, %.0f windows of a second, means:\n%-9s %12s %12s\n", n, "column", "vmstat", "ours")
	for _, name := range names {
		fmt.Printf("%-9s %12.2f %12.2f\n", name, theirs[name], ours[name])
		limit := 1.0
		if name == "cs" {
			limit = 0.01 * theirs[name]
		}
		if math.Abs(theirs[name]-ours[name]) > limit {
			t.Errorf("%s: vmstat says %.2f, we say %.2f", name, theirs[name], ours[name])
		}
	}
}

// loadDisk writes and reads a file past the page cache until ctx ends, some hundred requests a
// second.
func loadDisk(ctx context.Context, dir string) error {
	const block, blocks = 16 << 10, 2048
	path := filepath.Join(dir, fmt.Sprintf("iostat-agree-%d", os.Getpid()))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer f.Close()
	buf := make([]byte, block)
	for i := range blocks {
		if _, err := f.WriteAt(buf, int64(i)*block); err != nil {
			return err
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if _, err := f.WriteAt(buf, rng.Int64N(blocks)*block); err != nil {
			return err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return err
		}
		at := rng.Int64N(blocks) * block
		if err := unix.Fadvise(int(f.Fd()), at, block, unix.FADV_DONTNEED); err != nil {
			return err
		}
		if _, err := f.ReadAt(buf, at); err != nil {
			return err
		}
	}
}
