package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/degree"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/payload"
	"insertbench/linkbench/properties"
)

func resolve(t *testing.T, c Config) *Config {
	t.Helper()
	r, err := c.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEnumsRoundTrip(t *testing.T) {
	for _, p := range Profiles() {
		var got Profile
		if err := got.UnmarshalText([]byte(p.String())); err != nil || got != p {
			t.Errorf("%v: %v, %v", p, got, err)
		}
	}
	for _, s := range []Stream{Pieces, Original} {
		var got Stream
		if err := got.UnmarshalText([]byte(s.String())); err != nil || got != s {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	for _, bad := range []string{"", "2020", "DEMO"} {
		if _, err := ParseProfile(bad); err == nil {
			t.Errorf("profile %q was accepted", bad)
		}
		if _, err := ParseStream(bad); err == nil {
			t.Errorf("stream %q was accepted", bad)
		}
	}
}

func TestProfilesResolve(t *testing.T) {
	for _, p := range Profiles() {
		for _, m := range compat.Modes() {
			c := Default(p)
			c.Compat = m
			r := resolve(t, c)
			fixed := m == compat.Off
			if got := r.LinkAdd.MotifBytes == 128; got != fixed {
				t.Errorf("%v %v: motif of %d bytes", p, m, r.LinkAdd.MotifBytes)
			}
			if got := r.LinkWritesUncorrelated.Shape == 0.741 && r.WriteUncorrelatedPercent == 95; got != fixed {
				t.Errorf("%v %v: writes blend %v %v", p, m, r.LinkWritesUncorrelated, r.WriteUncorrelatedPercent)
			}
		}
	}
}

// Writes are 17.0 % of the mix of 2017 and 30.9 % of that of 2011 (reference).
func TestWriteShares(t *testing.T) {
	for p, want := range map[Profile]float64{P2017: 17.0, P2011: 30.9, Demo: 17.0} {
		sum := 0.0
		for op, percent := range Default(p).Mix {
			if graph.Op(op).Writes() {
				sum += percent
			}
		}
		if sum < want-0.05 || sum > want+0.05 {
			t.Errorf("%v: %v %% writes, want %v", p, sum, want)
		}
	}
}

// The demo's largest out-degree is the number of ids, 20,000, instead of 4,181,357.
func TestDemoIsCapped(t *testing.T) {
	f, err := resolve(t, Default(Demo)).NewDegrees()
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Totals(); got.Nodes != 20000 || got.Max != 20000 {
		t.Errorf("%+v", got)
	}
}

func TestValidateNamesEverything(t *testing.T) {
	c := Default(P2017)
	c.Mix[graph.GetNode] = 40
	c.Stream = Original
	c.MaxID1 = 0
	c.NodeReads.Shape = 1
	c.Multiget.Max = 1
	c.Run.Requesters = 0
	_, err := c.Resolve()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"add up to", "one loader", "ids from 1", "node_read_function", "multiget sizes", "requesters (--clients): 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
}

func TestOriginalFiles(t *testing.T) {
	layers, err := ReadFiles("testdata/config/LinkConfigMysql.properties", "testdata",
		[]string{"maxid1=1000001", "requesters=2", "never_change=true"})
	if err != nil {
		t.Fatal(err)
	}
	got := Default(P2017)
	notes, err := got.Apply(layers...)
	if err != nil || len(notes) > 0 {
		t.Fatalf("%v %v", notes, err)
	}
	want := Default(P2011) // its mix and sizes are those of the workload file
	want.Compat = compat.Y2013
	want.MaxID1 = 1000001
	want.DataFile = "config/Distribution.dat"
	want.Run.Requesters = 2
	want.Run.BulkKB = 2048
	want.Store.Class = "com.facebook.LinkBench.LinkStoreMysql"
	want.Store.NodeClass = want.Store.Class
	want.Store.Host, want.Store.Port = "yourhostname.here", "3306"
	want.Store.User, want.Store.Password = "linkbench", "secret words"
	opt := cmp.AllowUnexported(degree.Table{})
	if d := cmp.Diff(want, got, opt); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	// No such file is there, so the data are those the name meant in the first release.
	if top := resolve(t, got).Degree.Table.Max(); top != 961963 {
		t.Errorf("distribution with a largest value of %d, want that of 2011", top)
	}
}

// The record names what was chosen and holds no secret.
func TestRecord(t *testing.T) {
	c := Default(Demo)
	c.Store.Password, c.Store.URL = "hush1", "mongodb://u:hush2@h/"
	b, err := json.Marshal(resolve(t, c))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"compat":"2020"`, `"profile":"demo"`, `"stream":"pieces"`, `"GET_NODE":43.9869`,
		`"function":"real"`, `"cap_links":20000`, `"generator":"motif"`, `"motif_bytes":512`, `"distribution":"geometric"`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s is missing in %s", want, b)
		}
	}
	for _, secret := range []string{"hush1", "hush2", "Table"} {
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s is in %s", secret, b)
		}
	}
}

func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	write("w.properties", "loaders=1\nrequesters=1\nrequests=1\n")
	path := write("c.properties", "workload_file=w.properties\nrequesters=2\nrequests=2\n")
	layers, err := ReadFiles(path, "", []string{"requests=3"})
	if err != nil {
		t.Fatal(err)
	}
	c := Default(P2017)
	if _, err := c.Apply(layers...); err != nil {
		t.Fatal(err)
	}
	if got := [3]int64{int64(c.Run.Loaders), int64(c.Run.Requesters), c.Run.RequestsPerRequester}; got != [3]int64{1, 2, 3} {
		t.Errorf("%v, want the workload file's, the file's and -D's", got)
	}
	if _, err := ReadFiles(path, "", []string{"workload_file=none.properties"}); err == nil ||
		!strings.Contains(err.Error(), "none.properties") {
		t.Errorf("%v, want the missing file named", err)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	layers, err := ReadFiles("testdata/wrong.properties", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := Default(P2017)
	_, err = c.Apply(layers...)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"line 1: read_function: access function \"SOMETIMES\"", `line 2: link_up_datagen_startbyte: "900"`,
		`line 3: "frobnicate" is not a setting`, "line 4: dbcount"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
	if d := cmp.Diff(Default(P2017), c, cmp.AllowUnexported(degree.Table{})); d != "" {
		t.Errorf("changed in spite of errors:\n%s", d)
	}
}

func TestIgnoredKeysAreNoted(t *testing.T) {
	over, err := Overrides([]string{"MySQL_bulk_insert_batch=99", "tempdir=/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	c := Default(P2017)
	notes, err := c.Apply(over)
	if err != nil || len(notes) != 2 || !strings.Contains(notes[0], "case-sensitive") {
		t.Errorf("%q, %v", notes, err)
	}
	if c.Run.BulkRows != 1024 {
		t.Errorf("%d rows", c.Run.BulkRows)
	}
}

// Every key must be unique, say what it means or why it has no effect, and change exactly its own field.
func TestKeyTable(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		if seen[k.Name] || (k.Meaning == "") == (k.Ignored == "") || (k.set == nil) != (k.Ignored != "") && k.Name != "" {
			t.Errorf("key %+v", k)
		}
		seen[k.Name] = true
	}
	for _, name := range []string{"linkstore", "write_uncorr_config", "node_delete_function", "getnode", "nlinks_mean"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	for setting, changed := range map[string]func(Config) bool{
		"write_uncorr_shape=0.5":         func(c Config) bool { return c.LinkWritesUncorrelated.Shape == 0.5 },
		"node_delete_function=zipf":      func(c Config) bool { return c.NodeDeletes.Kind == Zipf },
		"node_up_datagen_motif_length=9": func(c Config) bool { return c.NodeUpdate.MotifBytes == 9 },
		"link_up_datagen=UniformDataGenerator": func(c Config) bool {
			return c.LinkUpdate.Kind == payload.Uniform && c.LinkAdd.Kind == payload.Motif
		},
		"getnode=1":           func(c Config) bool { return c.Mix[graph.GetNode] == 1 },
		"id2gen_config=1":     func(c Config) bool { return c.PartitionID2 },
		"link_multiget_dist=": func(c Config) bool { return c.Multiget.Kind == One },
	} {
		c := Default(P2017)
		over, err := Overrides([]string{setting})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Apply(over); err != nil || !changed(c) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func FuzzApply(f *testing.F) {
	for _, pattern := range []string{"testdata/*.properties", "testdata/config/*.properties"} {
		seeds, err := filepath.Glob(pattern)
		if err != nil || len(seeds) == 0 {
			f.Fatalf("no seeds: %v", err)
		}
		for _, s := range seeds {
			b, err := os.ReadFile(s)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := properties.Parse(bytes.NewReader(b))
		if err != nil {
			return
		}
		c := Default(Demo)
		if _, err := c.Apply(Layer{Name: "fuzz", Entries: entries}); err != nil {
			return
		}
		c.DataFile = "" // whatever file is named is not the fuzzer's to read
		if r, err := c.Resolve(); err == nil {
			if _, err := r.NewDegrees(); err != nil {
				t.Errorf("resolved, but: %v", err)
			}
		}
	})
}

var update = flag.Bool("update", false, "write golden files")

// The page of options must be what the table of keys makes.
func TestOptionsPage(t *testing.T) {
	const page = "../../docs/linkbench-options.md"
	var got bytes.Buffer
	if err := WriteOptions(&got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(page, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s is out of date, run this test with -update (-page +keys):\n%s", page, d)
	}
}
