package ibench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfigValidate(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"the default", func(*Config) {}, ""},
		{"the smallest", func(c *Config) {
			c.Rows, c.RowsPerCommit, c.SecondaryIndexes, c.DataLengthMin, c.DataLengthMax, c.DataRandomPct = 1, 1, 0, 0, 0, 0
			c.CashRegisters, c.Products, c.Customers, c.MaxPrice = 1, 1, 1, 1
		}, ""},
		{"the largest", func(c *Config) {
			c.Rows, c.Clients, c.Tables, c.RowsPerCommit, c.DataLengthMax, c.DataRandomPct = 1<<63-1, 100_000, 100_000, 100_000, 4000, 100
		}, ""},
		{"no rows", func(c *Config) { c.Rows = 0 }, "--rows=0: it must be 1 or more"},
		{"fewer rows than clients", func(c *Config) { c.Rows, c.Clients = 3, 4 }, "--rows=3 is fewer than --clients=4: each client needs a row"},
		{"a row each", func(c *Config) { c.Rows, c.Clients = 4, 4 }, ""},
		{"no clients", func(c *Config) { c.Clients = 0 }, "--clients=0: it must be from 1 to 100000"},
		{"too many clients", func(c *Config) { c.Clients = 100_001 }, "--clients=100001: it must be from 1 to 100000"},
		{"no tables", func(c *Config) { c.Tables = 0 }, "--tables=0: it must be 1, or divide --clients=1 so that every table gets as many clients"},
		{"more tables than clients", func(c *Config) { c.Tables, c.Clients = 4, 2 }, "--tables=4: it must be 1, or divide --clients=2 so that every table gets as many clients"},
		{"tables that don't divide", func(c *Config) { c.Tables, c.Clients = 4, 6 }, "--tables=4: it must be 1, or divide --clients=6 so that every table gets as many clients"},
		{"tables that divide", func(c *Config) { c.Tables, c.Clients = 3, 6 }, ""},
		{"no rows a statement", func(c *Config) { c.RowsPerCommit = 0 }, "--rows-per-commit=0: it must be from 1 to 100000"},
		{"too many rows a statement", func(c *Config) { c.RowsPerCommit = 100_001 }, "--rows-per-commit=100001: it must be from 1 to 100000"},
		{"fewer indexes than none", func(c *Config) { c.SecondaryIndexes = -1 }, "--secondary-indexes=-1: it must be from 0 to 3"},
		{"too many indexes", func(c *Config) { c.SecondaryIndexes = 4 }, "--secondary-indexes=4: it must be from 0 to 3"},
		{"indexes at noon", func(c *Config) { c.IndexesAt = "noon" }, "--indexes-at=noon: it must be start or end"},
		{"indexes never", func(c *Config) { c.IndexesAt = "" }, "--indexes-at=: it must be start or end"},
		{"half verified", func(c *Config) { c.Verify = "half" }, "--verify=half: it must be full, count or off"},
		{"values of no range", func(c *Config) { c.CashRegisters, c.Products, c.Customers, c.MaxPrice = 0, -1, 0, 0 },
			"--cash-registers=0: it must be 1 or more\n--products=-1: it must be 1 or more\n--customers=0: it must be 1 or more\n--max-price=0: it must be 1 or more"},
		{"data shorter than nothing", func(c *Config) { c.DataLengthMin = -1 }, "--data-length-min=-1: it must be 0 or more, and at most --data-length-max=20"},
		{"data of a crossed range", func(c *Config) { c.DataLengthMin = 21 }, "--data-length-min=21: it must be 0 or more, and at most --data-length-max=20"},
		{"data too long", func(c *Config) { c.DataLengthMax = 4001 }, "--data-length-max=4001: the data column holds at most 4000 bytes"},
		{"more random than all", func(c *Config) { c.DataRandomPct = 101 }, "--data-random-pct=101: it must be from 0 to 100"},
		{"less random than none", func(c *Config) { c.DataRandomPct = -1 }, "--data-random-pct=-1: it must be from 0 to 100"},
	} {
		c := DefaultConfig()
		tc.change(&c)
		got := ""
		if err := c.Validate(); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestClientRows: the shares add up to all rows and differ by one at most.
func TestClientRows(t *testing.T) {
	for _, tc := range []struct {
		rows    int64
		clients int
		want    []int64
	}{
		{10, 1, []int64{10}},
		{10, 3, []int64{4, 3, 3}},
		{11, 3, []int64{4, 4, 3}},
		{12, 3, []int64{4, 4, 4}},
		{1<<63 - 1, 2, []int64{1 << 62, 1<<62 - 1}},
	} {
		c := Config{Rows: tc.rows, Clients: tc.clients}
		var got []int64
		for i := range tc.clients {
			got = append(got, c.ClientRows(i))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%d rows (-want +got):\n%s", tc.rows, diff)
		}
	}
}
