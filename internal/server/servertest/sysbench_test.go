package servertest

import "testing"

// What sysbench 1.0.20 prints, shortened.
const sysbenchSaid = `SQL statistics:
    queries performed:
        read:                            85556
        total:                           85556
    transactions:                        85556  (21387.44 per sec.)
    queries:                             85556  (21387.44 per sec.)
    ignored errors:                      0      (0.00 per sec.)
`

func TestSysbenchQueries(t *testing.T) {
	queries, perSecond, err := sysbenchQueries([]byte(sysbenchSaid))
	if err != nil || queries != 85556 || perSecond != 21387.44 {
		t.Errorf("%d queries, %g a second, error %v", queries, perSecond, err)
	}
	for _, said := range []string{"", "    queries:                             0      (0.00 per sec.)\n"} {
		if _, _, err := sysbenchQueries([]byte(said)); err == nil {
			t.Errorf("no error for %q", said)
		}
	}
}
