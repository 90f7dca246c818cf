package cli

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestParseCount(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int64
	}{
		{"0", 0}, {"1", 1}, {"007", 7}, {"-1", -1}, {"-0", 0}, {"-3k", -3000},
		{"250k", 250_000}, {"10m", 10_000_000}, {"10M", 10_000_000}, {"2g", 2_000_000_000}, {"2B", 2_000_000_000},
		{"1_000_000", 1_000_000}, {"1_0k", 10_000},
		{"9223372036854775807", math.MaxInt64}, {"-9223372036854775807", -math.MaxInt64},
		{"9223372036854775k", 9_223_372_036_854_775_000}, {"9223372036g", 9_223_372_036_000_000_000},
	} {
		if got, err := ParseCount(tc.text); err != nil || got != tc.want {
			t.Errorf("%q: want %d, got %d, %v", tc.text, tc.want, got, err)
		}
	}
	for _, text := range []string{
		"", " ", "-", "+1", "--1", "k", "-k", "1x", "1kk", "1 k", " 1", "1e6", "1.5m", "0x10", "1,000", "_", "_1", "1_", "1__0", "_k", "١", "1\x00",
		"9223372036854775808", "-9223372036854775808", "9223372036854776k", "9223372037g", "99999999999999999999999m",
	} {
		if got, err := ParseCount(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		} else if !strings.Contains(err.Error(), "\"") {
			t.Errorf("%q: the message doesn't show it: %v", text, err)
		}
	}
}

// FuzzParseCount compares with big integers, which don't overflow.
func FuzzParseCount(f *testing.F) {
	for _, text := range []string{"0", "250m", "-1", "1_000", "9223372036854775807", "9223372037g", "k", "1x"} {
		f.Add(text)
	}
	scales := map[byte]int64{'k': 1e3, 'm': 1e6, 'g': 1e9, 'b': 1e9}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseCount(text)
		if err != nil {
			return
		}
		number, scale := text, int64(1)
		if s, ok := scales[strings.ToLower(text)[len(text)-1]]; ok {
			number, scale = text[:len(text)-1], s
		}
		want, ok := new(big.Int).SetString(strings.ReplaceAll(number, "_", ""), 10)
		if !ok {
			t.Fatalf("%q is taken for %d", text, got)
		}
		if want.Mul(want, big.NewInt(scale)); want.Cmp(big.NewInt(got)) != 0 {
			t.Fatalf("%q: want %s, got %d", text, want, got)
		}
	})
}

func TestParseBytes(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int64
	}{
		{"0", 0}, {"1048576", 1 << 20}, {"1k", 1 << 10}, {"512m", 512 << 20}, {"4G", 4 << 30}, {"1t", 1 << 40},
		{"8388607t", 8388607 << 40}, {"9223372036854775807", math.MaxInt64},
	} {
		if got, err := ParseBytes(tc.text); err != nil || got != tc.want {
			t.Errorf("%q: want %d, got %d, %v", tc.text, tc.want, got, err)
		}
	}
	for _, text := range []string{"", "-1", "k", "1kb", "1.5g", " 1", "1_0", "8388608t", "9223372036854775808", "1\v"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}

func FuzzParseBytes(f *testing.F) {
	for _, text := range []string{"0", "512m", "8388608t", "k"} {
		f.Add(text)
	}
	scales := map[byte]int64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseBytes(text)
		if err != nil {
			return
		}
		number, scale := text, int64(1)
		if s, ok := scales[strings.ToLower(text)[len(text)-1]]; ok {
			number, scale = text[:len(text)-1], s
		}
		want, ok := new(big.Int).SetString(number, 10)
		if !ok {
			t.Fatalf("%q is taken for %d", text, got)
		}
		if want.Mul(want, big.NewInt(scale)); want.Cmp(big.NewInt(got)) != 0 {
			t.Fatalf("%q: want %s, got %d", text, want, got)
		}
	})
}
