package ibench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"insertbench/drivers"
	"insertbench/results"
)

// expected makes every row that the tables must hold again from the seed and
// adds them up, for each table. It takes about a tenth of a microsecond a row,
// clients side by side.
func (b *Bench) expected(ctx context.Context) ([]Sums, error) {
	perClient := make([]Sums, b.Config.Clients)
	var all sync.WaitGroup
	for client, p := range b.State.Clients {
		all.Go(func() {
			rows := NewRows(b.Config.Seed, client, b.Config.RowSpec)
			var row Row
			var sums Sums
			for n := p.Deleted; n < p.Inserted; n++ {
				if n%stopEvery == 0 && ctx.Err() != nil {
					return
				}
				rows.At(n, &row)
				sums.AddRow(&row)
			}
			perClient[client] = sums
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	sums := make([]Sums, b.Config.Tables)
	for client, s := range perClient {
		sums[b.Config.ClientTable(client)].Add(s)
	}
	return sums, nil
}

// stopEvery is after how many rows a long loop looks whether it should stop.
const stopEvery = 1 << 16

// Verify compares the tables with the state: counts, sums of the rows made
// again from the seed, the smallest and the largest key, and that every
// secondary index has as many entries as there are rows. Differences are an
// error of kind ErrVerify. Mode count looks at counts and keys alone.
func (b *Bench) Verify(ctx context.Context) (*results.Verify, error) {
	v := &results.Verify{Mode: string(b.Config.Verify)}
	if b.Config.Verify == VerifyOff {
		return v, nil
	}
	begin := time.Now()
	t := &contents{bench: b, verify: v}
	err := t.compare(ctx)
	if err != nil {
		return v, err
	}
	passed := len(v.Differences) == 0
	v.Passed, v.Seconds = &passed, results.Known(time.Since(begin).Seconds())
	v.Expected, v.Found = t.want.byName(b.Config.Verify), t.found.byName(b.Config.Verify)
	if !passed {
		for _, text := range v.Differences {
			err = errors.Join(err, fmt.Errorf("%w: %s", ErrVerify, text))
		}
	}
	return v, err
}

// contents is a comparison under way.
type contents struct {
	bench       *Bench
	verify      *results.Verify
	want, found Sums
}

func (t *contents) differ(table, format string, args ...any) {
	t.verify.Differences = append(t.verify.Differences, "table "+table+": "+fmt.Sprintf(format, args...))
}

func (t *contents) compare(ctx context.Context) error {
	b := t.bench
	want := make([]Sums, b.Config.Tables)
	for i, n := range b.State.tableRows(b.Config) {
		want[i].Rows = n
	}
	var err error
	if b.Config.Verify == VerifyFull && !b.keepsNothing() {
		if want, err = b.expected(ctx); err != nil {
			return err
		}
	}
	unknown := make([]int64, b.Config.Tables)
	for client, n := range b.unknown {
		table := b.Config.ClientTable(client)
		// A delete of unknown outcome may have happened: fewer rows are right too.
		unknown[table] += n.inserted + n.deleted
		want[table].Rows -= n.deleted
	}
	for i := range want {
		name := TableName(i)
		one, err := verifyTable(ctx, b.DB, name, want[i], unknown[i], b.Config.Verify)
		if err != nil && !errors.Is(err, ErrVerify) {
			return err
		}
		t.want.Add(want[i])
		t.found.Add(one.Found)
		switch {
		case one.KeepsNothing:
			t.verify.Note = "the engine keeps nothing; verified as empty"
		case one.Difference != "":
			t.differ(name, "%s", one.Difference)
		case unknown[i] > 0:
			t.verify.Note = fmt.Sprintf("%d rows are of unknown outcome; only the count was bounded", unknown[i])
		default:
			if err := t.compareKeys(ctx, i, one.Found.Rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareKeys looks at the ends of the primary key and at the indexes.
func (t *contents) compareKeys(ctx context.Context, table int, rows int64) error {
	b, name := t.bench, TableName(table)
	db, ok := b.DB.(Reader)
	if !ok {
		return nil
	}
	x, err := db.Extent(ctx, name)
	if err != nil {
		return err
	}
	if p, alone := b.State.alone(b.Config, table); alone && rows > 0 {
		if x.Lowest != p.Deleted {
			t.differ(name, "the smallest key is that of row %d, where rows up to %d were deleted", x.Lowest, p.Deleted)
		}
		if x.Highest != p.Inserted-1 {
			t.differ(name, "the largest key is that of row %d, where row %d was the last one inserted", x.Highest, p.Inserted-1)
		}
	}
	for i, index := range Indexes {
		if has := slices.Contains(x.Indexes, index.Name); has != (i < b.State.Indexes) {
			t.differ(name, "it has index %s: %v, where %v is expected", index.Name, has, !has)
		}
	}
	if b.Config.Verify != VerifyFull {
		return nil
	}
	return t.compareIndexes(ctx, db, name, x, rows)
}

// compareIndexes counts the entries of each index that there is.
func (t *contents) compareIndexes(ctx context.Context, db Reader, name string, x Extent, rows int64) (err error) {
	scanner, err := db.OpenScanner(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scanner.Close()) }()
	defer context.AfterFunc(ctx, scanner.Abort)()
	for i, index := range Indexes {
		if !slices.Contains(x.Indexes, index.Name) {
			continue
		}
		n, err := scanner.Scan(ctx, i)
		if err != nil {
			return fmt.Errorf("count the entries of index %s of %s: %w", index.Name, name, err)
		}
		if n != rows {
			t.differ(name, "index %s has %d entries, where the table has %d rows", index.Name, n, rows)
		}
	}
	return nil
}

// alone gives the position of a table's client, where it has one alone.
func (s State) alone(c Config, table int) (Position, bool) {
	if c.Clients != c.Tables {
		return Position{}, false
	}
	return s.Clients[table], true
}

// Attach finds out what the tables hold, so that steps can go on from there.
// It reads the tables once. A table with one client tells by its keys which of
// the client's rows it holds; clients that share a table are taken to have
// inserted equal shares, as a load has them do. Tables for which that can't be
// are refused, with errors of kind drivers.ErrConfig; whether the rows are
// those of the seed is for Verify to say.
func (b *Bench) Attach(ctx context.Context) error {
	db, err := b.reader()
	if err != nil {
		return err
	}
	c := b.Config
	existing, err := c.existingTables(ctx, b.DB)
	if err != nil {
		return err
	}
	if len(existing) < c.Tables {
		there := "there is none"
		if len(existing) > 0 {
			there = "there is only " + strings.Join(existing, ", ")
		}
		return drivers.Configf("of %d tables of the benchmark %s: make them with ibench load --tables=%[1]d", c.Tables, there)
	}
	extents := make([]Extent, c.Tables)
	var total int64
	for i := range extents {
		if extents[i], err = db.Extent(ctx, TableName(i)); err != nil {
			return err
		}
		if extents[i].Rows == 0 && !b.keepsNothing() {
			return drivers.Configf("table %s holds no rows: fill it with ibench load", TableName(i))
		}
		total += extents[i].Rows
	}
	state := State{Clients: make([]Position, c.Clients)}
	if state.Indexes, err = indexCount(extents); err != nil {
		return err
	}
	if c.Clients == c.Tables {
		for i, x := range extents {
			p := Position{Deleted: x.Lowest, Inserted: x.Highest + 1}
			if x.Rows == 0 {
				p = Position{} // an engine that keeps nothing
			}
			if p.Inserted-p.Deleted != x.Rows {
				return drivers.Configf("table %s holds %d rows with keys of rows %d to %d: the keys have gaps, so which rows of the stream they are can't be told; load it again with ibench load --drop", TableName(i), x.Rows, x.Lowest, x.Highest)
			}
			state.Clients[i] = p
		}
	} else if err := state.share(c, total, extents); err != nil {
		return err
	}
	b.State, b.unknown = state, make([]unknownRows, c.Clients)
	return nil
}

// share splits the rows over clients as a load does, and refuses tables that
// don't hold what follows from it.
func (s *State) share(c Config, total int64, extents []Extent) error {
	c.Rows = total
	rows := make([]int64, c.Tables)
	for client := range s.Clients {
		s.Clients[client].Inserted = c.ClientRows(client)
		rows[c.ClientTable(client)] += c.ClientRows(client)
	}
	for i, x := range extents {
		if x.Rows != rows[i] {
			return drivers.Configf("table %s holds %d rows, where %d clients with equal shares of %d rows would have put %d: the clients' shares can't be told; go on from a record with --resume, or give the --clients and --tables of the load", TableName(i), x.Rows, c.Clients, total, rows[i])
		}
	}
	return nil
}

// indexCount is how many of Indexes all tables have.
func indexCount(extents []Extent) (int, error) {
	count := -1
	for i, x := range extents {
		n := 0
		for _, index := range Indexes {
			if !slices.Contains(x.Indexes, index.Name) {
				break
			}
			n++
		}
		if n != len(x.Indexes) || count >= 0 && n != count {
			return 0, drivers.Configf("table %s has indexes %v: the benchmark's tables all have the same, the first n of marketsegment, registersegment, pdc; load it again with ibench load --drop", TableName(i), x.Indexes)
		}
		count = n
	}
	return count, nil
}
