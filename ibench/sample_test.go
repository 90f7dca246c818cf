package ibench

import (
	"errors"
	"slices"
	"testing"
)

// Of rows 0 to 999 of client 0, rows 100 to 899 are there for sure and rows 50
// to 949 may be.
func TestSamplesAreChecked(t *testing.T) {
	c := DefaultConfig()
	c.Products = 30
	rows := NewRows(c.Seed, 0, c.RowSpec)
	sure, maybe := Position{Deleted: 100, Inserted: 900}, Position{Deleted: 50, Inserted: 950}
	answer := func(from int64, limit int, p Position, index int) sample {
		x := sample{index: index, from: from, limit: limit, clients: []int{0}, sure: []Position{sure}, maybe: []Position{maybe}}
		var row Row
		for n := p.Deleted; n < p.Inserted; n++ {
			rows.At(n, &row)
			if e := entryOf(&row, index); e[0] >= from {
				x.entries = append(x.entries, e)
			}
		}
		slices.SortFunc(x.entries, func(a, b Entry) int { return slices.Compare(a[:], b[:]) })
		x.entries = x.entries[:min(limit, len(x.entries))]
		return x
	}
	var right []sample
	for index := range Indexes {
		for _, p := range []Position{sure, maybe, {Deleted: 70, Inserted: 901}} {
			right = append(right, answer(7, 10, p, index), answer(0, 2000, p, index), answer(1<<30, 10, p, index))
		}
	}
	if err := checkSamples(c, right); err != nil {
		t.Errorf("answers that are right gave %v", err)
	}
	wrong := map[string]sample{
		"a row of the past":       answer(0, 2000, Position{Deleted: 49, Inserted: 950}, 0),
		"a row of the future":     answer(0, 2000, Position{Deleted: 50, Inserted: 951}, 1),
		"a row is missing":        answer(0, 2000, Position{Deleted: 101, Inserted: 900}, 2),
		"the last row is missing": answer(0, 2000, Position{Deleted: 100, Inserted: 899}, 0),
	}
	swapped := answer(7, 10, sure, 0)
	swapped.entries[3][2]++
	wrong["a value is another"] = swapped
	gap := answer(7, 10, sure, 0)
	gap.entries = append(gap.entries[:2], answer(7, 11, sure, 0).entries[3:]...)
	wrong["an entry is skipped"] = gap
	for name, x := range wrong {
		if err := checkSamples(c, []sample{x}); !errors.Is(err, ErrVerify) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// TestSamplerIsBounded: whatever is offered, no more is kept.
func TestSamplerIsBounded(t *testing.T) {
	s := sampler{size: 4}
	g := splitMix64{state: 1}
	for n := range 10_000 {
		s.offer(&g, &readTask{from: int64(n), rows: 10}, n%2 == 1)
	}
	if len(s.all()) != 5 || s.short.from != 1 {
		t.Errorf("%d samples were kept, the short one from %d, want 5 and 1", len(s.all()), s.short.from)
	}
}
