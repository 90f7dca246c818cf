package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func valueApp(out *bytes.Buffer, args ...string) Code {
	p := &Process{Args: append([]string{"app"}, args...), Stdout: out, Stderr: out, Getenv: func(string) string { return "" }}
	rows := int64(7)
	return p.RunApp(context.Background(), &cli.App{Name: "app", Commands: []*cli.Command{{
		Name: "do", Action: func(*cli.Context) error { return nil },
		Flags: []cli.Flag{
			CountFlag("rows", "`N` rows", &rows, ""), &cli.IntFlag{Name: "int"}, &cli.Uint64Flag{Name: "seed"}, &cli.Float64Flag{Name: "rate"},
			&cli.DurationFlag{Name: "time"}, &cli.BoolFlag{Name: "off"}, &cli.BoolFlag{Name: "on", Value: true}, &cli.IntFlag{Name: "tables", Usage: "`N` tables (default: one per client)"},
		},
	}}})
}

func TestRefusedValues(t *testing.T) {
	for _, tt := range []struct{ arg, want string }{
		{"--rows=1e6", `--rows: "1e6" is not a count: write a whole number, as 1000000, 10m or 250k`},
		{"--int=x", `--int: "x" is no whole number that fits, as 12`},
		{"--int=99999999999999999999", `--int: "99999999999999999999" is no whole number that fits, as 12`},
		{"--seed=-1", `--seed: "-1" is no whole number from 0 that fits, as 12`},
		{"--rate=fast", `--rate: "fast" is no number, as 12 or 0.5`},
		{"--time=10", `--time: "10" is no time: write it with its unit, as 500ms, 30s, 10m or 2h`},
		{"--off=maybe", `--off: "maybe" is neither true nor false`},
		{"--int", `do: flag needs an argument: --int`},
	} {
		var out bytes.Buffer
		if code := valueApp(&out, "do", tt.arg); code != Usage || out.String() != "app: "+tt.want+"\n" {
			t.Errorf("%s gave code %d and %q, want %d and %q", tt.arg, code, out.String(), Usage, tt.want)
		}
	}
}

func TestHelpSaysEachDefaultOnce(t *testing.T) {
	var out bytes.Buffer
	if code := valueApp(&out, "do", "--help"); code != OK {
		t.Fatalf("--help gave code %d: %s", code, out.String())
	}
	for _, want := range []string{
		"   --rows N      N rows (default: 7)\n", "   --off         \n", "   --on          (default: true)\n",
		"   --tables N    N tables (default: one per client)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help doesn't have %q:\n%s", want, out.String())
		}
	}
}
