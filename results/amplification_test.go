package results

import (
	"strings"
	"testing"
)

func amplified(kind string, writtenKB, inserted, held, size, tables float64) Step {
	raw := Raw{Seconds: 1, Ops: 1}
	raw.WrittenKB = Known(writtenKB)
	m := raw.Metrics(PerRow)
	m[sizeBytes], m[databaseBytes] = Metric{Value: Known(size)}, Metric{Value: Known(tables)}
	m[LogicalBytes] = Metric{Value: Known(held)}
	if inserted > 0 {
		m[InsertedBytes] = Metric{Value: Known(inserted)}
	}
	for name, a := range Amplification(m) {
		m[name] = a
	}
	return Step{Name: kind, Kind: kind, Complete: true, Metrics: m}
}

// TestAmplification: 300 KiB written for 102,400 bytes of values are 3; a data
// directory of 409,600 bytes for them 4, tables of 204,800 bytes 2. An index
// build that writes 200 KiB more makes it 500 KiB for what the load inserted: 5.
func TestAmplification(t *testing.T) {
	load := amplified(KindLoad, 300, 102_400, 102_400, 409_600, 204_800)
	index := amplified(KindIndex, 200, 0, 102_400, 512_000, 307_200)
	total := Total(PerRow, load, index)
	for _, c := range []struct {
		step Step
		want map[string]float64
	}{
		{load, map[string]float64{"w-amp": 3, "s-amp": 4, "t-amp": 2}},
		{index, map[string]float64{"s-amp": 5, "t-amp": 3}},
		{total, map[string]float64{"w-amp": 5, "s-amp": 5, "t-amp": 3}},
	} {
		r := Row{Run: &Run{}, Step: &c.step}
		for _, column := range amplificationColumns() {
			got := column.Number(r)
			want, known := c.want[column.Name]
			if (got != nil) != known || known && *got != want {
				t.Errorf("%s: %s is %v, want %v (known %v)", c.step.Name, column.Name, got, want, known)
			}
		}
	}
	if got := Amplification(map[string]Metric{"written_kb": {Value: Known(1)}}); len(got) != 0 {
		t.Errorf("amplification without a workload's bytes: %v", got)
	}
	// Nothing inserted, or nobody knows what was written: no ratio.
	for _, m := range []map[string]Metric{
		{"written_kb": {Value: Known(1)}, InsertedBytes: {Value: Known(0)}}, {InsertedBytes: {Value: Known(9)}},
	} {
		if got := Amplification(m)[writeAmplification]; got.Value != nil {
			t.Errorf("%v: write amplification %v", m, *got.Value)
		}
	}
}

// TestEngineTable has a line per counter: 60 pages for 500 rows are 0.12 a row,
// a level isn't divided, and what the server lacks is "-".
func TestEngineTable(t *testing.T) {
	step := Step{Name: "load", Kind: KindLoad, Complete: true, Metrics: map[string]Metric{
		"rows": {Value: Known(500)}, "pages": {Value: Known(60), Unit: "pages", Meaning: "pages read"},
		"history": {Value: Known(7), Unit: "transactions", Meaning: "history", Level: true}, "absent": {Unit: "B", Meaning: "not there"},
	}}
	run := &Run{Workload: "ibench", Engine: "InnoDB", Complete: true, Steps: []Step{step}}
	table := Table{Columns: EngineColumns(), Rows: EngineRows(run)}
	var text strings.Builder
	if err := table.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(text.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"step counter moved unit per row what engine",
		"load absent - B - not there InnoDB",
		"load history 7.00 transactions - history, at the end InnoDB",
		"load pages 60 pages 0.120 pages read InnoDB",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range Sections(run) {
		if s.Title == engineTitle {
			t.Error("the long table is shown unasked")
		}
	}
}
