package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestOptionsDocument: the page says what the program does.
func TestOptionsDocument(t *testing.T) {
	var text strings.Builder
	text.WriteString("# Options of iibench.py and their counterparts\n\n" +
		"The underscore names of iibench.py (mdcallag/mytools, bench/ibench) are accepted and stand for the flags on the right, on the commands that have\n" +
		"them. This page is made from the table that the program reads them by.\n\n" +
		"| iibench.py | ibench | |\n|---|---|---|\n")
	for _, o := range originals {
		ours := "-"
		if o.ours != "" {
			ours = "`--" + o.ours + "`"
		}
		fmt.Fprintf(&text, "| `--%s` | %s | %s |\n", o.name, ours, o.note)
	}
	page(t, "../../docs/iibench-options.md", []byte(text.String()))
	// The original has 57 (its help at mdcallag/mytools e1ba3d9e).
	if len(originals) != 57 {
		t.Errorf("%d options are listed, want 57", len(originals))
	}
}

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"oltp --max_rows=5 --inserts_per_second 1000 --query_pk_only --delete_per_insert", "oltp --rows=5 --rate 1000 --query=point --deletes"},
		{"load --num_secondary_indexes=2 --secondary_at_end --cashregisters=7 --products=3 --db_password=zebra", "load --secondary-indexes=2 --indexes-at=end --cash-registers=7 --products=3 --password=zebra"},
		{"load --tag=max_rows --rows=5 -x my_id other_name --other_name", "load --tag=max_rows --rows=5 -x my_id other_name --other_name"},
	} {
		got, err := translate(strings.Fields(c.args))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s gave %q, %v, want %q", c.args, strings.Join(got, " "), err, c.want)
		}
	}
	if _, err := translate([]string{"load", "--my_id=3"}); err == nil || !strings.Contains(err.Error(), "numbers them") {
		t.Errorf("an option without a counterpart gave %v", err)
	}
}

// TestCounterpartsExist: each of our flags that a name stands for is one of
// some command.
func TestCounterpartsExist(t *testing.T) {
	has := map[string]bool{}
	for _, cmd := range commands(testProcess()) {
		for _, f := range cmd.Flags {
			has[f.Names()[0]] = true
		}
	}
	for _, o := range originals {
		if name, _, _ := strings.Cut(o.ours, "="); o.ours != "" && !has[name] {
			t.Errorf("--%s stands for --%s, which no command has", o.name, name)
		}
	}
}
