package ibench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"

	"insertbench/drivers"
)

// Shape is how the tables are made, where it isn't as every database makes
// them. Databases that can't are refused.
type Shape struct {
	// Partitions splits each table by ranges of its key; 0 leaves it whole.
	Partitions int `json:"partitions"`
	// PartitionRows is keys per partition but the last; 0 is a load's rows
	// split evenly.
	PartitionRows int64 `json:"rows_per_partition"`
	// ColumnFamilies gives each secondary index a MyRocks column family of its own.
	ColumnFamilies bool `json:"column_families"`
	// DDLPre and DDLPost are files of statements for right before the tables
	// are made and right after.
	DDLPre  string `json:"ddl_pre_file"`
	DDLPost string `json:"ddl_post_file"`
}

// maxPartitions is MySQL's and MariaDB's limit of partitions of a table.
const maxPartitions = 8192

// Validate says what is wrong, all of it at once, in the words of the flags.
func (s Shape) Validate() error {
	var errs []error
	if s.Partitions < 0 || s.Partitions > maxPartitions {
		errs = append(errs, fmt.Errorf("--partitions=%d: it must be from 0 to %d", s.Partitions, maxPartitions))
	}
	if s.PartitionRows < 0 {
		errs = append(errs, fmt.Errorf("--rows-per-partition=%d: it can't be negative", s.PartitionRows))
	}
	if s.Partitions > 0 && s.PartitionRows > math.MaxInt64/maxPartitions {
		errs = append(errs, fmt.Errorf("--rows-per-partition=%d: it must be at most %d", s.PartitionRows, int64(math.MaxInt64/maxPartitions)))
	}
	if s.PartitionRows > 0 && s.Partitions == 0 {
		errs = append(errs, errors.New("--rows-per-partition goes with --partitions, which says how many there are"))
	}
	return errors.Join(append(errs, s.checkScripts())...)
}

// checkScripts refuses files of statements that can't be read.
func (s Shape) checkScripts() error {
	_, pre := readScript("--ddl-pre", s.DDLPre)
	_, post := readScript("--ddl-post", s.DDLPost)
	return errors.Join(pre, post)
}

// Shaper is a database that may split tables by ranges of the key, or keep
// indexes in families of their own. CheckShape refuses a table that it can't
// make; kind drivers.ErrConfig.
type Shaper interface {
	CheckShape(t Table) error
}

// Scripter is a database that runs a text of several statements in its
// language. The text isn't empty.
type Scripter interface {
	RunScript(ctx context.Context, text string) error
}

// table is table t as the configuration has it, with all its indexes' names
// where they are made with it.
func (c Config) table(t int) Table {
	table := Table{Name: TableName(t), Partitions: c.Partitions, PartitionRows: c.PartitionRows}
	if c.Partitions > 0 && c.PartitionRows == 0 {
		parts := int64(c.Partitions) * int64(c.Tables)
		table.PartitionRows = max(1, (c.Rows+parts-1)/parts)
	}
	return table
}

// checkShape refuses what the database can't do with its tables.
func (c Config) checkShape(db Tables) error {
	if _, ok := db.(Scripter); !ok && (c.DDLPre != "" || c.DDLPost != "") {
		return drivers.Configf("--ddl-pre and --ddl-post are SQL, which this database doesn't take")
	}
	// A resumed run has only the files' names; that they can't be read must
	// come out before tables are dropped.
	if err := c.checkScripts(); err != nil {
		return err
	}
	if c.Partitions == 0 && !c.ColumnFamilies {
		return nil
	}
	shaper, ok := db.(Shaper)
	if !ok {
		return drivers.Configf("--partitions and --column-families are MySQL's, and mean nothing to this database")
	}
	table := c.table(0)
	table.Indexes = c.SecondaryIndexList()
	return shaper.CheckShape(table)
}

// runScript runs a file's statements; no file is nothing to do.
func runScript(ctx context.Context, db Tables, flag, path string) error {
	text, err := readScript(flag, path)
	if err != nil || text == "" {
		return err
	}
	scripter, ok := db.(Scripter)
	if !ok {
		return drivers.Configf("%s is SQL, which this database doesn't take", flag)
	}
	err = scripter.RunScript(ctx, text)
	switch {
	case err == nil:
		return nil
	case delimiter.MatchString(text):
		return fmt.Errorf("%s=%s: %w; DELIMITER is a command of the clients, not of SQL: leave it out and end each statement with a semicolon, those with BEGIN and END too", flag, path, err)
	default:
		return fmt.Errorf("%s=%s: %w", flag, path, err)
	}
}

// delimiter is a line that only the mysql and mariadb clients understand.
var delimiter = regexp.MustCompile(`(?im)^\s*delimiter\s`)

// readScript reads a file of statements. It is read where it is used, since a
// resumed run has only its name.
func readScript(flag, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", drivers.Configf("read the statements of %s: %w", flag, err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", drivers.Configf("%s=%s holds no statement", flag, path)
	}
	return string(text), nil
}
