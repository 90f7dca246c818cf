package degree

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The empirical distributions of LinkBench, see data/NOTICE.
var (
	//go:embed data/Distribution_2017.dat.gz
	data2017 []byte
	//go:embed data/Distribution_2011.dat.gz
	data2011 []byte
)

// Section names a table of a distribution file.
type Section string

// The five sections, all of which a distribution file holds.
const (
	NLinks     Section = "nlinks"
	LinkReads  Section = "link_nreads"
	LinkWrites Section = "link_nwrites"
	NodeReads  Section = "node_nreads"
	NodeWrites Section = "node_nwrites"
)

// Sections lists them in file order.
func Sections() []Section { return []Section{NLinks, LinkReads, LinkWrites, NodeReads, NodeWrites} }

// Table is a cumulative distribution of counts per id: a step function, ascending in both columns and ending
// at 1. It is immutable and its size is that of the file, whatever the number of ids.
type Table struct {
	value      []int64
	cumulative []float64 // probability of a value at most value[i]
}

// Len is the number of steps.
func (t *Table) Len() int { return len(t.value) }

// Max is the largest value.
func (t *Table) Max() int64 { return t.value[len(t.value)-1] }

// At returns the value of the first step whose cumulative probability is u or more.
func (t *Table) At(u float64) int64 {
	lo, hi := 0, len(t.cumulative)-1
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if t.cumulative[mid] >= u {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return t.value[lo]
}

// Mean is the expectation of the distribution.
func (t *Table) Mean() float64 {
	sum, before := 0.0, 0.0
	for i, c := range t.cumulative {
		sum += (c - before) * float64(t.value[i])
		before = c
	}
	return sum
}

// Weights turns a table of accesses per id into what access functions of kind real draw from: element v, from 1 to
// Max, is the expected number of accesses of an id up to its v-th one. Its length is the largest value of the
// table, which the data bound, plus one.
func (t *Table) Weights() []float64 {
	share := make([]float64, t.Max()+1) // of ids with so many accesses, then of those with as many or more
	before := 0.0
	for i, v := range t.value {
		share[v] = t.cumulative[i] - before
		before = t.cumulative[i]
	}
	for v := len(share) - 2; v >= 0; v-- {
		share[v] += share[v+1]
	}
	share[0] = 0
	for v := 1; v < len(share); v++ {
		share[v] += share[v-1]
	}
	return share
}

// Tables are the sections of one distribution file.
type Tables map[Section]*Table

// Tables2017 returns the data of 2017, the default; a fresh copy, to be kept by the caller.
func Tables2017() (Tables, error) { return embedded("2017", data2017) }

// Tables2011 returns the data of 2011.
func Tables2011() (Tables, error) { return embedded("2011", data2011) }

func embedded(year string, gz []byte) (Tables, error) {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil, fmt.Errorf("embedded distribution of %s is damaged: %w", year, err)
	}
	t, err := ReadTables(r)
	if err != nil {
		return nil, fmt.Errorf("embedded distribution of %s: %w", year, err)
	}
	return t, nil
}

const (
	maxLines = 10_000_000 // far above any real file: bounds the memory a wrong one can take
	maxValue = 1 << 40
)

// ReadTables reads a distribution file: a section's name on a line of its own, then lines of a whole number
// and a cumulative percentage, both ascending, the last percentage 100.
func ReadTables(r io.Reader) (Tables, error) {
	tables := Tables{}
	var current *Table
	var section Section
	sc := bufio.NewScanner(r)
	line := 0
	for sc.Scan() {
		if line++; line > maxLines {
			return nil, fmt.Errorf("distribution data go beyond line %d: is this a distribution file?", maxLines)
		}
		f := strings.Fields(sc.Text())
		switch len(f) {
		case 0:
		case 1:
			if err := finish(section, current); err != nil {
				return nil, err
			}
			section, current = Section(f[0]), &Table{}
			if !known(section) || tables[section] != nil {
				return nil, fmt.Errorf("distribution data, line %d: %q is not one of the sections nlinks, link_nreads, "+
					"link_nwrites, node_nreads and node_nwrites, or occurs twice", line, f[0])
			}
			tables[section] = current
		case 2:
			if err := current.add(f[0], f[1]); err != nil {
				return nil, fmt.Errorf("distribution data, line %d: %w", line, err)
			}
		default:
			return nil, fmt.Errorf("distribution data, line %d: %d words, want a value and a percentage", line, len(f))
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("cannot read distribution data after line %d: %w", line, err)
	}
	if err := finish(section, current); err != nil {
		return nil, err
	}
	if tables[NLinks] == nil {
		return nil, errors.New("distribution data have no section nlinks: is this a distribution file?")
	}
	return tables, nil
}

func known(s Section) bool {
	for _, k := range Sections() {
		if s == k {
			return true
		}
	}
	return false
}

func (t *Table) add(value, percent string) error {
	if t == nil {
		return errors.New("numbers before the first section's name")
	}
	v, err := strconv.ParseInt(value, 10, 64)
	if err != nil || v < 0 || v > maxValue {
		return fmt.Errorf("%q is not a whole number from 0 to %d", value, int64(maxValue))
	}
	p, err := strconv.ParseFloat(percent, 64)
	if err != nil || math.IsNaN(p) || p < 0 || p > 100 {
		return fmt.Errorf("%q is not a percentage", percent)
	}
	if n := len(t.value); n > 0 && (v <= t.value[n-1] || p/100 < t.cumulative[n-1]) {
		return errors.New("value and percentage must ascend")
	}
	t.value = append(t.value, v)
	t.cumulative = append(t.cumulative, p/100)
	return nil
}

func finish(s Section, t *Table) error {
	if t == nil {
		return nil
	}
	if n := len(t.cumulative); n == 0 || t.cumulative[n-1] != 1 {
		return fmt.Errorf("distribution section %s must end at 100 percent", s)
	}
	return nil
}
