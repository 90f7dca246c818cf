// Package doctor finds what on a host will spoil the numbers of a benchmark: settings, load and
// limits. Each finding says what was found, why it matters and how to change it. It only reads,
// below a Root, and changes nothing. A thing that can't be read is no finding.
package doctor

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"insertbench/iostat"
)

// Level says how much a finding matters.
type Level string

// A Warning makes figures wrong or hard to repeat. A Note should be known when runs are compared.
const (
	Warning Level = "warning"
	Note    Level = "note"
)

// Finding is one thing to know about the host.
type Finding struct {
	Check  string `json:"check"`
	Level  Level  `json:"level"`
	Value  string `json:"value"`  // what was found
	Why    string `json:"why"`    // why it matters
	Change string `json:"change"` // how to change it
}

// About says what is going to run.
type About struct {
	Dirs      []string          // data and log directories, as iostat.DataDisks takes them
	Server    []int             // pids of the server, if it runs on this host
	Client    int               // our pid; 0 for none
	NeedBytes iostat.Opt[int64] // disk space the run will need, if it is known
	FreeBytes iostat.Opt[int64] // free in the first directory; looked up on this host if it isn't known
}

// Check is one thing looked for; its look returns what was found, or nothing.
type Check struct {
	Name   string
	Level  Level
	Why    string
	Change string
	look   func(h *host) string
}

// Checks lists all that is looked for, in the order of the findings.
func Checks() []Check {
	var all []Check
	for _, group := range [][]Check{cpuChecks, memoryChecks, diskChecks, processChecks} {
		all = append(all, group...)
	}
	return all
}

// Examine looks at the host and returns what it found, in the order of Checks.
func Examine(r iostat.Root, about About) []Finding {
	h := newHost(r, about)
	var out []Finding
	for _, c := range Checks() {
		if value := c.look(h); value != "" {
			out = append(out, Finding{c.Name, c.Level, value, c.Why, c.Change})
		}
	}
	return out
}

// host is what the checks look at.
type host struct {
	iostat.Root
	about   About
	sample  iostat.Sample
	devices []iostat.Devices // of the directories, those that could be resolved
	disks   []string         // whole disks among them and beneath them
}

func newHost(r iostat.Root, about About) *host {
	if !about.FreeBytes.OK && r == (iostat.Root{}) && len(about.Dirs) > 0 {
		about.FreeBytes = iostat.FreeBytes(about.Dirs[0])
	}
	h := &host{Root: r, about: about}
	watch := iostat.Watch{Server: about.Server, Client: about.Client}
	s, err := iostat.NewSampler(r, watch)
	if err != nil { // a server that is gone is no reason to look at nothing
		s, err = iostat.NewSampler(r, iostat.Watch{})
	}
	if err == nil {
		h.sample = s.Sample()
	}
	var names []string
	for _, dir := range about.Dirs {
		d, err := r.DataDisks(dir)
		if err != nil {
			continue
		}
		h.devices = append(h.devices, d)
		names = append(names, d.Logical...)
	}
	h.disks = r.WholeDisks(names)
	return h
}

// maxBytes is more than any file looked at holds before what is looked for.
const maxBytes = 64 << 10

// word reads a file without the white space around it, "" when it can't be read.
func word(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(bytes.ReplaceAll(b, []byte{0}, nil)))
}

func (h *host) proc(elem ...string) string { return word(h.ProcFile(elem...)) }

func (h *host) sys(elem ...string) string { return word(h.SysFile(elem...)) }

// values reads one file of each directory that matches a pattern below /sys and counts how often
// each value occurs.
func (h *host) values(pattern string) map[string]int {
	files, err := filepath.Glob(h.SysFile(pattern))
	if err != nil {
		return nil
	}
	out := map[string]int{}
	for _, f := range files {
		if v := word(f); v != "" {
			out[v]++
		}
	}
	return out
}

// chosen is the value in brackets of "always [madvise] never".
func chosen(s string) string {
	_, s, _ = strings.Cut(s, "[")
	s, _, _ = strings.Cut(s, "]")
	return s
}
