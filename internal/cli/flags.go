package cli

import (
	"fmt"
	"math"
	"strconv"

	"github.com/urfave/cli/v2"
)

// CountValue is the value of a flag for a number of things, as CountFlag's.
func CountValue(dst *int64) cli.Generic { return countValue{dst} }

// CountFlag is a flag for a number of things, with k, m and g as in 250m. Its
// default is what dst holds.
func CountFlag(name, usage string, dst *int64, category string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: countValue{dst}, DefaultText: strconv.FormatInt(*dst, 10), Category: category}
}

// Int32Flag is a flag for a number that a 32-bit column bounds.
func Int32Flag(name, usage string, dst *int32, category string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: int32Value{dst}, DefaultText: strconv.Itoa(int(*dst)), Category: category}
}

// TextFlag is a flag for a word. Its default is what dst holds.
func TextFlag(name, usage string, dst *string, category string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: usage, Value: *dst, DefaultText: *dst, Destination: dst, Category: category}
}

type int32Value struct{ n *int32 }

func (v int32Value) Set(text string) error {
	n, err := ParseCount(text)
	if err != nil {
		return err
	}
	if n < math.MinInt32 || n > math.MaxInt32 {
		return fmt.Errorf("%d does not fit a 32-bit column", n)
	}
	*v.n = int32(n)
	return nil
}

func (v int32Value) String() string {
	if v.n == nil {
		return ""
	}
	return strconv.Itoa(int(*v.n))
}
