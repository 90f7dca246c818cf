package step_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"insertbench/drivers"
)

// counting is a server whose engine counts: each reading gives the next values.
type counting struct {
	served
	readings *[]map[string]float64
}

var countedTable = drivers.EngineCounters{Counters: []drivers.Counter{
	{Name: "pages", Unit: "pages", Meaning: "pages read", Sources: []string{"Pages_old", "Pages"}},
	{Name: "history", Unit: "transactions", Meaning: "history", Level: true, Sources: []string{"History"}},
	{Name: "absent", Unit: "B", Meaning: "not of this version", Sources: []string{"Absent"}},
	{Name: "reset", Unit: "B", Meaning: "went backwards", Sources: []string{"Reset"}},
}}

func (c counting) Counters(context.Context) ([]drivers.Counter, error) {
	if len(*c.readings) == 0 {
		return nil, errors.New("gone away")
	}
	now := (*c.readings)[0]
	*c.readings = (*c.readings)[1:]
	return countedTable.Read(func(source string) (float64, bool) { v, ok := now[source]; return v, ok }), nil
}

// TestEngineCounters takes differences of sums, the end of levels, and nothing
// of what isn't there or was reset.
func TestEngineCounters(t *testing.T) {
	first := map[string]float64{"Pages": 100, "History": 7, "Reset": 50}
	last := map[string]float64{"Pages": 160, "History": 3, "Reset": 20}
	for _, tc := range []struct {
		name     string
		readings []map[string]float64
		want     map[string]float64
		note     string
	}{
		{"both ends", []map[string]float64{first, last}, map[string]float64{"pages": 60, "history": 3, "absent": math.NaN(), "reset": math.NaN()}, "Reset went backwards from 50 to 20"},
		{"the server is gone at the end", []map[string]float64{first}, map[string]float64{}, "the engine's counters at the end: gone away"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			server := counting{h.server(local(), false), &tc.readings}
			got, _, err := measured(t, t.Context(), h, server, true, &script{host: h, ops: beats(2)})
			if err != nil {
				t.Fatal(err)
			}
			check(t, got.Metrics, tc.want)
			if !strings.Contains(strings.Join(got.Notes, "\n"), tc.note) {
				t.Errorf("%s: notes %q lack %q", tc.name, got.Notes, tc.note)
			}
			if m := got.Metrics["pages"]; len(tc.want) > 0 && (m.Meaning != "pages read" || m.Level || m.Source != "the server's Pages") {
				t.Errorf("pages: %+v", m)
			}
			if m := got.Metrics["history"]; len(tc.want) > 0 && (!m.Level || m.Source != "the server's History, at the end") {
				t.Errorf("history: %+v", m)
			}
			if _, found := got.Metrics["write_amplification"]; found {
				t.Error("amplification of unknown bytes")
			}
		})
	}
}
