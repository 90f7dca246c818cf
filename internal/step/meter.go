// Package step measures one step of a benchmark: its window, the kernel's and
// the server's counters at both ends, its intervals, and what the record says
// of it. Both workloads use it.
package step

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"insertbench/drivers"
	"insertbench/iostat"
	"insertbench/results"
)

// Target says whose costs are measured.
type Target struct {
	Server drivers.Server
	// Device is the disk that the user named; empty to find it from the data
	// directory.
	Device string
	// ServerPIDs are the roots of the server's process trees as the user named
	// them; empty to find and prove them.
	ServerPIDs []int
	// PSS reads the server's proportional set size at the ends of a step too,
	// which stalls a large server.
	PSS bool
}

// Meter reads the counters of this host for one server.
type Meter struct {
	root    iostat.Root
	sampler *iostat.Sampler
	// local is true where the server's costs are known to be this host's.
	local    bool
	embedded bool
	pids     []int
	// dataDir is the data directory as this process sees it, "" where it can't.
	dataDir string
	devices *iostat.Devices
	// disks are those whose counters are summed; logDisks those of them that
	// only logs outside the data directory lie on.
	disks, logDisks []string
	pss             bool
	reason          string
	warnings        []string
	hooks           Hooks
}

// NewMeter finds the server's process, data directory and disks. What can't be
// known is a warning, and its costs are missing; a device that the user named
// and that doesn't exist is an error of kind drivers.ErrConfig.
func NewMeter(root iostat.Root, t Target) (*Meter, error) {
	m := &Meter{root: root, pss: t.PSS, embedded: t.Server.Identity().Embedded}
	place := t.Server.Place()
	switch {
	case m.embedded && len(t.ServerPIDs) > 0:
		return nil, drivers.Configf("--server-pid names the process of a server, and this database is embedded: its costs are the client's")
	case len(t.ServerPIDs) > 0:
		m.claimed(t.ServerPIDs, place)
	case m.embedded:
		m.local, m.dataDir = true, place.DataDir
	default:
		m.prove(place)
	}
	if err := m.findDisks(t.Device, place.LogDirs); err != nil {
		return nil, err
	}
	var err error
	m.sampler, err = iostat.NewSampler(root, iostat.Watch{Disks: m.disks, Server: m.pids, Client: os.Getpid()})
	if err != nil {
		return nil, drivers.Configf("watch the counters of this host: %w", err)
	}
	return m, nil
}

// prove finds the server's process by its socket.
func (m *Meter) prove(place drivers.Place) {
	loc, err := m.root.ProveLocal(iostat.Endpoint{Network: place.Network, Address: place.Address}, place.DataDir)
	if err != nil {
		m.reason = err.Error()
		m.warnf("costs of the server and its disks are not known: %v; if it does run here, name its process with --server-pid", err)
		return
	}
	m.local, m.pids, m.dataDir = true, []int{loc.PID}, loc.DataDir
}

// claimed takes the user's word for which processes the server is.
func (m *Meter) claimed(pids []int, place drivers.Place) {
	m.local, m.pids = true, pids
	if place.DataDir == "" {
		return
	}
	var errs []error
	for _, pid := range pids {
		dir, err := m.root.DataDirOf(pid, place.DataDir)
		if err == nil {
			m.dataDir = dir
			return
		}
		errs = append(errs, err)
	}
	m.warnf("the data directory isn't known: %v", errors.Join(errs...))
}

// findDisks finds the devices to watch, none where the costs can't be known.
func (m *Meter) findDisks(device string, logDirs []string) error {
	if device != "" {
		d, err := m.root.DeviceDisks(device)
		if err != nil {
			return drivers.Configf("--device=%s: %w", device, err)
		}
		if m.local {
			m.watch(d)
		}
		return nil
	}
	if !m.local {
		return nil
	}
	if m.dataDir == "" {
		m.warnf("disk costs are not known: the server doesn't say where its data directory is; name the disk with --device")
		return nil
	}
	d, err := m.root.DataDisks(m.dataDir)
	if err != nil {
		m.warnf("disk costs are not known: %v; name the disk with --device", err)
		return nil
	}
	m.watch(d)
	m.findLogDisks(logDirs)
	return nil
}

func (m *Meter) watch(d iostat.Devices) {
	m.devices = &d
	m.disks = d.Watch
	m.warnings = append(m.warnings, d.Notes...)
}

// findLogDisks adds the disks of logs that lie outside the data directory.
func (m *Meter) findLogDisks(dirs []string) {
	for _, dir := range dirs {
		d, err := m.logDevices(dir)
		if err != nil {
			m.warnf("the disks of the logs in %s are not known, and their costs are left out: %v", dir, err)
			continue
		}
		for _, name := range d.Watch {
			if !slices.Contains(m.disks, name) {
				m.disks = append(m.disks, name)
				m.logDisks = append(m.logDisks, name)
			}
		}
	}
}

func (m *Meter) logDevices(dir string) (iostat.Devices, error) {
	if len(m.pids) > 0 {
		seen, err := m.root.DirOf(m.pids[0], dir)
		if err != nil {
			return iostat.Devices{}, err
		}
		dir = seen
	}
	return m.root.DataDisks(dir)
}

func (m *Meter) warnf(format string, args ...any) {
	m.warnings = append(m.warnings, fmt.Sprintf(format, args...))
}

// Warnings are what the user should know of figures that will be missing.
func (m *Meter) Warnings() []string { return m.warnings }

// Describe fills what the record says of where the server runs.
func (m *Meter) Describe(run *results.Run) {
	run.Server.Local = m.local
	run.Server.NotLocalReason = m.reason
	if len(m.pids) > 0 {
		pid := int64(m.pids[0])
		run.Server.PID = &pid
	}
	run.Environment.DataDir = m.dataDir
	if m.devices == nil {
		return
	}
	run.Environment.Filesystem, run.Environment.MountOptions = m.devices.FSType, m.devices.Options
	for _, name := range m.disks {
		f := m.root.Facts(name)
		run.Environment.Devices = append(run.Environment.Devices, results.Device{
			Name: name, Model: f.Model, SizeBytes: f.SizeBytes.Ptr(), Rotational: f.Rotational.Ptr(), Scheduler: f.Scheduler, WriteCache: f.WriteCache,
		})
	}
}

// DiskNames names the devices whose counters are summed, for the head line.
func (m *Meter) DiskNames() string { return join(m.disks) }

// Host is what an examination of this host needs to know of the run.
func (m *Meter) Host() (root iostat.Root, dataDir string, pids []int) {
	return m.root, m.dataDir, m.pids
}

func join(names []string) string { return strings.Join(names, " ") }
