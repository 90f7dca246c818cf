package payload

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"insertbench/linkbench/javarand"
)

func TestVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/data_generators.json")
	if err != nil {
		t.Fatal(err)
	}
	type fill struct {
		Len    int
		Hex    string
		SHA256 string
	}
	type generator struct {
		Prefix     string
		MotifBytes int    `json:"effective_motif_bytes"`
		Fills      []fill `json:"fills_in_order"`
		Start, End byte
	}
	var doc struct {
		Cases []json.RawMessage
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	// The recording used the generators of the default workload (FBWorkload.properties).
	specs := map[string]Spec{
		"link_add_datagen_": {Kind: Motif, Start: 32, End: 100, Uniqueness: 0.225},
		"node_add_datagen_": {Kind: Motif, Start: 50, End: 220, Uniqueness: 0.63},
	}
	compared := 0
	for _, raw := range doc.Cases {
		var c struct {
			generator
			Uniform *generator
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		g, spec := c.generator, specs[c.Prefix]
		if c.Uniform != nil {
			g = *c.Uniform
			spec = Spec{Kind: Uniform, Start: g.Start, End: g.End}
		}
		spec.MotifBytes = g.MotifBytes
		if err := spec.Validate(); err != nil {
			t.Fatal(err)
		}
		gen, rng := New(spec), javarand.New(12345)
		for _, f := range g.Fills {
			data := bytes.Repeat([]byte{0xff}, f.Len) // a dirty buffer: every byte must be set
			gen.Fill(rng, data)
			sum := sha256.Sum256(data)
			if f.SHA256 != "" && hex.EncodeToString(sum[:]) != f.SHA256 || f.SHA256 == "" && hex.EncodeToString(data) != f.Hex {
				t.Errorf("%s %v fill of %d bytes: %x", g.Prefix, spec.Kind, f.Len, data)
			}
			compared++
		}
	}
	if compared != 24 {
		t.Errorf("compared %d fills, the recording has 24", compared)
	}
}

// A motif shorter than a block limits the block: 10 bytes of "a" to "b" are copied whole, so 25 bytes are the
// motif twice and any five bytes of it.
func TestShortMotif(t *testing.T) {
	g, rng := New(Spec{Kind: Motif, Start: 'a', End: 'b', MotifBytes: 10}), javarand.New(1)
	data := make([]byte, 25)
	g.Fill(rng, data)
	if !bytes.Equal(data[:10], g.motif) || !bytes.Equal(data[10:20], g.motif) || !bytes.Contains(g.motif, data[20:]) {
		t.Errorf("motif %q gave %q", g.motif, data)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		ok   bool
	}{
		{"motif", Spec{Motif, 32, 100, 0.225, 512}, true},
		{"uniform needs no motif", Spec{Kind: Uniform, Start: 0, End: 255}, true},
		{"end below start", Spec{Motif, 100, 32, 0.5, 512}, false},
		{"uniqueness above one", Spec{Motif, 32, 100, 1.1, 512}, false},
		{"no motif", Spec{Motif, 32, 100, 0.5, 0}, false},
		{"unknown", Spec{Kind: 7}, false},
	} {
		if err := c.spec.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestFillAllocatesNothing(t *testing.T) {
	g, rng, data := New(Spec{Motif, 32, 100, 0.225, 512}), javarand.New(1), make([]byte, 300)
	if n := testing.AllocsPerRun(100, func() { g.Fill(rng, data) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
