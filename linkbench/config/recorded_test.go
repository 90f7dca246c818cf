package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/config"
	"insertbench/linkbench/degree"
	"insertbench/linkbench/payload"
)

// What a record has of a workload makes the same one again, whatever was set.
func TestRecorded(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"2017": func(*config.Config) {},
		"2011": func(c *config.Config) { *c = config.Default(config.P2011) },
		"demo": func(c *config.Config) { *c = config.Default(config.Demo) },
		"everything": func(c *config.Config) {
			c.Compat, c.LoadSeed, c.Degree.Kind, c.Degree.Default = compat.Off, -1<<63, degree.Reciprocal, 3
			c.LinkReads.Kind, c.NodeReads.Kind = config.RoundRobin, config.Real
			c.Multiget.Kind, c.NodeAdd.Kind, c.PieceLinks = config.UniformSize, payload.Uniform, 77
			c.Run.IgnoredKeys = []string{"tempdir"}
		},
		"original": func(c *config.Config) { c.Stream, c.Run.Loaders, c.Compat = config.Original, 1, compat.Y2013 },
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default(config.P2017)
			change(&c)
			want, err := c.Resolve()
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := config.Recorded(text)
			if err != nil {
				t.Fatal(err)
			}
			// The tables are read again, from the same data.
			ignore := cmpopts.IgnoreTypes(degree.Tables{}, &degree.Table{})
			if d := cmp.Diff(want, got, ignore); d != "" {
				t.Errorf("-recorded +made:\n%s", d)
			}
			if (got.Degree.Table == nil) != (want.Degree.Table == nil) {
				t.Error("one of the two has a table of degrees")
			}
		})
	}
}

// A workload that this version would make something else of is refused.
func TestRecordedOtherwise(t *testing.T) {
	c, err := config.Default(config.Demo).Resolve()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string][3]string{
		"a setting of another version": {`"startid1"`, `"flux":1,"startid1"`, "flux"},
		"a setting that is missing":    {`"epoch_ms":1577836800000,`, ``, "use the version that wrote it"},
		"a setting that is implied":    {`"motif_bytes":512`, `"motif_bytes":128`, "use the version that wrote it"},
		"an unknown profile":           {`"profile":"demo"`, `"profile":"2031"`, "2031"},
		"no ids":                       {`"maxid1":20001`, `"maxid1":1`, "ids from 1 to below 1"},
		"an operation that is missing": {`"GET_NODE"`, `"GET_EDGE"`, "the mix has no GET_NODE"},
		"half of it":                   {`"compat":`, `"compat`, "the record's workload"},
	} {
		t.Run(name, func(t *testing.T) {
			other := strings.Replace(string(text), r[0], r[1], 1)
			if other == string(text) {
				t.Fatalf("no %s in %s", r[0], text)
			}
			if _, err := config.Recorded([]byte(other)); err == nil || !strings.Contains(err.Error(), r[2]) {
				t.Errorf("got %v, want %q", err, r[2])
			}
		})
	}
}
