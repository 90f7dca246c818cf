package cli

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// ParseCount reads a whole number of things with an optional k, m, g or b
// (thousand, million, and both of the last billion, in decimal), as in 250m.
// Underscores between digits are allowed.
func ParseCount(text string) (int64, error) {
	number, scale := text, uint64(1)
	if n := len(text); n > 0 {
		switch text[n-1] | 0x20 {
		case 'k':
			number, scale = text[:n-1], 1_000
		case 'm':
			number, scale = text[:n-1], 1_000_000
		case 'g', 'b':
			number, scale = text[:n-1], 1_000_000_000
		}
	}
	digits, negative := strings.CutPrefix(number, "-")
	between := !strings.HasPrefix(digits, "_") && !strings.HasSuffix(digits, "_") && !strings.Contains(digits, "__")
	v, err := strconv.ParseUint(strings.ReplaceAll(digits, "_", ""), 10, 63)
	if err != nil || !between {
		return 0, fmt.Errorf("%q is not a count: write a whole number, as 1000000, 10m or 250k", text)
	}
	hi, lo := bits.Mul64(v, scale)
	if hi != 0 || lo > 1<<63-1 {
		return 0, fmt.Errorf("%q is more than 64 bits hold", text)
	}
	if negative {
		return -int64(lo), nil
	}
	return int64(lo), nil
}

// ParseBytes reads a size in bytes with an optional k, m, g or t, each 1,024
// times the one before.
func ParseBytes(text string) (int64, error) {
	number, shift := text, 0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("kmgt", text[n-1]|0x20); i >= 0 {
			number, shift = text[:n-1], 10*(i+1)
		}
	}
	v, err := strconv.ParseUint(number, 10, 63)
	if err != nil || v > (1<<63-1)>>shift {
		return 0, fmt.Errorf("%q is no size in bytes: write a whole number, as 1048576, 512m or 4g", text)
	}
	return int64(v << shift), nil
}

// countValue is a flag whose value ParseCount reads.
type countValue struct{ n *int64 }

func (v countValue) Set(text string) error {
	n, err := ParseCount(text)
	if err != nil {
		return err
	}
	*v.n = n
	return nil
}

func (v countValue) String() string {
	if v.n == nil {
		return ""
	}
	return strconv.FormatInt(*v.n, 10)
}
