package step_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"insertbench/drivers"
	"insertbench/internal/step"
	"insertbench/results"
)

// TestNewMeter says whose costs are known in which case.
func TestNewMeter(t *testing.T) {
	h := newHost(t)
	seen := filepath.Join(h.dir, "proc/100/root/data")
	elsewhere := drivers.Place{Network: "tcp", Address: "127.0.0.1:3307", DataDir: "/data"}
	for _, tc := range []struct {
		name     string
		place    drivers.Place
		embedded bool
		device   string
		pids     []int

		local   bool
		pid     int64
		dataDir string
		disks   string
		warning string // part of the only one, "" for none
	}{
		{name: "proven", place: local(), local: true, pid: 100, dataDir: seen, disks: "sda"},
		{name: "not local", place: elsewhere, warning: "costs of the server and its disks are not known: the server at 127.0.0.1:3307"},
		{name: "not local, a device named", place: elsewhere, device: "sda", warning: "are not known: the server at"},
		{name: "no data directory told", place: drivers.Place{Network: "tcp", Address: "127.0.0.1:3306"}, warning: "does not say where its data directory is"},
		{name: "embedded", place: drivers.Place{DataDir: "/data"}, embedded: true, local: true, dataDir: "/data", disks: "sda"},
		{name: "embedded in memory", embedded: true, local: true, warning: "name the disk with --device"},
		{name: "embedded, a device named", embedded: true, device: "/dev/sda", local: true, disks: "sda"},
		{name: "a process named", place: elsewhere, pids: []int{100}, local: true, pid: 100, dataDir: seen, disks: "sda"},
	} {
		m, err := step.NewMeter(h.root(), step.Target{Server: h.server(tc.place, tc.embedded), Device: tc.device, ServerPIDs: tc.pids})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var run results.Run
		m.Describe(&run)
		var pid int64
		if run.Server.PID != nil {
			pid = *run.Server.PID
		}
		if run.Server.Local != tc.local || pid != tc.pid || run.Environment.DataDir != tc.dataDir || m.DiskNames() != tc.disks {
			t.Errorf("%s: local %v, pid %d, data in %q, disks %q", tc.name, run.Server.Local, pid, run.Environment.DataDir, m.DiskNames())
		}
		if tc.local == (run.Server.NotLocalReason != "") {
			t.Errorf("%s: the reason is %q", tc.name, run.Server.NotLocalReason)
		}
		warnings := strings.Join(m.Warnings(), "\n")
		if (tc.warning == "") != (warnings == "") || !strings.Contains(warnings, tc.warning) || strings.Contains(warnings, "\n") {
			t.Errorf("%s: warnings %q", tc.name, m.Warnings())
		}
	}
}

func TestNewMeterRefuses(t *testing.T) {
	h := newHost(t)
	for _, tc := range []struct {
		name   string
		place  drivers.Place
		device string
		pids   []int
		want   string
	}{
		{"a device that isn't there", local(), "sdz", nil, "--device=sdz: "},
		{"the same for a server elsewhere", drivers.Place{}, "sdz", nil, "--device=sdz: "},
		{"a process that isn't there", local(), "", []int{4242}, "process 4242"},
	} {
		_, err := step.NewMeter(h.root(), step.Target{Server: h.server(tc.place, false), Device: tc.device, ServerPIDs: tc.pids})
		if !errors.Is(err, drivers.ErrConfig) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
