package results

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// printed is a figure as it was printed: any value from low to high is
// printed so.
type printed struct{ low, high float64 }

func readPrinted(t *testing.T, text string, decimals int) printed {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, fraction, found := strings.Cut(text, "."); found {
		decimals = len(fraction)
	}
	half := math.Pow10(-decimals) / 2
	return printed{max(v-half, 0), v + half}
}

// publishedDecimals is how many decimals a bare "0" stands for: the published
// tables print 0 where two decimals would be 0.00, and MB/s have one.
var publishedDecimals = map[string]int{"r/i": 2, "rkb/i": 2, "rmb/s": 1, "rMB/s": 1}

// publishedRow makes a step of what was printed, so long that the rates are
// whole numbers. at picks the low or the high end of a printed figure.
func publishedRow(ips float64, disk func(printed) float64, cells map[string]printed) Row {
	const seconds = 1000
	mb := func(name, link string) printed {
		if p, found := cells[name]; found {
			return p
		}
		return cells[link]
	}
	raw := Raw{Seconds: seconds, Ops: int64(ips * seconds), Deltas: Deltas{
		Reads:      ptr(disk(cells["r/s"]) * seconds),
		ReadKB:     ptr(disk(mb("rmb/s", "rMB/s")) * 1000 * seconds),
		WrittenKB:  ptr(disk(mb("wmb/s", "wMB/s")) * 1000 * seconds),
		HostBusyUS: ptr(disk(cells["cpu"])), HostTotalUS: ptr(100.0),
	}}
	return Row{Run: &Run{}, Step: &Step{Kind: KindLoad, Complete: true, Metrics: raw.Metrics(PerRow)}}
}

// TestPublishedRows recomputes the derived columns of every published load
// row from the printed rates. Each printed figure stands for a range; the
// range that the formula makes of the inputs has to meet the printed one.
func TestPublishedRows(t *testing.T) {
	data, err := os.ReadFile("testdata/published_load.txt")
	if err != nil {
		t.Fatal(err)
	}
	var heads []string
	rows := 0
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if strings.HasPrefix(fields[0], "ips") {
			heads = fields
			checkHeads(t, heads)
			continue
		}
		rows++
		checkPublished(t, heads, fields)
	}
	if rows != 9 {
		t.Errorf("%d rows were checked, 9 are published", rows)
	}
}

// checkHeads compares the published heads with those of our table.
func checkHeads(t *testing.T, heads []string) {
	t.Helper()
	var names []string
	for _, c := range (Table{Columns: publishedColumns(heads)}).shown() {
		names = append(names, c.Name)
	}
	if got, want := strings.Join(names, " "), strings.Join(heads, " "); got != want {
		t.Errorf("columns %s\nwant    %s", got, want)
	}
}

func publishedColumns(heads []string) []Column {
	if heads[0] == "ips" {
		return LinkLoadColumns()
	}
	return LoadColumns()
}

func checkPublished(t *testing.T, heads, fields []string) {
	t.Helper()
	engine := fields[len(fields)-1]
	cells := map[string]printed{}
	text := map[string]string{}
	for i, head := range heads[:len(heads)-1] {
		cells[head] = readPrinted(t, fields[i], publishedDecimals[head])
		text[head] = fields[i]
	}
	ips := cells[heads[0]]
	low := publishedRow(ips.high, func(p printed) float64 { return p.low }, cells)
	high := publishedRow(ips.low, func(p printed) float64 { return p.high }, cells)
	middle := publishedRow((ips.low+ips.high)/2, func(p printed) float64 {
		if p.low == 0 {
			return 0
		}
		return (p.low + p.high) / 2
	}, cells)
	for _, c := range publishedColumns(heads) {
		switch c.Name {
		case "r/i", "rkb/i", "wkb/i", "Mcpu/i":
			want := cells[c.Name]
			if a, b := *c.Number(low), *c.Number(high); b < want.low || a > want.high {
				t.Errorf("%s: %s is %g to %g, published %s", engine, c.Name, a, b, text[c.Name])
			}
		case "wmb/s", "wMB/s", "cpu", "ips", "ips.av":
			if got := FormatNumber(c.Number(middle), c.Decimals); got != text[c.Name] {
				t.Errorf("%s: %s is %s, published %s", engine, c.Name, got, text[c.Name])
			}
		}
	}
}
