// Package compat names the generations of LinkBench whose behaviour a run follows.
package compat

import "fmt"

// Mode is a generation. The zero value is the default.
type Mode int

const (
	// Y2020 is the fork as changed in 2020 (github.com/mdcallag/linkbench): every id has a link of every type,
	// the remainder of dividing an out-degree among types is dropped, id2s that needn't exist are uniform.
	Y2020 Mode = iota
	// Y2013 is the first release (github.com/facebookarchive/linkbench), the fork's never_change=true: ids may
	// have no link of a type, the remainder is spread by a wrong formula, id2s cluster after id1, and updates
	// of links are sent as adds.
	Y2013
	// Off is Y2020 without its defects: multigets have the size their distribution says, the remainder goes to
	// the first types, writes blend by their own settings, motifs have the length set, and id2s are ids.
	Off
)

// Modes lists all modes in the order help shows them.
func Modes() []Mode { return []Mode{Y2020, Y2013, Off} }

func (m Mode) String() string {
	switch m {
	case Y2020:
		return "2020"
	case Y2013:
		return "2013"
	case Off:
		return "off"
	}
	return fmt.Sprintf("compat.Mode(%d)", int(m))
}

// Parse reads the name String gives.
func Parse(s string) (Mode, error) {
	for _, m := range Modes() {
		if m.String() == s {
			return m, nil
		}
	}
	return 0, fmt.Errorf("compat %q is unknown: use 2020, 2013 or off", s)
}

// MarshalText makes the name what JSON and flags show.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is Parse.
func (m *Mode) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err == nil {
		*m = v
	}
	return err
}
