package ibench_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"insertbench/drivers"
	"insertbench/drivers/fake"
	"insertbench/ibench"
)

// shaped is the fake database with tables in pieces and scripts, none of which
// does anything but fail where it is told to.
type shaped struct {
	*fake.Server
	made    []ibench.Table
	scripts []string
	fails   error
}

func (s *shaped) CheckShape(ibench.Table) error { return nil }

func (s *shaped) CreateTable(ctx context.Context, t ibench.Table) error {
	s.made = append(s.made, t)
	return s.Server.CreateTable(ctx, t)
}

func (s *shaped) RunScript(_ context.Context, text string) error {
	s.scripts = append(s.scripts, text)
	return s.fails
}

// TestPartitionsOfPlannedRows: a plan's load of 1,000 rows in 3 pieces has 334
// in each, whatever --rows says.
func TestPartitionsOfPlannedRows(t *testing.T) {
	db := &shaped{Server: openFake(t, fake.Config{KeepRows: true})}
	c := oneClient()
	c.Rows, c.Partitions = 250_000, 3
	mustDo(t, newBench(t, c, db), loadStep(1000, 3))
	if len(db.made) != 1 || db.made[0].Partitions != 3 || db.made[0].PartitionRows != 334 {
		t.Errorf("tables %+v, want one of 3 pieces of 334 keys", db.made)
	}
}

// TestScriptsAreReadFirst: a file that has gone since the record was made is
// missed before tables are dropped.
func TestScriptsAreReadFirst(t *testing.T) {
	db := &shaped{Server: openFake(t, fake.Config{KeepRows: true})}
	c := oneClient()
	mustDo(t, newBench(t, c, db), loadStep(100, 3))
	c.Drop, c.DDLPost = true, filepath.Join(t.TempDir(), "gone.sql")
	if err := ibench.Prepare(t.Context(), c, db); !errors.Is(err, drivers.ErrConfig) || !strings.Contains(err.Error(), "gone.sql") {
		t.Errorf("a missing file gave %v", err)
	}
}

// TestDelimiterIsExplained: to who brings a file of the mysql client.
func TestDelimiterIsExplained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sql")
	for text, want := range map[string]bool{
		"DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END//": true,
		"SELECT 1;\n  delimiter ;;":                                true,
		"CREATE TABLE a (x INT); SELECT 'DELIMITER //';":           false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		db := &shaped{Server: openFake(t, fake.Config{KeepRows: true}), fails: errors.New("syntax error")}
		c := oneClient()
		c.DDLPre = file
		_, err := newBench(t, c, db).Do(t.Context(), loadStep(100, 3))
		if err == nil || strings.Contains(err.Error(), "leave it out") != want || !slices.Equal(db.scripts, []string{text}) || len(db.made) > 0 {
			t.Errorf("%q gave %v after %q and %v", text, err, db.scripts, db.made)
		}
	}
}

func TestShapesRefused(t *testing.T) {
	for want, change := range map[string]func(*ibench.Config){
		"--partitions=9000":                        func(c *ibench.Config) { c.Partitions = 9000 },
		"--rows-per-partition=-1":                  func(c *ibench.Config) { c.Partitions, c.PartitionRows = 2, -1 },
		"--rows-per-partition=4611686018427387904": func(c *ibench.Config) { c.Partitions, c.PartitionRows = 3, 1<<62 }, // 3 of them overflow
		"goes with --partitions":                   func(c *ibench.Config) { c.PartitionRows = 5 },
		"--column-families are of secondary":       func(c *ibench.Config) { c.ColumnFamilies, c.SecondaryIndexes = true, 0 },
	} {
		c := ibench.DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v gave %v, want an error with %q", c.Shape, err, want)
		}
	}
}
