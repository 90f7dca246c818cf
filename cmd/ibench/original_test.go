package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOptionsDocument: the page says what the program does.
func TestOptionsDocument(t *testing.T) {
	var text strings.Builder
	text.WriteString("# Options of iibench.py and their counterparts\n\n" +
		"The names of iibench.py (mdcallag/mytools, bench/ibench) are accepted and stand for the flags on the right, on the commands that have\n" +
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
		{"load --setup --bulk_load 1 --unique_checks=0 --db_user u", "load --drop --bulk-load=1 --unique-checks=0 --user u"},
		{"load --tag=max_rows --rows=5 -x my_id other_name --other_name", "load --tag=max_rows --rows=5 -x my_id other_name --other_name"},
	} {
		got, err := translate(strings.Fields(c.args))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s gave %q, %v, want %q", c.args, strings.Join(got, " "), err, c.want)
		}
	}
	for arg, want := range map[string]string{"--my_id=3": "numbers them", "--warmup": "does nothing", "--query_pk_only=false": "takes no value"} {
		if _, err := translate([]string{"load", arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v, want an error with %q", arg, err, want)
		}
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

// TestEveryOriginalOptionWorks reads the page: each name that it gives a
// counterpart changes what a load or an oltp is resolved to, as the counterpart
// does, and each other one is refused with the page's reason.
func TestEveryOriginalOptionWorks(t *testing.T) {
	mysql, mongo, end := []string{"--dbms=mysql"}, []string{"--dbms=mongo"}, []string{"--seconds=9"}
	// An option's value where it takes one, what has to be there with it, and
	// whether it is of oltp instead of load.
	type use struct {
		value string
		with  []string
		oltp  bool
	}
	uses := map[string]use{
		"data_length_max": {value: "50"}, "data_length_min": {value: "5"}, "data_random_pct": {value: "7"}, "rows_per_commit": {value: "7"},
		"rows_per_query": {"20", end, true}, "cashregisters": {value: "5"}, "products": {value: "5"}, "customers": {value: "5"}, "max_price": {value: "5"},
		"max_rows": {value: "5000"}, "no_inserts": {"", end, true}, "max_seconds": {"3", []string{"--rows=5"}, true}, "query_threads": {"3", end, true},
		"query_pk_only": {"", end, true}, "setup": {}, "delete_per_insert": {"", end, true}, "num_secondary_indexes": {value: "1"}, "secondary_at_end": {},
		"secondary_at_start": {with: []string{"--indexes-at=end"}}, "inserts_per_second": {"100", end, true}, "seed": {value: "5"}, "dbms": {value: "mysql"},
		"htap_transaction_seconds": {"60", end, true}, "db_host": {"h", mysql, false}, "db_name": {"d", mysql, false}, "engine": {"rocksdb", mysql, false},
		"engine_options": {"row_format=compressed", mysql, false}, "db_user": {"u", mysql, false}, "db_password": {"zebra", mysql, false},
		"db_socket": {"/s", mysql, false}, "unique_checks": {"0", mysql, false}, "bulk_load": {"1", append([]string{"--indexes-at=end"}, mysql...), false},
		"num_partitions": {"4", mysql, false}, "rows_per_partition": {"1000", append([]string{"--partitions=2"}, mysql...), false},
		"mongo_w": {"majority", mongo, false}, "mongo_r": {"local", mongo, false}, "mongo_j": {"", mongo, false}, "mongo_trx": {"", mongo, false},
	}
	text, err := os.ReadFile("../../docs/iibench-options.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `--(.*?)` \\| (-|`--.*?`) \\| (.*) \\|$").FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		name, ours, note := row[1], strings.Trim(row[2], "`"), row[3]
		if ours == "-" {
			if _, err := translate([]string{"load", "--" + name}); err == nil || !strings.HasSuffix(err.Error(), note) {
				t.Errorf("--%s gave %v, want the page's %q", name, err, note)
			}
			continue
		}
		u, ok := uses[name]
		if !ok {
			t.Errorf("no entry shows what --%s does", name)
			continue
		}
		resolve := resolvedLoad
		if u.oltp {
			resolve = resolvedOLTP
		}
		theirs := []string{"--" + name}
		if u.value != "" {
			theirs = append(theirs, u.value)
			ours += "=" + u.value
		}
		args, err := translate(append(slices.Clone(u.with), theirs...))
		if err != nil {
			t.Errorf("%q: %v", theirs, err)
			continue
		}
		without, with, same := resolve(t, u.with...), resolve(t, args...), resolve(t, append(slices.Clone(u.with), ours)...)
		if with == without || with != same {
			t.Errorf("%q with %q:\n%s\nwithout it:\n%s\nwith %s:\n%s", theirs, u.with, with, without, ours, same)
		}
	}
	if len(rows) != len(originals) {
		t.Errorf("the page has %d rows, want %d", len(rows), len(originals))
	}
}
