// Package step measures one step of a benchmark: its window, the kernel's and
// the server's counters at both ends, its intervals, and what the record says
// of it. Both workloads use it.
package step

import (
	"errors"
	"fmt"
	"os"
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
}

// Meter reads the counters of this host for one server.
type Meter struct {
	sampler *iostat.Sampler
	// local is true where the server's costs are known to be this host's.
	local    bool
	embedded bool
	pids     []int
	// dataDir is the data directory as this process sees it, "" where it can't.
	dataDir  string
	devices  *iostat.Devices
	reason   string
	warnings []string
}

// NewMeter finds the server's process, data directory and disks. What can't be
// known is a warning, and its costs are missing; a device that the user named
// and that doesn't exist is an error of kind drivers.ErrConfig.
func NewMeter(root iostat.Root, t Target) (*Meter, error) {
	m := &Meter{embedded: t.Server.Identity().Embedded}
	place := t.Server.Place()
	switch {
	case len(t.ServerPIDs) > 0:
		m.claimed(root, t.ServerPIDs, place)
	case m.embedded:
		m.local, m.dataDir = true, place.DataDir
	default:
		m.prove(root, place)
	}
	watch := iostat.Watch{Server: m.pids, Client: os.Getpid()}
	disks, err := m.findDisks(root, t.Device)
	if err != nil {
		return nil, err
	}
	watch.Disks = disks
	m.sampler, err = iostat.NewSampler(root, watch)
	if err != nil {
		return nil, drivers.Configf("watch the counters of this host: %w", err)
	}
	return m, nil
}

// prove finds the server's process by its socket.
func (m *Meter) prove(root iostat.Root, place drivers.Place) {
	loc, err := root.ProveLocal(iostat.Endpoint{Network: place.Network, Address: place.Address}, place.DataDir)
	if err != nil {
		m.reason = err.Error()
		m.warnf("costs of the server and its disks are not known: %v", err)
		return
	}
	m.local, m.pids, m.dataDir = true, []int{loc.PID}, loc.DataDir
}

// claimed takes the user's word for which processes the server is.
func (m *Meter) claimed(root iostat.Root, pids []int, place drivers.Place) {
	m.local, m.pids = true, pids
	if place.DataDir == "" {
		return
	}
	var errs []error
	for _, pid := range pids {
		dir, err := root.DataDirOf(pid, place.DataDir)
		if err == nil {
			m.dataDir = dir
			return
		}
		errs = append(errs, err)
	}
	m.warnf("the data directory isn't known: %v", errors.Join(errs...))
}

// findDisks gives the devices to watch, none where the costs can't be known.
func (m *Meter) findDisks(root iostat.Root, device string) ([]string, error) {
	if device != "" {
		d, err := root.DeviceDisks(device)
		if err != nil {
			return nil, drivers.Configf("--device=%s: %w", device, err)
		}
		if !m.local {
			return nil, nil
		}
		m.devices = &d
		return d.Watch, nil
	}
	if !m.local {
		return nil, nil
	}
	if m.dataDir == "" {
		m.warnf("disk costs are not known without the data directory; name the disk with --device")
		return nil, nil
	}
	d, err := root.DataDisks(m.dataDir)
	if err != nil {
		m.warnf("disk costs are not known: %v; name the disk with --device", err)
		return nil, nil
	}
	m.devices = &d
	return d.Watch, nil
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
	run.Environment.Filesystem = m.devices.FSType
	for _, name := range m.devices.Watch {
		run.Environment.Devices = append(run.Environment.Devices, results.Device{Name: name})
	}
}

// DiskNames names the devices whose counters are summed, for the head line.
func (m *Meter) DiskNames() string {
	if m.devices == nil {
		return ""
	}
	return strings.Join(m.devices.Watch, " ")
}
