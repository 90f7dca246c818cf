package javarand

import (
	"crypto/sha1"
	"encoding/binary"
)

// Master is Java's SHA1PRNG seeded with the eight big-endian bytes of a seed. LinkBench draws the seeds of its
// nodes, links and requesters from it.
type Master struct {
	state [sha1.Size]byte
	block [sha1.Size]byte
	used  int // bytes of block already handed out
}

// NewMaster returns the master stream of a seed.
func NewMaster(seed int64) *Master {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(seed))
	return &Master{state: sha1.Sum(b[:]), used: sha1.Size}
}

// Int64 is nextLong(): two signed big-endian halves of four bytes each, added.
func (m *Master) Int64() int64 {
	hi := int64(m.int32()) << 32
	return hi + int64(m.int32())
}

func (m *Master) int32() int32 {
	var b [4]byte
	for i := range b {
		if m.used == len(m.block) {
			m.refill()
		}
		b[i] = m.block[m.used]
		m.used++
	}
	return int32(binary.BigEndian.Uint32(b[:]))
}

// refill hashes the state into the next block and adds that block plus one to the state, bytes taken as signed.
func (m *Master) refill() {
	m.block = sha1.Sum(m.state[:])
	m.used = 0
	carry, changed := 1, false
	for i, s := range m.state {
		v := int(int8(s)) + int(int8(m.block[i])) + carry
		m.state[i] = byte(v)
		changed = changed || m.state[i] != s
		carry = v >> 8
	}
	if !changed {
		m.state[0]++
	}
}
