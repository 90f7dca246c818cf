package mongo

import (
	"encoding/binary"
	"fmt"

	"insertbench/ibench"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"
)

// keyBytes writes the _id of a client's row as a BSON value.
func keyBytes(dst []byte, kind IDKind, client int, number int64) []byte {
	if kind == Int64 {
		return binary.LittleEndian.AppendUint64(dst, uint64(client)<<40|uint64(number))
	}
	var id [12]byte
	putObjectID(id[:], &ibench.Row{Client: client, Number: number, Seconds: ibench.RowSeconds(number)})
	return append(dst, id[:]...)
}

// keyType is the BSON type of such a value.
func keyType(kind IDKind) byte {
	if kind == Int64 {
		return typeInt64
	}
	return typeObjectID
}

// key is such a value for a command that isn't built in a buffer.
func key(kind IDKind, client int, number int64) bson.RawValue {
	return bson.RawValue{Type: bsontype.Type(keyType(kind)), Value: keyBytes(nil, kind, client, number)}
}

// keyOf is the client and the row that an _id was made of. An ObjectId has the
// row's second and the low 24 bits of its number: with fewer than 2^24 rows a
// second they give all of it.
func keyOf(id bson.RawValue) (client int, number int64, err error) {
	switch {
	case id.Type == bson.TypeInt64 && len(id.Value) == 8:
		v := binary.LittleEndian.Uint64(id.Value)
		return int(v >> 40), int64(v & (1<<40 - 1)), nil
	case id.Type == bson.TypeObjectID && len(id.Value) == 12:
		b := id.Value
		first := ibench.FirstRowOf(int64(binary.BigEndian.Uint32(b)))
		low := int64(b[9])<<16 | int64(b[10])<<8 | int64(b[11])
		client := int(b[4])<<32 | int(binary.BigEndian.Uint32(b[5:]))
		return client, first + (low-first)&(1<<24-1), nil
	default:
		return 0, 0, fmt.Errorf("_id %s isn't of the benchmark's making", id)
	}
}

// keyBits is how many bits of a row's number an ObjectId has.
const keyBits = 24

// turn is the second in which an ObjectId's bits of the number begin anew
// between two of its rows, as they do every 2^24 rows: from first to at-1
// their keys are the larger ones, from at to last the smaller ones.
type turn struct{ first, at, last int64 }

// turnOf is the turn nearest below or at a row's second; false where the bits
// begin anew with a second, or haven't yet.
func turnOf(number int64) (turn, bool) {
	next := ibench.FirstRowOf(ibench.RowSeconds(number) + 1) // the second's rows end before it
	at := (next - 1) >> keyBits << keyBits
	first := ibench.FirstRowOf(ibench.RowSeconds(at))
	return turn{first: first, at: at, last: ibench.FirstRowOf(ibench.RowSeconds(at)+1) - 1}, at > 0 && first != at
}

// isIn is whether a row's second is the turn's.
func (t turn) isIn(number int64) bool { return number >= t.first && number <= t.last }

// pieces cuts rows from to to-1 into ranges of which each is a range of keys.
func pieces(kind IDKind, from, to int64) [][2]int64 {
	t, turns := turnOf(to - 1)
	if kind == Int64 || !turns || t.last < from {
		return [][2]int64{{from, to}}
	}
	var out [][2]int64
	for _, cut := range []int64{t.first, t.at, t.last + 1} {
		if from < cut && cut < to {
			out = append(out, [2]int64{from, cut})
			from = cut
		}
	}
	return append(out, [2]int64{from, to})
}
