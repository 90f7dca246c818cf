package load

import (
	"math"
	"math/big"
	"testing"
	"testing/quick"
	"time"
)

func TestConstantTimes(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		p    Constant
		n    int64
		want time.Duration
	}{
		{"first", Constant{1_000, 100}, 0, 0},
		// 100 rows at 1,000/s are a tenth of a second.
		{"second", Constant{1_000, 100}, 1, 100 * ms},
		{"hour", Constant{1_000, 100}, 36_000, time.Hour},
		// 100 rows at 250/s: 0.4 s apart, two and a half a second.
		{"no multiple 1", Constant{250, 100}, 1, 400 * ms},
		{"no multiple 2", Constant{250, 100}, 2, 800 * ms},
		{"no multiple 3", Constant{250, 100}, 3, 1_200 * ms},
		{"no multiple 5", Constant{250, 100}, 5, 2 * time.Second},
		// A third of a second is cut to nanoseconds, three make a whole one.
		{"third", Constant{3, 1}, 1, 333_333_333},
		{"two thirds", Constant{3, 1}, 2, 666_666_666},
		{"three thirds", Constant{3, 1}, 3, time.Second},
		{"no drift", Constant{3, 1}, 3 * 86_400 * 365, 365 * 24 * time.Hour},
		// A batch above the rate: one statement of 100 rows in 100 s.
		{"slow", Constant{1, 100}, 1, 100 * time.Second},
		// One of 16 workers that share 10 a second: 1.6 s apart.
		{"share", Constant{10, 16}, 3, 4_800 * ms},
		// 10^18 × 1,000 is above 2^64 and 10^21 × 10^9 above 2^96: 10^21 ÷ 10^13 = 10^8 s.
		{"128 bits", Constant{10_000_000_000_000, 1_000}, 1_000_000_000_000_000_000, 100_000_000 * time.Second},
		// 2^62 × 4 = 2^64 units at 2^62 a second are 4 s.
		{"2^64 units", Constant{1 << 62, 4}, 1 << 62, 4 * time.Second},
		// 292 years are 9,223,372,036 s and a part of one.
		{"just held", Constant{1, 1}, 9_223_372_035, 9_223_372_035 * time.Second},
		{"beyond", Constant{1, 1}, 9_223_372_037, never},
		{"far beyond", Constant{1, math.MaxInt64}, math.MaxInt64, never},
	} {
		if got := c.p.Start(c.n); got != c.want {
			t.Errorf("%s: %+v.Start(%d) = %d, want %d", c.name, c.p, c.n, got, c.want)
		}
	}
}

func TestConstantEverySecondIsAlike(t *testing.T) {
	// 1,000 rows a second in batches of 100 are ten operations in every
	// second; 250 a second five in every two. The first ones are no exception.
	for _, c := range []struct {
		p      Constant
		window time.Duration
		want   int
	}{
		{Constant{1_000, 100}, time.Second, 10},
		{Constant{250, 100}, 2 * time.Second, 5},
		{Constant{7, 3}, 3 * time.Second, 7},
	} {
		counts := map[time.Duration]int{}
		for n := int64(0); ; n++ {
			window := c.p.Start(n) / c.window
			if window == 100 {
				break
			}
			counts[window]++
		}
		for w := range time.Duration(100) {
			if counts[w] != c.want {
				t.Errorf("%+v: %d operations in window %d, want %d", c.p, counts[w], w, c.want)
			}
		}
	}
}

// constants maps any numbers to a pacer that its contract allows.
func constants(rate, batch uint64) Constant {
	return Constant{PerSecond: int64(rate>>1) | 1, Batch: int64(batch>>1) | 1}
}

func TestConstantIsExact(t *testing.T) {
	exact := func(rate, batch, n uint64, rateBits, batchBits, nBits uint8) bool {
		p := constants(rate>>(rateBits%63), batch>>(batchBits%63))
		n = n >> 1 >> (nBits % 63)
		want := new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(p.Batch))
		want.Mul(want, big.NewInt(int64(time.Second)))
		want.Div(want, big.NewInt(p.PerSecond))
		got := p.Start(int64(n))
		if limit := big.NewInt(9_223_372_036 * int64(time.Second)); want.Cmp(limit) >= 0 {
			return got == never
		}
		return want.Cmp(big.NewInt(int64(got))) == 0
	}
	if err := quick.Check(exact, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}

func TestConstantIsNeverAheadNorBehind(t *testing.T) {
	// At each start, what is due before it is the rate times the time: less
	// than one nanosecond's worth above it, however the rate and batch divide.
	keeps := func(rate uint16, batch uint8, n uint32) bool {
		p := Constant{PerSecond: int64(rate) + 1, Batch: int64(batch) + 1}
		at := p.Start(int64(n))
		if at == never {
			return float64(n)*float64(p.Batch)/float64(p.PerSecond) > 9e9
		}
		due, ideal := float64(n)*float64(p.Batch), float64(p.PerSecond)*at.Seconds()
		return due-ideal <= float64(p.PerSecond)*1.01e-9+due*4e-15 && due-ideal >= -due*4e-15 &&
			p.Start(int64(n)+1) >= at
	}
	if err := quick.Check(keeps, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}

func TestRampTimes(t *testing.T) {
	const s = time.Second
	up, down := Ramp{0, 100, 10 * s, 1}, Ramp{100, 0, 10 * s, 1}
	for _, c := range []struct {
		name string
		p    Ramp
		n    int64
		want time.Duration
	}{
		// From 0 to 100 a second in 10 s: 5t² operations by t, 500 on the ramp.
		{"up 0", up, 0, 0},
		{"up 5", up, 5, 1 * s},
		{"up 20", up, 20, 2 * s},
		{"up 320", up, 320, 8 * s},
		{"up end", up, 500, 10 * s},
		{"up after", up, 600, 11 * s},
		{"up a day after", up, 500 + 100*86_400, 10*s + 24*time.Hour},
		// From 100 to 0: 100t − 5t².
		{"down 95", down, 95, 1 * s},
		{"down 375", down, 375, 5 * s},
		{"down 495", down, 495, 9 * s},
		{"down end", down, 500, 10 * s},
		{"down over", down, 501, never},
		// 1,000 to 3,000 in 4 s by batches of 100: 1,000t + 250t² rows; 12 s
		// after the ramp's 8,000 rows at 3,000 a second are 44,000.
		{"batch 1,250", Ramp{1_000, 3_000, 4 * s, 50}, 25, 1 * s},
		{"batch 3,000", Ramp{1_000, 3_000, 4 * s, 100}, 30, 2 * s},
		{"batch after", Ramp{1_000, 3_000, 4 * s, 100}, 440, 16 * s},
		{"level", Ramp{50, 50, 10 * s, 1}, 25, 500 * time.Millisecond},
		{"no length", Ramp{1, 50, 0, 1}, 100, 2 * s},
		{"nothing", Ramp{0, 0, s, 1}, 1, never},
	} {
		got := c.p.Start(c.n)
		if off := got - c.want; off < -1 || off > 0 {
			t.Errorf("%s: Start(%d) = %v, want %v or a nanosecond less", c.name, c.n, got, c.want)
		}
	}
}

func TestRampSumsUp(t *testing.T) {
	// The integral of the rate up to an operation's start is what comes before it.
	sums := func(from, to uint16, seconds uint8, batch uint8, n uint32) bool {
		p := Ramp{int64(from), int64(to), time.Duration(seconds) * time.Second, int64(batch) + 1}
		at := p.Start(int64(n))
		if at == never {
			return to == 0 || float64(n)*float64(p.Batch)/float64(to) > 9e9
		}
		x := min(at.Seconds(), float64(seconds))
		f, g := float64(from), float64(to)
		units := g * (at.Seconds() - x)
		if x > 0 {
			units += f*x + (g-f)*x*x/2/float64(seconds)
		}
		want := float64(n) * float64(p.Batch)
		return math.Abs(units-want) <= 2e-9*max(f, g)+1e-12*want && p.Start(int64(n)+1) >= at
	}
	if err := quick.Check(sums, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}
