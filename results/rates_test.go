package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRatePercentile(t *testing.T) {
	ten := []float64{30, 100, 20, 90, 10, 80, 40, 70, 60, 50} // from the highest: 100 90 80 70 60 50 40 30 20 10
	twenty := make([]float64, 20)                             // 20 19 … 1
	for i := range twenty {
		twenty[i] = float64(i + 1)
	}
	fourteen := make([]float64, 14) // 14 13 … 1
	for i := range fourteen {
		fourteen[i] = float64(i + 1)
	}
	for _, c := range []struct {
		name  string
		rates []float64
		p     float64
		want  *float64
	}{
		{"7.5 rounds to 8: the 8th of ten", ten, 75, ptr(30.0)},
		{"9.5 rounds to 10: the 10th", ten, 95, ptr(10.0)},
		{"9.9 rounds to 10: the 10th", ten, 99, ptr(10.0)},
		{"the 5th", ten, 50, ptr(60.0)},
		{"0 becomes the 1st", ten, 0, ptr(100.0)},
		{"the 15th of twenty is 6", twenty, 75, ptr(6.0)},
		{"the 19th is 2", twenty, 95, ptr(2.0)},
		{"19.8 rounds to 20: the 20th is 1", twenty, 99, ptr(1.0)},
		{"10.5 rounds to even, 10: the 10th of fourteen is 5", fourteen, 75, ptr(5.0)},
		{"nine are too few", ten[:9], 75, nil},
		{"none", nil, 99, nil},
	} {
		if diff := cmp.Diff(c.want, RatePercentile(c.rates, c.p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if ten[0] != 30 {
		t.Error("the caller's rates were sorted")
	}
}

func TestClientRateMetrics(t *testing.T) {
	var a, b, few Client
	SetRates(&a, []float32{10, 10, 10, 10, 10, 10, 10, 10, 10, 4})
	SetRates(&b, []float32{20, 20, 20, 20, 20, 20, 20, 20, 20, 0})
	SetRates(&few, []float32{1})
	// The 8th of ten is 10 and 20, the 10th is 4 and 0.
	want := map[string]float64{
		"p75_client_rows_per_second": 15, "p75_worst_client_rows_per_second": 10,
		"p95_client_rows_per_second": 2, "p95_worst_client_rows_per_second": 0,
		"p99_client_rows_per_second": 2, "p99_worst_client_rows_per_second": 0,
	}
	if diff := cmp.Diff(want, values(ClientRateMetrics([]Client{a, b}, PerRow))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, clients := range [][]Client{nil, {few}, {a, few}, {few, b}} {
		m := ClientRateMetrics(clients, PerRow)
		if len(m) != 6 || len(values(m)) != 0 {
			t.Errorf("%d clients, one with too few intervals: %v", len(clients), values(m))
		}
	}
	asked := ClientRateMetrics([]Client{a, b}, PerRequest)["p75_client_requests_per_second"]
	if asked.Value == nil || *asked.Value != 15 || asked.Unit != "requests/s" {
		t.Errorf("rate of requests: %v", asked)
	}
	if *a.P75RowsPerSecond != 10 {
		t.Errorf("the client's own figure became %g", *a.P75RowsPerSecond)
	}
}
