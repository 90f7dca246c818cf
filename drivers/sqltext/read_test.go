package sqltext

import (
	"testing"
	"time"

	"insertbench/ibench"
)

func TestTexts(t *testing.T) {
	for got, want := range map[string]string{
		RangeText("t FORCE INDEX (t_pdc)", ibench.Indexes[2], 10): "SELECT price, dateandtime, customerid FROM t FORCE INDEX (t_pdc) WHERE price >= ? ORDER BY price, dateandtime, customerid LIMIT 10",
		PointText("t", 3):                "SELECT transactionid, productid, data FROM t WHERE transactionid IN (?, ?, ?)",
		ScanText("t", ibench.PrimaryKey): "SELECT COUNT(data) FROM t",
		ScanText("t", 1):                 "SELECT COUNT(*) FROM t WHERE cashregisterid >= 0",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSeconds compares with time.Parse, over leap days and the ends of months.
func TestSeconds(t *testing.T) {
	for at := time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC); at.Year() < 2041; at = at.Add(13*time.Hour + 7*time.Second) {
		for _, text := range []string{at.Format(dateLayout), at.Format(dateLayout) + ".000000"} {
			if got, err := textInteger(text); err != nil || got != at.Unix() {
				t.Fatalf("%q is %d, %v, want %d", text, got, err, at.Unix())
			}
		}
	}
	for _, text := range []string{"2020-01-01T00:00:00Z", "not a date but long enough", "2020-01-01 00:00:0x", "12x", ""} {
		if got, err := textInteger(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
