package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"insertbench/linkbench/degree"
	"insertbench/linkbench/properties"
)

// Layer is a source of settings.
type Layer struct {
	Name    string
	Entries []properties.Entry
}

// ReadFiles reads a properties file of the original and the workload file it names. Relative names, and that
// of the distribution data, are resolved as the original does, against home (its LINKBENCH_HOME); where home
// is empty, against the file's directory and the one above it, since workload_file is usually
// config/FBWorkload.properties named from a file in config itself. settings are of the form key=value, as -D takes
// them. The result is weakest first: workload file, file, settings.
func ReadFiles(path, home string, settings []string) ([]Layer, error) {
	main, err := readLayer(path)
	if err != nil {
		return nil, err
	}
	over, err := Overrides(settings)
	if err != nil {
		return nil, err
	}
	layers := []Layer{main, over}
	if name := value(append(main.Entries[:len(main.Entries):len(main.Entries)], over.Entries...), "workload_file"); name != "" {
		found, ok := locate(name, path, home)
		if !ok {
			return nil, fmt.Errorf("%s: workload_file %s does not exist (looked for %s): set it to where the file is",
				path, name, found)
		}
		workload, err := readLayer(found)
		if err != nil {
			return nil, err
		}
		layers = []Layer{workload, main, over}
	}
	for _, l := range layers {
		for i, e := range l.Entries {
			if e.Key != "data_file" {
				continue
			}
			if found, ok := locate(e.Value, path, home); ok {
				l.Entries[i].Value = found
			}
		}
	}
	return layers, nil
}

func readLayer(path string) (Layer, error) {
	f, err := os.Open(path)
	if err != nil {
		return Layer{}, fmt.Errorf("cannot read settings: %w", err)
	}
	defer f.Close()
	entries, err := properties.Parse(f)
	if err != nil {
		return Layer{}, fmt.Errorf("%s: %w", path, err)
	}
	return Layer{Name: path, Entries: entries}, nil
}

func value(entries []properties.Entry, key string) string {
	v := ""
	for _, e := range entries {
		if e.Key == key {
			v = e.Value
		}
	}
	return v
}

// locate returns the first place name exists at, or the last one tried.
func locate(name, from, home string) (string, bool) {
	places := []string{filepath.Join(filepath.Dir(from), name), filepath.Join(filepath.Dir(from), "..", name)}
	switch {
	case filepath.IsAbs(name):
		places = []string{name}
	case home != "":
		places = []string{filepath.Join(home, name)}
	}
	for _, p := range places {
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			return p, true
		}
	}
	return places[len(places)-1], false
}

// Overrides reads settings of the form key=value, as -D takes them.
func Overrides(settings []string) (Layer, error) {
	l := Layer{Name: "-D"}
	for _, s := range settings {
		e, err := properties.Assignment(s)
		if err != nil {
			return Layer{}, fmt.Errorf("-D: %w", err)
		}
		l.Entries = append(l.Entries, e)
	}
	return l, nil
}

// Apply changes c by the settings of layers, weakest first. All unknown keys and wrong values are named in one
// error; c is unchanged then. Keys that are known and have no effect are returned as sentences.
func (c *Config) Apply(layers ...Layer) (notes []string, err error) {
	known := map[string]Key{}
	for _, k := range Keys() {
		known[k.Name] = k
	}
	next := *c
	var errs []error
	for _, l := range layers {
		for _, e := range l.Entries {
			where := l.Name
			if e.Line > 0 {
				where = fmt.Sprintf("%s line %d", l.Name, e.Line)
			}
			k, ok := known[e.Key]
			switch {
			case !ok:
				errs = append(errs, fmt.Errorf("%s: %q is not a setting of LinkBench: remove or correct it", where, e.Key))
			case k.set == nil:
				notes = append(notes, fmt.Sprintf("%s: %s %s", where, k.Name, k.Ignored))
				next.Run.IgnoredKeys = append(next.Run.IgnoredKeys, k.Name)
			default:
				if err := k.set(&next, e.Value); err != nil {
					errs = append(errs, fmt.Errorf("%s: %s: %w", where, e.Key, err))
				}
			}
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	next.recognise()
	*c = next
	return notes, nil
}

// recognise names the profile whose mix and sizes the settings are, so that a file of the first release isn't
// recorded under the profile it was applied to.
func (c *Config) recognise() {
	for _, p := range []Profile{P2017, P2011} {
		w := workloadOf(p)
		if c.Profile != Demo && c.LinkDataMedian == w.linkDataMedian && c.NodeDataMedian == w.nodeDataMedian && c.Mix.near(w.mix) {
			c.Profile = p
		}
	}
}

// near allows for percentages written with fewer digits.
func (m Mix) near(o Mix) bool {
	for op := range m {
		if math.Abs(m[op]-o[op]) > 1e-5 {
			return false
		}
	}
	return true
}

// readTables reads the distribution data: the file set, or the embedded ones of the profile. A file that doesn't
// exist but has the name the original ships it under is taken from the embedded ones: Distribution.dat is the
// data of 2011 in the first release and of 2017 in the fork, so the profile decides.
func (c *Config) readTables() (degree.Tables, error) {
	embedded := degree.Tables2017
	if c.Profile == P2011 {
		embedded = degree.Tables2011
	}
	if c.DataFile == "" {
		return embedded()
	}
	f, err := os.Open(c.DataFile)
	if err != nil {
		switch base := filepath.Base(c.DataFile); {
		case errors.Is(err, fs.ErrNotExist) && base == "Distribution.dat":
			return embedded()
		case errors.Is(err, fs.ErrNotExist) && base == "Distribution_2011.dat":
			return degree.Tables2011()
		}
		return nil, fmt.Errorf("cannot read the distribution data of data_file: %w", err)
	}
	defer f.Close()
	t, err := degree.ReadTables(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.DataFile, err)
	}
	return t, nil
}
