package ibench

import (
	"errors"
	"fmt"
	"math/bits"
)

// Row is one row as every database gets it. The key is made by the database
// (MongoDB's by its driver, from the same stream).
type Row struct {
	// Client and Number say which row this is: row Number of client Client,
	// both counted from 0.
	Client int
	Number int64
	// Seconds is dateandtime in Unix seconds UTC: 2020-01-01 plus
	// Number ÷ 1,000, whole seconds since SQL's datetime has no finer part.
	Seconds        int64
	CashRegisterID int32
	CustomerID     int32
	ProductID      int32
	Price          int32
	// Data is printable base64 text without quotes or backslashes. The slice
	// belongs to the row and is overwritten when the row is filled again.
	Data []byte
}

// RowSpec is the shape of the values. Ranges are exclusive at the top, as in
// iibench.py: CashRegisterID is uniform in [0, CashRegisters), and so on.
type RowSpec struct {
	CashRegisters int32 `json:"cash_registers"`
	Products      int32 `json:"products"`
	Customers     int32 `json:"customers"`
	MaxPrice      int32 `json:"max_price"`
	// DataLengthMin and DataLengthMax bound the length of data in bytes, both inclusive.
	DataLengthMin int `json:"data_length_min_bytes"`
	DataLengthMax int `json:"data_length_max_bytes"`
	// DataRandomPct is how much of data is random, in percent, before the
	// factor 0.75 that allows for base64: floor(L × 0.75 × pct ÷ 100)
	// characters of L are random, the rest is the letter a.
	DataRandomPct int `json:"data_random_pct"`
}

// maxDataLength is the length of the varchar column that holds data.
const maxDataLength = 4000

// DefaultRowSpec has iibench.py's ranges, and the scripts' data lengths.
func DefaultRowSpec() RowSpec {
	return RowSpec{
		CashRegisters: 1000, Products: 10000, Customers: 100000, MaxPrice: 500,
		DataLengthMin: 10, DataLengthMax: 20, DataRandomPct: 50,
	}
}

// Validate says what is wrong with the ranges, all of it at once.
func (s RowSpec) Validate() error {
	var errs []error
	positive := func(flag string, v int32) {
		if v < 1 {
			errs = append(errs, fmt.Errorf("--%s=%d: it must be 1 or more", flag, v))
		}
	}
	positive("cash-registers", s.CashRegisters)
	positive("products", s.Products)
	positive("customers", s.Customers)
	positive("max-price", s.MaxPrice)
	if s.DataLengthMin < 0 || s.DataLengthMin > s.DataLengthMax {
		errs = append(errs, fmt.Errorf("--data-length-min=%d: it must be 0 or more, and at most --data-length-max=%d", s.DataLengthMin, s.DataLengthMax))
	}
	if s.DataLengthMax > maxDataLength {
		errs = append(errs, fmt.Errorf("--data-length-max=%d: the data column holds at most %d bytes", s.DataLengthMax, maxDataLength))
	}
	if s.DataRandomPct < 0 || s.DataRandomPct > 100 {
		errs = append(errs, fmt.Errorf("--data-random-pct=%d: it must be from 0 to 100", s.DataRandomPct))
	}
	return errors.Join(errs...)
}

const (
	// firstSecond is 2020-01-01 00:00:00 UTC.
	firstSecond = 1577836800
	// rowsPerSecond is how many rows share a second of dateandtime.
	rowsPerSecond = 1000
	base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	// lettersPerDraw is how many 6-bit letters one 64-bit draw gives.
	lettersPerDraw = 10
)

// Rows is the stream of one client's rows. At is a pure function of the seed,
// the client and the row's number; a Rows may be shared by goroutines.
type Rows struct {
	spec   RowSpec
	client int
	key    uint64
}

// NewRows is the row stream of one client, counted from 0.
func NewRows(seed uint64, client int, spec RowSpec) Rows {
	return Rows{spec: spec, client: client, key: streamSeed(seed, roleRows, client)}
}

// RowSeconds is dateandtime of row i of any client, in Unix seconds.
func RowSeconds(i int64) int64 { return firstSecond + i/rowsPerSecond }

// FirstRowOf is the first row whose dateandtime is a Unix second.
func FirstRowOf(second int64) int64 { return (second - firstSecond) * rowsPerSecond }

// At fills row with row i, counted from 0; row.Data is reused. Draws are made
// in iibench.py's order: cash register, product, customer, price, length,
// random letters. The original cuts the letters from one random buffer of
// 4 MiB that its seed doesn't cover; here they are drawn from the row's own
// stream, so that a row can be made again from its number alone.
func (r *Rows) At(i int64, row *Row) {
	g := splitMix64{state: mix64(r.key + uint64(i)*gamma)}
	row.Client = r.client
	row.Number = i
	row.Seconds = RowSeconds(i)
	row.CashRegisterID = int32(g.below(uint64(r.spec.CashRegisters)))
	row.ProductID = int32(g.below(uint64(r.spec.Products)))
	row.CustomerID = int32(g.below(uint64(r.spec.Customers)))
	row.Price = int32(g.below(uint64(r.spec.MaxPrice)))
	length := r.spec.DataLengthMin + int(g.below(uint64(r.spec.DataLengthMax-r.spec.DataLengthMin+1)))
	row.Data = fillData(row.Data[:0], length, r.spec.randomLetters(length), &g)
}

// randomLetters is floor(length × 0.75 × pct ÷ 100), in integers.
func (s RowSpec) randomLetters(length int) int { return length * 3 * s.DataRandomPct / 400 }

const fill = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// fillData appends length-random letters a, then random letters.
func fillData(dst []byte, length, random int, g *splitMix64) []byte {
	for plain := length - random; plain > 0; plain -= len(fill) {
		dst = append(dst, fill[:min(plain, len(fill))]...)
	}
	for random > 0 {
		bits := g.next()
		for n := min(random, lettersPerDraw); n > 0; n-- {
			dst = append(dst, base64Letters[bits>>58])
			bits <<= 6
			random--
		}
	}
	return dst
}

// role keeps the streams of one client apart.
type role uint64

const (
	roleRows    role = 1
	roleQueries role = 2
	rolePacing  role = 3
)

// streamSeed is the seed of one client's stream in one role: mix(seed, role,
// client) of the design.
func streamSeed(seed uint64, r role, client int) uint64 {
	return mix64(mix64(mix64(seed)+uint64(r)*gamma) + uint64(client+1)*gamma)
}

// splitMix64 is the generator of Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators" (OOPSLA 2014), in Vigna's public-domain
// form. A row's state is reached in one step, whatever its number.
type splitMix64 struct{ state uint64 }

// gamma is the golden ratio in 64 bits, made odd.
const gamma = 0x9e3779b97f4a7c15

func (g *splitMix64) next() uint64 {
	g.state += gamma
	return mix64(g.state)
}

// below is uniform in [0, n) by Lemire's multiplication; the bias is at most
// n ÷ 2^64.
func (g *splitMix64) below(n uint64) uint64 {
	hi, _ := bits.Mul64(g.next(), n)
	return hi
}

func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
