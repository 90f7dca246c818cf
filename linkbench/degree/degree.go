// Package degree is LinkBench's out-degree function: how many links of each type every id has. It is a pure
// function of the id, so loaders, requesters and verifiers all know it without asking the database.
package degree

import (
	"fmt"
	"math"
	"strings"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/dist"
	"insertbench/linkbench/javarand"
)

// Kind is a family of out-degree functions.
type Kind int

// The families of the original's nlinks_func. The first three fall with rank, ranks being spread over the ids
// by the links permutation; the others are arithmetic in the id itself.
const (
	Real           Kind = iota // measured: the table of the distribution data
	Zipf                       // Mean links per id, by Zipf of Shape
	Uniform                    // Mean links for every id
	Const                      // Default links
	Reciprocal                 // Default + ceil(n/(id-start))
	Multiples                  // Default, + Config where Config divides id
	Exponential                // Default, + id - previous power where id is a power of Config
	PerfectSquares             // Default, + id - previous one where id is a whole number to the Config
)

func kindNames() [8]string {
	return [8]string{"real", "zipf", "uniform", "const", "reciprocal", "multiples", "exponential", "perfect_squares"}
}

func (k Kind) String() string {
	if n := kindNames(); k >= 0 && int(k) < len(n) {
		return n[k]
	}
	return fmt.Sprintf("degree.Kind(%d)", int(k))
}

// MarshalText makes the name what JSON shows.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is ParseKind.
func (k *Kind) UnmarshalText(b []byte) error {
	v, err := ParseKind(string(b))
	if err == nil {
		*k = v
	}
	return err
}

// ParseKind reads a value of nlinks_func, in any case: the names above, distribution classes with or without
// their Java package and the word Distribution, and PERFECT_POWERS, which the original's file promises and its
// code refuses.
func ParseKind(s string) (Kind, error) {
	name := strings.ToLower(s[strings.LastIndexByte(s, '.')+1:])
	name = strings.TrimSuffix(name, "distribution")
	if name == "perfect_powers" {
		name = "perfect_squares"
	}
	for k, n := range kindNames() {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("out-degree function %q is unknown: use one of %s", s, strings.Join(func() []string {
		n := kindNames()
		return n[:]
	}(), ", "))
}

// Spec chooses and sets an out-degree function.
type Spec struct {
	Kind    Kind    `json:"function"`
	Table   *Table  `json:"-"`             // Real: the nlinks section
	Shape   float64 `json:"shape"`         // Zipf
	Mean    float64 `json:"mean_links"`    // Zipf, Uniform: links per id over all types
	Config  int64   `json:"config"`        // Multiples, Exponential, PerfectSquares
	Default int64   `json:"default_links"` // arithmetic kinds
	Cap     int64   `json:"cap_links"`     // most links an id may have, 0 for no bound
}

// maxDegree bounds what one id may have: more cannot be loaded by anyone.
const maxDegree = 1 << 40

// Function is a spec over the ids [start,end), divided among types. It is immutable and of constant size.
type Function struct {
	spec       Spec
	mode       compat.Mode
	start, end int64
	types      int64
	shuffler   *dist.Shuffler
	zipf       *dist.Zipf
	logConfig  float64
}

// New checks spec and returns its function over the ids [start,end) and so many link types.
func New(spec Spec, mode compat.Mode, start, end int64, types int) (*Function, error) {
	if start < 1 || end <= start {
		return nil, fmt.Errorf("ids from %d to below %d: want a first id of at least 1 and an end above it", start, end)
	}
	if end > 1<<53 {
		return nil, fmt.Errorf("ids up to %d: want at most 9007199254740992, beyond which ranks are not exact", end)
	}
	if types < 1 || types > 10000 {
		return nil, fmt.Errorf("%d link types: want 1 to 10000", types)
	}
	if err := spec.validate(mode); err != nil {
		return nil, fmt.Errorf("out-degree function %s: %w", spec.Kind, err)
	}
	f := &Function{spec: spec, mode: mode, start: start, end: end, types: int64(types)}
	if f.shuffled() {
		f.shuffler = dist.NewShuffler(dist.SeedLinks, dist.Groups, end-start)
	}
	switch spec.Kind {
	case Zipf:
		f.zipf = dist.NewZipf(start, end, spec.Shape)
	case Exponential:
		f.logConfig = javarand.Log(float64(spec.Config))
	}
	if top := f.Max(); top > maxDegree {
		return nil, fmt.Errorf("out-degree function %s gives one id %d links: choose a smaller mean, default or cap",
			spec.Kind, top)
	}
	return f, nil
}

func (s Spec) validate(mode compat.Mode) error {
	bad := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
	switch {
	case s.Kind < Real || s.Kind > PerfectSquares:
		return fmt.Errorf("unknown")
	case s.Cap < 0:
		return fmt.Errorf("cap %d must not be negative", s.Cap)
	case s.Kind == Real && s.Table == nil:
		return fmt.Errorf("needs distribution data")
	case s.Kind == Zipf && (bad(s.Shape) || s.Shape <= 0 || s.Shape == 1):
		return fmt.Errorf("shape %v must be above 0 and not 1, where Zipf's constants are infinite", s.Shape)
	case (s.Kind == Zipf || s.Kind == Uniform) && (bad(s.Mean) || s.Mean < 0):
		return fmt.Errorf("mean %v must not be negative", s.Mean)
	case s.Kind >= Const && (s.Default < 0 || s.Default > maxDegree):
		return fmt.Errorf("default %d must be between 0 and %d links", s.Default, int64(maxDegree))
	case s.Kind == Multiples && s.Config < 1:
		return fmt.Errorf("config %d must be at least 1", s.Config)
	case s.Kind > Multiples && s.Config < 2:
		return fmt.Errorf("config %d must be at least 2", s.Config)
	case s.Kind == PerfectSquares && s.Config > 62:
		return fmt.Errorf("config %d must be at most 62: no id is a higher power", s.Config)
	case s.Kind == Reciprocal && s.Default == 0 && mode != compat.Off:
		return fmt.Errorf("the first id would have 9223372036854775807 links with default 0: set a default of at " +
			"least 1, or compat off")
	}
	return nil
}

func (f *Function) shuffled() bool { return f.spec.Kind <= Uniform }

// Nodes is the number of ids.
func (f *Function) Nodes() int64 { return f.end - f.start }

// Types is the number of link types.
func (f *Function) Types() int { return int(f.types) }

// Total is the out-degree of id1 over all types, before it is divided among them.
func (f *Function) Total(id1 int64) int64 {
	if f.shuffled() {
		return f.bound(f.byRank(f.shuffler.Invert(id1 - f.start)))
	}
	return f.bound(f.arithmetic(id1))
}

// bound applies the cap, and except in 2013 gives every id a link of each type.
func (f *Function) bound(total int64) int64 {
	if f.spec.Cap > 0 {
		total = min(total, f.spec.Cap)
	}
	if f.mode != compat.Y2013 {
		return max(total, f.types)
	}
	return max(total, 0)
}

// byRank is the out-degree of the id of zero-based rank r; it never rises with r.
func (f *Function) byRank(r int64) int64 {
	switch f.spec.Kind {
	case Real:
		return f.spec.Table.At(1 - float64(r)/float64(f.end-f.start))
	case Zipf:
		return roundHalfUp(f.zipf.Expected(f.start+r, f.spec.Mean))
	}
	return roundHalfUp(f.spec.Mean)
}

// roundHalfUp is Java's Math.round. The conversion keeps a product in x from being fused with the addition.
func roundHalfUp(x float64) int64 { return int64(min(math.Floor(float64(x)+0.5), 0x1p62)) }

func (f *Function) arithmetic(id int64) int64 {
	c, d := f.spec.Config, f.spec.Default
	switch f.spec.Kind {
	case Reciprocal:
		return f.reciprocal(id)
	case Multiples:
		if id%c == 0 {
			return d + c
		}
	case Exponential:
		k := math.Ceil(javarand.Log(float64(id)) / f.logConfig)
		if int64(math.Pow(float64(c), k)) == id {
			return d + id - int64(math.Pow(float64(c), k-1))
		}
	case PerfectSquares:
		// The original adds this to its default for good, so that every later id has more links than the one
		// before, in the order ids happen to be asked for. That isn't imitated.
		root := math.Ceil(math.Pow(float64(id), 1/float64(c)))
		if int64(math.Pow(root, float64(c))) == id {
			return d + id - int64(math.Pow(root-1, float64(c)))
		}
	}
	return d
}

// reciprocal divides by zero for the first id. In the original that is the largest 64-bit number, which the
// default carries over to a negative one: no links. With compat off the first id has n.
func (f *Function) reciprocal(id int64) int64 {
	n, at := float64(f.end-f.start), id-f.start
	if at == 0 {
		if f.mode != compat.Off {
			return math.MinInt64 + f.spec.Default - 1
		}
		at = 1
	}
	return f.spec.Default + int64(math.Ceil(n/float64(at)))
}

// Of is the number of links of type k, 0 ≤ k < types, of an id whose Total is given.
func (f *Function) Of(total int64, k int) int64 {
	base := total / f.types
	switch f.mode {
	case compat.Y2013:
		// The remainder ought to be total-base·types; this is what the first release computes.
		if int64(k) < total-base {
			base++
		}
	case compat.Off:
		if int64(k) < total-base*f.types {
			base++
		}
	}
	return base
}

// Links is the number of links of type k of id1.
func (f *Function) Links(id1 int64, k int) int64 { return f.Of(f.Total(id1), k) }

// Loaded is the number of links of all types of an id whose Total is given; it differs from Total by what the
// compat mode makes of the remainder.
func (f *Function) Loaded(total int64) int64 {
	base := total / f.types
	switch f.mode {
	case compat.Y2013:
		return base*f.types + min(total-base, f.types)
	case compat.Off:
		return total
	}
	return base * f.types
}

// Present is the number of types an id whose Total is given has links of; they are the first ones.
func (f *Function) Present(total int64) int64 {
	switch {
	case total >= f.types:
		return f.types
	case f.mode == compat.Y2020:
		return 0
	}
	return total // base is 0, so type k has a link exactly when k < total
}
