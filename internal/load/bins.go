package load

import (
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// digits keeps every value within 1 %.
	digits = 2
	// halfBits is log2 of the values that a histogram of so many digits tells
	// apart in each power of two: the least power of two above 10^digits.
	halfBits = 7
	// binCount is one more than the bin of maxUS, binOf(3.6e9): of its 32 bits
	// the leading eight are 0xD6 and 24 follow.
	binCount = 24<<halfBits + 0xD6 + 1
)

// NewHistogram is an empty histogram of the geometry that all others here
// have, 27 KB: only equal geometries merge without loss.
func NewHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(minUS, maxUS, digits) }

// bins counts what one worker records between two ticks: the bins of
// NewHistogram in half the memory, and with the range in use, so that a tick
// over many workers and operations walks what was touched and nothing else.
type bins struct {
	// low and high bound what isn't zero, high exclusive.
	low, high int
	counts    [binCount]uint32
}

func newBins() *bins { return &bins{low: binCount} }

// record counts a value from minUS to maxUS.
func (b *bins) record(us int64) {
	i := binOf(us)
	b.counts[i]++
	b.low, b.high = min(b.low, i), max(b.high, i+1)
}

func (b *bins) add(o *bins) {
	for i := o.low; i < o.high; i++ {
		b.counts[i] += o.counts[i]
	}
	b.low, b.high = min(b.low, o.low), max(b.high, o.high)
}

func (b *bins) clear() {
	if b.low < b.high {
		clear(b.counts[b.low:b.high])
	}
	b.low, b.high = binCount, 0
}

// addTo adds the counts to histograms of the same geometry.
func (b *bins) addTo(histograms ...*hdrhistogram.Histogram) {
	for i := b.low; i < b.high; i++ {
		if n := int64(b.counts[i]); n > 0 {
			for _, h := range histograms {
				// Within the geometry, the only error that there is.
				_ = h.RecordValues(leastOf(i), n)
			}
		}
	}
}

// binOf is a value's bin: small values have one each, then each power of two
// is cut in 128.
func binOf(us int64) int {
	shift := max(0, bits.Len64(uint64(us))-halfBits-1)
	return shift<<halfBits + int(us>>shift)
}

// leastOf is the smallest value of a bin.
func leastOf(bin int) int64 {
	shift := max(0, bin>>halfBits-1)
	return int64(bin-shift<<halfBits) << shift
}
