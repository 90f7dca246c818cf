// Package dist holds the probability distributions and the id permutation of LinkBench. Everything here is
// immutable once made, safe for concurrent use, and of constant size whatever the number of ids.
package dist

import (
	"math/bits"

	"insertbench/linkbench/javarand"
)

// Seeds of the three permutations built into the original.
const (
	SeedLinks        = 20343988438726021   // out-degrees, and link accesses correlated with them
	SeedUncorrelated = 53238253823453      // link accesses that are not
	SeedNodes        = 4766565305853767165 // node accesses
)

// Groups is the number of residue classes the original permutes within.
const Groups = 1024

// Shuffler permutes [0,n): ids of one residue class modulo the group count are rotated among themselves by an
// amount drawn for the class. It holds one rotation per group.
//
// The original's group size is a 32-bit int, so it breaks from 2^31 ids on; this one is right for any n.
type Shuffler struct {
	n      int64
	groups int64
	shift  uint // log2 of groups when that's a power of two, else 0
	size   int64
	extra  int64 // the first extra groups have size+1 members
	rot    []int64
}

// NewShuffler returns the permutation of [0,n) of a seed and a number of groups, both at least 1.
func NewShuffler(seed, groups, n int64) *Shuffler {
	n = max(n, 1)
	groups = min(max(groups, 1), n)
	s := &Shuffler{n: n, groups: groups, size: n / groups, extra: n % groups, rot: make([]int64, groups)}
	if groups > 1 && groups&(groups-1) == 0 {
		s.shift = uint(bits.TrailingZeros64(uint64(groups)))
	}
	rng := javarand.New(seed)
	for g := range s.rot {
		s.rot[g] = rng.Int64n(s.size)
	}
	return s
}

// split returns the group of i, its place in the group and the group's size.
func (s *Shuffler) split(i int64) (group, place, size int64) {
	if s.shift > 0 {
		group, place = i&(s.groups-1), i>>s.shift
	} else {
		group, place = i%s.groups, i/s.groups
	}
	size = s.size
	if group < s.extra {
		size++
	}
	return group, place, size
}

// Permute returns the place of i, 0 ≤ i < n.
func (s *Shuffler) Permute(i int64) int64 {
	group, place, size := s.split(i)
	if place += s.rot[group]; place >= size {
		place -= size
	}
	return group + s.groups*place
}

// Invert returns the i whose place is p: Invert(Permute(i)) == i.
func (s *Shuffler) Invert(p int64) int64 {
	group, place, size := s.split(p)
	if place -= s.rot[group]; place < 0 {
		place += size
	}
	return group + s.groups*place
}
