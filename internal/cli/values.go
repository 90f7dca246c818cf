package cli

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/urfave/cli/v2"
)

// settleDefaults has the help say each default once: in the words of the usage
// where it ends in "(default: …)", and not at all for a switch that is off.
func settleDefaults(flags []cli.Flag) {
	for _, flag := range flags {
		switch f := flag.(type) {
		case *cli.BoolFlag:
			f.DisableDefaultText = !f.Value
		case *cli.StringFlag:
			moveDefault(&f.Usage, &f.DefaultText)
		case *cli.IntFlag:
			moveDefault(&f.Usage, &f.DefaultText)
		case *cli.Int64Flag:
			moveDefault(&f.Usage, &f.DefaultText)
		case *cli.Float64Flag:
			moveDefault(&f.Usage, &f.DefaultText)
		case *cli.DurationFlag:
			moveDefault(&f.Usage, &f.DefaultText)
		case *cli.GenericFlag:
			moveDefault(&f.Usage, &f.DefaultText)
		}
	}
}

// usageDefault is a usage that ends in its own words on the default.
var usageDefault = regexp.MustCompile(`^(.*) \(default:? ([^()]*)\)$`)

func moveDefault(usage, text *string) {
	if parts := usageDefault.FindStringSubmatch(*usage); parts != nil {
		*usage, *text = parts[1], parts[2]
	}
}

// refusedValue is how the flag package says that a flag's value is refused.
var refusedValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-([a-zA-Z0-9-]+): (.*)$`)

// valueError says in our words which value of which flag was refused, and what
// to write; ok is false where err is of another kind.
func valueError(flags []cli.Flag, err error) (sentence string, ok bool) {
	parts := refusedValue.FindStringSubmatch(err.Error())
	if parts == nil {
		return "", false
	}
	value, name, reason := parts[1], parts[2], parts[3]
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return fmt.Sprintf("--%s: %s is refused: %s", name, value, reason), true
	}
	switch flags[i].(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		reason = value + " is no whole number that fits, as 12"
	case *cli.UintFlag, *cli.Uint64Flag:
		reason = value + " is no whole number from 0 that fits, as 12"
	case *cli.Float64Flag:
		reason = value + " is no number, as 12 or 0.5"
	case *cli.DurationFlag:
		reason = value + " is no time: write it with its unit, as 500ms, 30s, 10m or 2h"
	case *cli.BoolFlag:
		reason = value + " is neither true nor false"
	}
	return fmt.Sprintf("--%s: %s", name, reason), true
}
