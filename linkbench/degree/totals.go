package degree

import "math"

// Totals is what a load of all ids consists of.
type Totals struct {
	Nodes  int64
	Links  int64
	Counts int64   // count rows: pairs of id and type that have links
	Max    int64   // most links an id has
	ByType []int64 // links of each type
	Sum    int64   // Σ Total, before the division among types
}

// Totals counts without visiting every id: out-degrees take few different values, and each is had by a run of
// ranks or by ids a formula names. Ten million ids take some milliseconds.
func (f *Function) Totals() Totals {
	t := Totals{Nodes: f.Nodes(), ByType: make([]int64, f.types)}
	f.runs(func(total, ids int64) {
		if ids == 0 {
			return
		}
		t.Sum += total * ids
		t.Links += f.Loaded(total) * ids
		t.Counts += f.Present(total) * ids
		t.Max = max(t.Max, total)
		for k := range t.ByType {
			t.ByType[k] += f.Of(total, k) * ids
		}
	})
	return t
}

// Max is a bound on the out-degree of an id; for kinds that fall with rank it is had by one.
func (f *Function) Max() int64 {
	switch f.spec.Kind {
	case Real, Zipf, Uniform:
		return f.bound(f.byRank(0))
	case Reciprocal:
		return max(f.Total(f.start), f.Total(min(f.start+1, f.end-1)))
	case Multiples:
		return f.bound(f.spec.Default + f.spec.Config)
	case Exponential: // the last power below end is at most as far from the one before it
		return f.bound(f.spec.Default + f.end)
	case PerfectSquares: // r^c - (r-1)^c rises with r
		root := math.Ceil(math.Pow(float64(f.end), 1/float64(f.spec.Config)))
		below := math.Pow(max(root-1, 0), float64(f.spec.Config))
		return f.bound(f.spec.Default + int64(max(math.Pow(root, float64(f.spec.Config))-below, 1)))
	}
	return f.bound(f.spec.Default)
}

// runs calls visit with every out-degree and a number of ids that have it; the numbers add up to all ids.
func (f *Function) runs(visit func(total, ids int64)) {
	n := f.Nodes()
	switch f.spec.Kind {
	case Real, Zipf, Uniform:
		falling(0, n, func(r int64) int64 { return f.bound(f.byRank(r)) }, visit)
	case Reciprocal:
		visit(f.Total(f.start), 1)
		falling(f.start+1, f.end, f.Total, visit)
	case Const:
		visit(f.bound(f.spec.Default), n)
	case Multiples:
		m := (f.end-1)/f.spec.Config - (f.start-1)/f.spec.Config
		if m > 0 {
			visit(f.bound(f.spec.Default+f.spec.Config), m)
		}
		visit(f.bound(f.spec.Default), n-m)
	default:
		rest := n
		f.specials(func(id int64) { visit(f.Total(id), 1); rest-- })
		visit(f.bound(f.spec.Default), rest)
	}
}

// falling cuts [from,to) into runs of equal value of a function that never rises.
func falling(from, to int64, value func(int64) int64, visit func(total, ids int64)) {
	for from < to {
		v := value(from)
		same, step := from, int64(1) // value(same) == v
		for same+step < to && value(same+step) == v {
			same += step
			step *= 2
		}
		differs := min(same+step, to)
		for differs-same > 1 {
			if mid := same + (differs-same)/2; value(mid) == v {
				same = mid
			} else {
				differs = mid
			}
		}
		visit(v, differs-from)
		from = differs
	}
}

// specials visits the ids of the range that are powers, ascending.
func (f *Function) specials(visit func(id int64)) {
	c := f.spec.Config
	if f.spec.Kind == Exponential {
		for p := int64(1); p < f.end; p *= c {
			if p >= f.start {
				visit(p)
			}
			if p > math.MaxInt64/c {
				return
			}
		}
		return
	}
	for r := int64(1); ; r++ {
		p := int64(1)
		for range c {
			if p > math.MaxInt64/r {
				return
			}
			p *= r
			if p >= f.end {
				return
			}
		}
		if p >= f.start {
			visit(p)
		}
	}
}
