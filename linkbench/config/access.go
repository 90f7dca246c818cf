package config

import (
	"fmt"
	"math"
	"strings"
)

// AccessKind is a way to choose the id an operation is about.
type AccessKind int

// The kinds of the original's *_function settings. Zipf, Uniform and Real are spread over the ids by a permutation;
// the others are arithmetic and are not.
const (
	Zipf       AccessKind = iota // hot ids, by Shape
	Uniform                      // every id alike
	RoundRobin                   // one id after the other; for links always the first id, as in the original,
	// where nodes are stuck at the first one too
	Reciprocal   // ceil(n/x), x uniform
	Multiple     // the next multiple of Config after a uniform x
	Power        // the next power of Config after a uniform x
	PerfectPower // the next whole number to the power of Config after a uniform x
	Real         // by the measured accesses per id, see package stream
)

func accessNames() [8]string {
	return [8]string{"zipf", "uniform", "round_robin", "reciprocal", "multiple", "power", "perfect_power", "real"}
}

func (k AccessKind) String() string {
	if n := accessNames(); k >= 0 && int(k) < len(n) {
		return n[k]
	}
	return fmt.Sprintf("config.AccessKind(%d)", int(k))
}

// MarshalText makes the name what JSON shows.
func (k AccessKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is ParseAccessKind.
func (k *AccessKind) UnmarshalText(b []byte) error {
	v, err := ParseAccessKind(string(b))
	if err == nil {
		*k = v
	}
	return err
}

// ParseAccessKind reads a *_function setting in any case, with or without Java package and the word Distribution.
func ParseAccessKind(s string) (AccessKind, error) {
	name := strings.ToLower(s[strings.LastIndexByte(s, '.')+1:])
	name = strings.TrimSuffix(name, "distribution")
	n := accessNames()
	for k, known := range n {
		if known == name {
			return AccessKind(k), nil
		}
	}
	return 0, fmt.Errorf("access function %q is unknown: use one of %s", s, strings.Join(n[:], ", "))
}

// Access chooses ids of one class of operations.
type Access struct {
	Kind   AccessKind `json:"function"`
	Shape  float64    `json:"shape"`  // Zipf: one over the Pareto parameter
	Config int64      `json:"config"` // Multiple, Power, PerfectPower
}

func (a Access) validate() error {
	switch {
	case a.Kind < Zipf || a.Kind > Real:
		return fmt.Errorf("access function %d is unknown", int(a.Kind))
	case a.Kind == Zipf && (math.IsNaN(a.Shape) || a.Shape <= 0 || a.Shape == 1 || a.Shape > 100):
		return fmt.Errorf("shape %v of the zipf access function must be above 0, at most 100 and not 1, where its "+
			"constants are infinite", a.Shape)
	case a.Kind == Multiple && a.Config < 1:
		return fmt.Errorf("config %d of the multiple access function must be at least 1", a.Config)
	case (a.Kind == Power || a.Kind == PerfectPower) && (a.Config < 2 || a.Config > 1<<31):
		return fmt.Errorf("config %d of the %s access function must be at least 2", a.Config, a.Kind)
	}
	return nil
}

// MultigetKind is a distribution of the number of links one multiget asks for.
type MultigetKind int

// Geometric is the original's default; One asks for a single link, as an empty link_multiget_dist does.
const (
	Geometric MultigetKind = iota
	UniformSize
	One
)

func (k MultigetKind) String() string {
	switch k {
	case Geometric:
		return "geometric"
	case UniformSize:
		return "uniform"
	case One:
		return "one"
	}
	return fmt.Sprintf("config.MultigetKind(%d)", int(k))
}

// MarshalText makes the name what JSON shows.
func (k MultigetKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is ParseMultigetKind.
func (k *MultigetKind) UnmarshalText(b []byte) error {
	v, err := ParseMultigetKind(string(b))
	if err == nil {
		*k = v
	}
	return err
}

// ParseMultigetKind reads link_multiget_dist.
func ParseMultigetKind(s string) (MultigetKind, error) {
	name := strings.ToLower(s[strings.LastIndexByte(s, '.')+1:])
	switch strings.TrimSuffix(name, "distribution") {
	case "geometric":
		return Geometric, nil
	case "uniform":
		return UniformSize, nil
	case "", "one":
		return One, nil
	}
	return 0, fmt.Errorf("multiget size distribution %q is unknown: use geometric, uniform, or nothing for one link", s)
}

// Multiget draws sizes of [Min,Max).
type Multiget struct {
	Kind MultigetKind `json:"distribution"`
	Min  int64        `json:"min"`
	Max  int64        `json:"max"`
	P    float64      `json:"probability"` // Geometric
}

// MaxMultiget bounds the ids of one multiget, since drivers build its statement in one piece.
const MaxMultiget = 10000

func (m Multiget) validate() error {
	switch {
	case m.Kind < Geometric || m.Kind > One:
		return fmt.Errorf("multiget size distribution %d is unknown", int(m.Kind))
	case m.Kind == One:
		return nil
	case m.Min < 1 || m.Max <= m.Min || m.Max > MaxMultiget+1:
		return fmt.Errorf("multiget sizes from %d to below %d: want a first of at least 1 and an end above it, at "+
			"most %d", m.Min, m.Max, MaxMultiget+1)
	case m.Kind == Geometric && !(m.P > 0 && m.P < 1):
		return fmt.Errorf("link_multiget_dist_prob %v must be between 0 and 1, both excluded", m.P)
	}
	return nil
}
