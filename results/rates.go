package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// minIntervals is how many full intervals a rate percentile needs, as in the
// original's tables.
const minIntervals = 10

// RatePercentile is the rate that p percent of the intervals reach or beat:
// of the rates sorted from the highest down, the element round(p ÷ 100 × n),
// counted from 1 (etl.sh, mdcallag/mytools; printf rounds a half to even). The
// rates are those of full one-second intervals of one client. Below 10 of
// them there is none. Unlike the tables of 2017, a header line isn't counted.
func RatePercentile[F float32 | float64](rates []F, p float64) *float64 {
	n := len(rates)
	if n < minIntervals {
		return nil
	}
	sorted := slices.Clone(rates)
	slices.SortFunc(sorted, func(a, b F) int { return cmp.Compare(b, a) })
	k := int(math.RoundToEven(p / 100 * float64(n)))
	return Known(float64(sorted[min(max(k, 1), n)-1]))
}

// SetRates fills in the client's percentiles from the rates of its full
// one-second intervals.
func SetRates[F float32 | float64](c *Client, rates []F) {
	c.P75RowsPerSecond = RatePercentile(rates, 75)
	c.P95RowsPerSecond = RatePercentile(rates, 95)
	c.P99RowsPerSecond = RatePercentile(rates, 99)
}

// clientRates are the percentiles that tables show.
var clientRates = []struct {
	percent int
	of      func(*Client) *float64
}{
	{75, func(c *Client) *float64 { return c.P75RowsPerSecond }},
	{95, func(c *Client) *float64 { return c.P95RowsPerSecond }},
	{99, func(c *Client) *float64 { return c.P99RowsPerSecond }},
}

func meanRate(percent int, per Op) string {
	return fmt.Sprintf("p%d_client_%s_per_second", percent, per.Many)
}

func worstRate(percent int, per Op) string {
	return fmt.Sprintf("p%d_worst_client_%s_per_second", percent, per.Many)
}

// ClientRateMetrics gives the mean over clients of each rate percentile, and
// the worst client's, in rows or requests per second. Where one client has
// none, there is none.
func ClientRateMetrics(clients []Client, per Op) map[string]Metric {
	m := make(map[string]Metric, 2*len(clientRates))
	for _, rate := range clientRates {
		var sum, worst *float64
		for i := range clients {
			v := rate.of(&clients[i])
			if v == nil {
				sum, worst = nil, nil
				break
			}
			if i == 0 {
				sum, worst = Known(0), v
			}
			*sum += *v
			if *v < *worst {
				worst = v
			}
		}
		source := fmt.Sprintf("full one-second intervals: the rate %d %% of them reach, ", rate.percent)
		n := float64(len(clients))
		m[meanRate(rate.percent, per)] = Metric{Value: divide(1, sum, &n), Unit: per.Many + "/s", Source: source + "mean over clients"}
		m[worstRate(rate.percent, per)] = Metric{Value: worst, Unit: per.Many + "/s", Source: source + "lowest of the clients"}
	}
	return m
}
