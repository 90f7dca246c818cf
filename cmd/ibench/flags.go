package main

import (
	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
)

// rowFlags set the seed and the shape of the rows.
func rowFlags(cfg *ibench.Config) []urfave.Flag {
	const category = "Rows"
	ranged := func(name, what string, v *int32) urfave.Flag {
		return cli.Int32Flag(name, what, v, category)
	}
	return []urfave.Flag{
		&urfave.Uint64Flag{Name: "seed", Usage: "seed `N` of the rows; the same seed gives the same rows on every database", Value: cfg.Seed, Destination: &cfg.Seed, Category: category},
		ranged("cash-registers", "cashregisterid is in 0 to `N`-1", &cfg.CashRegisters),
		ranged("products", "productid is in 0 to `N`-1", &cfg.Products),
		ranged("customers", "customerid is in 0 to `N`-1", &cfg.Customers),
		ranged("max-price", "price is in 0 to `N`-1", &cfg.MaxPrice),
		&urfave.IntFlag{Name: "data-length-min", Usage: "data has `BYTES` or more", Value: cfg.DataLengthMin, Destination: &cfg.DataLengthMin, Category: category},
		&urfave.IntFlag{Name: "data-length-max", Usage: "data has `BYTES` or fewer", Value: cfg.DataLengthMax, Destination: &cfg.DataLengthMax, Category: category},
		&urfave.IntFlag{Name: "data-random-pct", Usage: "`PERCENT` of data that is random (before the 0.75 that allows for base64)", Value: cfg.DataRandomPct, Destination: &cfg.DataRandomPct, Category: category},
	}
}

// loadFlags say what a load does.
func loadFlags(cfg *ibench.Config) []urfave.Flag {
	const category = "Load"
	return []urfave.Flag{
		cli.CountFlag("rows", "insert `N` rows in total, as 1000000, 250k or 10m", &cfg.Rows, category),
		&urfave.IntFlag{Name: "clients", Usage: "`N` clients, each with a connection of its own", Value: cfg.Clients, Destination: &cfg.Clients, Category: category},
		&urfave.IntFlag{Name: "tables", Usage: "`N` tables: 1, or a divisor of the clients", Value: cfg.Tables, Destination: &cfg.Tables, Category: category},
		&urfave.IntFlag{Name: "rows-per-commit", Usage: "`N` rows per statement, each statement a transaction", Value: cfg.RowsPerCommit, Destination: &cfg.RowsPerCommit, Category: category},
		&urfave.IntFlag{Name: "secondary-indexes", Usage: "`N` secondary indexes, 0 to 3", Value: cfg.SecondaryIndexes, Destination: &cfg.SecondaryIndexes, Category: category},
		cli.TextFlag("indexes-at", "`WHEN` to build the secondary indexes: at the start or the end of the load", (*string)(&cfg.IndexesAt), category),
		bulkFlag(cfg, category),
		uniqueFlag(cfg, category),
		&urfave.BoolFlag{Name: "drop", Usage: "drop and replace the benchmark's tables that exist", Destination: &cfg.Drop, Category: category},
		cli.TextFlag("verify", "`MODE` of comparing the tables with what was acknowledged: full (counts and sums), count or off", (*string)(&cfg.Verify), category),
	}
}

func bulkFlag(cfg *ibench.Config, category string) urfave.Flag {
	return &urfave.BoolFlag{Name: "bulk-load", Usage: "have loads use MyRocks's bulk load: a table per client, no indexes at the start", Destination: &cfg.BulkLoad, Category: category}
}

func uniqueFlag(cfg *ibench.Config, category string) urfave.Flag {
	return &urfave.BoolFlag{Name: "unique-checks", Usage: "MySQL's unique_checks of whoever inserts; --unique-checks=false spares MyRocks a read per row", Value: cfg.UniqueChecks, Destination: &cfg.UniqueChecks, Category: category}
}

// tableFlags say how a load makes its tables.
func tableFlags(s *ibench.Shape) []urfave.Flag {
	const category = "Tables"
	return []urfave.Flag{
		&urfave.IntFlag{Name: "partitions", Usage: "split each MySQL table into `N` ranges of its key (default: one piece)", Destination: &s.Partitions, Category: category},
		cli.CountFlag("rows-per-partition", "`N` keys per partition; the last has no end (default 0: the rows of the load, split evenly)", &s.PartitionRows, category),
		familyFlag(s, category),
		&urfave.StringFlag{Name: "ddl-pre", Usage: "run the SQL statements in `FILE` right before the tables are made", Destination: &s.DDLPre, Category: category},
		&urfave.StringFlag{Name: "ddl-post", Usage: "run the SQL statements in `FILE` right after the tables are made, before the first row", Destination: &s.DDLPost, Category: category},
	}
}

func familyFlag(s *ibench.Shape, category string) urfave.Flag {
	return &urfave.BoolFlag{Name: "column-families", Usage: "keep each secondary index in a MyRocks column family of its own (xms, xrs, xpdc)", Destination: &s.ColumnFamilies, Category: category}
}
