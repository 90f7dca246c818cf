package ibench

import (
	"fmt"
	"strconv"
	"strings"

	"insertbench/drivers"
)

// Table names and columns are those of iibench.py and its scripts
// (mdcallag/mytools, bench/ibench): tables pi1 to piN in database ib.
const (
	// DatabaseName is the database that the tables live in unless another is named.
	DatabaseName = "ib"
	tablePrefix  = "pi"
)

// The columns in the order in which an INSERT names them. KeyColumn is made
// by the database, so it isn't among them.
const KeyColumn = "transactionid"

// Columns lists the columns that the client sends, in statement order.
var Columns = []string{"dateandtime", "cashregisterid", "customerid", "productid", "price", "data"}

// Index is a secondary index: its name without the table's, and its columns.
type Index struct {
	Name    string
	Columns []string
	// Family is the column family that MyRocks is to keep it in; empty is its
	// default.
	Family string
}

// Indexes are the three secondary indexes of iibench.py since 2023-12
// (c8fcca67). --secondary-indexes=n takes the first n.
var Indexes = []Index{
	{Name: "marketsegment", Columns: []string{"productid", "customerid", "price"}},
	{Name: "registersegment", Columns: []string{"cashregisterid", "customerid", "price"}},
	{Name: "pdc", Columns: []string{"price", "dateandtime", "customerid"}},
}

// families are the column families of the indexes, named as in np.sh's variant
// that is commented out.
var families = []string{"xms", "xrs", "xpdc"}

// Table is one table to create.
type Table struct {
	Name string
	// Indexes are made with the table; empty where they come later.
	Indexes []Index
	// Partitions is how many ranges of the key the table is split into, 0 for
	// a table in one piece: all but the last of PartitionRows keys, the last
	// without an end.
	Partitions    int
	PartitionRows int64
}

// TableName is the name of table t, counted from 0: pi1 is table 0.
func TableName(t int) string { return tablePrefix + strconv.Itoa(t+1) }

// IsTableName says whether a name is one of the benchmark's: pi and a number
// from 1 without leading zeros.
func IsTableName(name string) bool {
	digits, ok := strings.CutPrefix(name, tablePrefix)
	if !ok || digits == "" || digits[0] == '0' {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// CheckTableName refuses a name that isn't one of the benchmark's, so that no
// driver ever touches another table. The error is of kind drivers.ErrConfig.
func CheckTableName(name string) error {
	if !IsTableName(name) {
		return drivers.Configf("table %q isn't one of the benchmark's (%s1, %s2, ...): refusing to touch it", name, tablePrefix, tablePrefix)
	}
	return nil
}

// String names the index and its columns.
func (x Index) String() string { return fmt.Sprintf("%s (%s)", x.Name, strings.Join(x.Columns, ", ")) }
