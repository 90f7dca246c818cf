// Package payload makes the bytes of nodes and links: compressible ones from a motif, or uniform ones.
package payload

import (
	"fmt"
	"strings"

	"insertbench/linkbench/javarand"
)

// Kind names a generator.
type Kind int

// The two generators of the original.
const (
	Motif Kind = iota
	Uniform
)

func (k Kind) String() string {
	switch k {
	case Motif:
		return "motif"
	case Uniform:
		return "uniform"
	}
	return fmt.Sprintf("payload.Kind(%d)", int(k))
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

// ParseKind reads a *_datagen setting: the names above or Java classes, in any case.
func ParseKind(s string) (Kind, error) {
	switch name := strings.ToLower(s[strings.LastIndexByte(s, '.')+1:]); strings.TrimSuffix(name, "datagenerator") {
	case "motif":
		return Motif, nil
	case "uniform":
		return Uniform, nil
	}
	return 0, fmt.Errorf("payload generator %q is unknown: use motif or uniform", s)
}

const (
	blockBytes = 128 // a motif payload is decided block by block
	// FixedMotifBytes is the motif length the original always uses: its motif_length setting is never honoured.
	FixedMotifBytes = 512
)

// Spec describes a generator.
type Spec struct {
	Kind Kind `json:"generator"`
	// Start and End are the first and last byte value that occurs.
	Start byte `json:"start_byte"`
	End   byte `json:"end_byte"`
	// Uniqueness is the share of blocks that are fresh random bytes, the others being copied from the motif.
	Uniqueness float64 `json:"uniqueness"`
	MotifBytes int     `json:"motif_bytes"`
}

// Validate says what is wrong with a spec.
func (s Spec) Validate() error {
	switch {
	case s.Kind != Motif && s.Kind != Uniform:
		return fmt.Errorf("payload generator %d is unknown: use motif or uniform", int(s.Kind))
	case s.End < s.Start:
		return fmt.Errorf("payload bytes start at %d and end at %d: the end must not be below the start", s.Start, s.End)
	case s.Kind == Uniform:
		return nil
	case !(s.Uniqueness >= 0 && s.Uniqueness <= 1):
		return fmt.Errorf("payload uniqueness %v must be between 0 and 1", s.Uniqueness)
	case s.MotifBytes < 1 || s.MotifBytes > 1<<20:
		return fmt.Errorf("payload motif length %d must be between 1 and 1048576 bytes", s.MotifBytes)
	}
	return nil
}

// Generator fills payloads. Each loader and requester has its own; it isn't safe for concurrent use.
type Generator struct {
	spec  Spec
	width int32
	block int
	motif []byte
	drawn bool
}

// New returns a generator of a valid spec. Its motif is drawn by the first Fill, or by DrawMotif before it.
func New(spec Spec) *Generator {
	g := &Generator{spec: spec, width: int32(spec.End) - int32(spec.Start) + 1}
	if spec.Kind == Motif {
		g.motif = make([]byte, spec.MotifBytes)
		g.block = min(blockBytes, spec.MotifBytes)
	}
	return g
}

// DrawMotif draws the motif from rng now, so that generators filled from different streams can share one.
func (g *Generator) DrawMotif(rng *javarand.Random) {
	rng.Fill(g.motif, g.spec.Start, g.width)
	g.drawn = true
}

// Fill sets all of dst.
func (g *Generator) Fill(rng *javarand.Random, dst []byte) {
	if g.spec.Kind == Uniform {
		rng.Fill(dst, g.spec.Start, g.width)
		return
	}
	if !g.drawn {
		g.DrawMotif(rng)
	}
	for len(dst) > 0 {
		n := min(g.block, len(dst))
		if rng.Float64() < g.spec.Uniqueness {
			rng.Fill(dst[:n], g.spec.Start, g.width)
		} else {
			at := rng.Int32n(int32(len(g.motif) - n + 1))
			copy(dst[:n], g.motif[at:])
		}
		dst = dst[n:]
	}
}
