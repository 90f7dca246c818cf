package load

import (
	"testing"
	"testing/quick"
)

func TestBinsAreTheHistograms(t *testing.T) {
	// Whatever is recorded, bins give the histogram that recording it
	// directly gives.
	same := func(values []uint32, shifts []uint8) bool {
		direct, binned := NewHistogram(), NewHistogram()
		a, b := newBins(), newBins()
		for i, v := range values {
			if len(shifts) > 0 {
				v >>= shifts[i%len(shifts)] % 32
			}
			us := min(max(int64(v), minUS), maxUS)
			if direct.RecordValue(us) != nil {
				return false
			}
			if i%2 == 0 {
				a.record(us)
			} else {
				b.record(us)
			}
		}
		a.add(b)
		a.addTo(binned)
		a.clear()
		return direct.Equals(binned) && *a == *newBins()
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 1_000}); err != nil {
		t.Error(err)
	}
}

func TestBinsCoverTheRange(t *testing.T) {
	for bin := 1; bin < binCount; bin++ {
		least := leastOf(bin)
		if binOf(least) != bin || binOf(least-1) != bin-1 {
			t.Fatalf("bin %d begins at %d, which is in bin %d after %d", bin, least, binOf(least), binOf(least-1))
		}
	}
	// 255 and below have a bin each; 256 and 257 share one.
	for us, want := range map[int64]int{1: 1, 255: 255, 256: 256, 257: 256, 258: 257, 511: 383, 512: 384, maxUS: binCount - 1} {
		if got := binOf(us); got != want {
			t.Errorf("%d µs are in bin %d, want %d", us, got, want)
		}
	}
}
