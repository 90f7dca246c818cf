package config

import (
	"bufio"
	_ "embed" // for a part of the page
	"fmt"
	"io"
	"strings"
)

// legacyOutput is the part of the page that isn't made from keys.
//
//go:embed legacyoutput.md
var legacyOutput string

// WriteOptions writes the page of all keys, Markdown: what each sets, and which have no effect and why.
func WriteOptions(w io.Writer) error {
	b := bufio.NewWriter(w) // an error stays with it until Flush
	fmt.Fprint(b, "# Settings of LinkBench's properties files\n\n",
		"`linkbench` reads the original's configuration files as they are: `--config=FILE` reads the file and the\n",
		"`workload_file` it names, `-D key=value` overrides a setting. What isn't set has the value of the profile. A key\n",
		"that isn't listed here is an error. This page is made from the table the program reads files by.\n\n",
		"| key | meaning |\n|---|---|\n")
	var ignored []Key
	for _, k := range Keys() {
		if k.Ignored != "" {
			ignored = append(ignored, k)
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", k.Name, cell(k.Meaning))
	}
	fmt.Fprint(b, "\n## Keys without effect\n\n| key | why |\n|---|---|\n")
	for _, k := range ignored {
		fmt.Fprintf(b, "| `%s` | %s |\n", k.Name, cell(k.Ignored))
	}
	fmt.Fprint(b, "\n", legacyOutput)
	return b.Flush()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
