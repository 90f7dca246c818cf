package ibench

import (
	"fmt"
	"slices"
)

// samplesPerStep is about how many range queries of a step are compared with
// what the seed says that they had to return.
const samplesPerStep = 64

// sample is a range query and its answer.
type sample struct {
	index   int
	from    int64
	entries []Entry
	limit   int
	// sure has, for each client of the table, the rows that were there all
	// the time that the query took; maybe those that were at any time of it.
	sure, maybe []Position
	clients     []int
}

// sampler keeps a uniform sample of a reader's range queries (Vitter's
// algorithm R), and the first whose answer was shorter than its limit.
type sampler struct {
	size  int
	seen  int64
	kept  []sample
	short *sample
}

// offer may keep the query that the reader has just had answered.
func (s *sampler) offer(g *splitMix64, t *readTask, short bool) {
	s.seen++
	at := len(s.kept)
	if at >= s.size {
		at = int(g.below(uint64(s.seen)))
	}
	takeShort := short && s.short == nil
	if at >= s.size && !takeShort {
		return
	}
	x := sample{index: t.index, from: t.from, limit: t.rows, entries: slices.Clone(t.entries)}
	for i, stream := range t.streams {
		before := t.before[i]
		x.clients = append(x.clients, stream.client)
		x.sure = append(x.sure, Position{Deleted: stream.deleting.Load(), Inserted: before.Inserted})
		x.maybe = append(x.maybe, Position{Deleted: before.Deleted, Inserted: stream.sent.Load()})
	}
	if takeShort {
		s.short = &x
	}
	switch {
	case at < len(s.kept):
		s.kept[at] = x
	case at < s.size:
		s.kept = append(s.kept, x)
	}
}

func (s *sampler) all() []sample {
	if s.short != nil {
		return append(slices.Clone(s.kept), *s.short)
	}
	return s.kept
}

// tally counts, for one sample, the rows that have each entry.
type tally struct {
	*sample
	last        Entry
	sure, maybe map[Entry]int
}

// covers is whether an entry lies where the answer says something: from the
// beginning to the last entry, or to the end where the answer is short.
func (y *tally) covers(e Entry) bool {
	return e[0] >= y.from && (len(y.entries) < y.limit || slices.Compare(e[:], y.last[:]) <= 0)
}

// checkSamples makes every row that may have been there again from the seed
// and compares the answers with them.
func checkSamples(c Config, samples []sample) error {
	tallies := make([]*tally, len(samples))
	span := map[int]Position{}
	for i := range samples {
		x := &samples[i]
		tallies[i] = &tally{sample: x, sure: map[Entry]int{}, maybe: map[Entry]int{}}
		if len(x.entries) > 0 {
			tallies[i].last = x.entries[len(x.entries)-1]
		}
		for k, client := range x.clients {
			p, seen := span[client]
			if !seen {
				p = x.maybe[k]
			}
			span[client] = Position{min(p.Deleted, x.maybe[k].Deleted), max(p.Inserted, x.maybe[k].Inserted)}
		}
	}
	for client, p := range span {
		tallyRows(NewRows(c.Seed, client, c.RowSpec), client, p, tallies)
	}
	for _, y := range tallies {
		if err := y.check(); err != nil {
			return fmt.Errorf("%w: %w", ErrVerify, err)
		}
	}
	return nil
}

// tallyRows counts the rows of one client.
func tallyRows(rows Rows, client int, p Position, tallies []*tally) {
	type mine struct {
		*tally
		sure, maybe Position
	}
	var of []mine
	for _, y := range tallies {
		if k := slices.Index(y.clients, client); k >= 0 {
			of = append(of, mine{y, y.sample.sure[k], y.sample.maybe[k]})
		}
	}
	var row Row
	for n := p.Deleted; n < p.Inserted; n++ {
		rows.At(n, &row)
		entries := [...]Entry{entryOf(&row, 0), entryOf(&row, 1), entryOf(&row, 2)}
		for _, y := range of {
			e := entries[y.index]
			if n < y.maybe.Deleted || n >= y.maybe.Inserted || !y.covers(e) {
				continue
			}
			y.tally.maybe[e]++
			if n >= y.sure.Deleted && n < y.sure.Inserted {
				y.tally.sure[e]++
			}
		}
	}
}

// check says what is wrong with an answer.
func (y *tally) check() error {
	got := map[Entry]int{}
	for _, e := range y.entries {
		got[e]++
	}
	name := Indexes[y.index].Name
	for e, n := range got {
		if n > y.maybe[e] {
			return fmt.Errorf("a query of %s from %d returned entry %v %d times, where %d rows have it", name, y.from, e, n, y.maybe[e])
		}
	}
	for e, n := range y.sure {
		whole := len(y.entries) < y.limit || slices.Compare(e[:], y.last[:]) < 0
		if whole && got[e] < n {
			return fmt.Errorf("a query of %s from %d returned entry %v %d times, where %d rows have it", name, y.from, e, got[e], n)
		}
	}
	return nil
}
