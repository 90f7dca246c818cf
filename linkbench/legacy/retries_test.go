package legacy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"insertbench/linkbench"
	"insertbench/linkbench/graph"
	"insertbench/results"
)

// withoutRetries leaves out the lines of retries, which every phase ends with.
func withoutRetries(lines string) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(lines, "\n"), func(line string) bool { return strings.Contains(line, "[main]: Graph ") }), "")
}

// The phases of the recorded log had none.
func TestNoRetries(t *testing.T) {
	log := read(t, "testdata/sample_output/console.log")
	none := newRetried(3)
	for _, line := range none.lines([]string{"load_node", "load_link", "load_count"}) {
		if !strings.Contains(log, "[main]: "+line+"\n") {
			t.Errorf("the log has no line\n%s", line)
		}
	}
}

// Of all threads the totals are the sum, 3 + 1 + 4 of adds, and the maximum is that of one operation. A failed one counts.
func TestRetries(t *testing.T) {
	retried := func(op graph.Op, n int64) linkbench.Observed {
		o := ended(op, 1, 5)
		o.Retries = n
		return o
	}
	switched := func(op graph.Op) linkbench.Observed {
		o := ended(op, 1, 5)
		o.Switched = true
		return o
	}
	var b logged
	p := b.requests(Settings{MaxSamples: 10}, 2, 0, 0)
	for _, o := range []linkbench.Observed{retried(graph.AddLink, 3), retried(graph.AddLink, 1), switched(graph.AddLink), failed(retried(graph.DeleteNode, 7)),
		retried(graph.ListLinks, 2), retried(graph.CountLinks, 5), retried(graph.AddNode, 6)} {
		p.Thread(0).Observe(o)
	}
	for _, o := range []linkbench.Observed{retried(graph.AddLink, 4), retried(graph.UpdateLink, 1), retried(graph.DeleteLink, 1), retried(graph.MultigetLinks, 1),
		switched(graph.UpdateLink), switched(graph.UpdateLink), retried(graph.GetNode, 2), retried(graph.UpdateNode, 3)} {
		p.Thread(1).Observe(o)
	}
	p.End()
	const prefix = "INFO 2026-11-30 21:09:09.0 [main]: "
	want := prefix + "Graph Link total retry: 8 add, 1 update, 1 delete, 0 get, 1 multiget, 2 get_link_list, 5 count, 0 add_bulk_links, 0 add_bulk_counts\n" +
		prefix + "Graph Link max retry: 4 add, 1 update, 1 delete, 0 get, 1 multiget, 2 get_link_list, 5 count, 0 add_bulk_links, 0 add_bulk_counts\n" +
		prefix + "Graph Link other: 1 add_to_upd, 2 upd_to_add, 0 commit_failed\n" +
		prefix + "Graph Node total retry: 6 add, 0 add_bulk, 2 get, 3 update, 7 delete\n" +
		prefix + "Graph Node max retry: 6 add, 0 add_bulk, 2 get, 3 update, 7 delete\n"
	if got := b.lines.String(); !strings.HasSuffix(got, want) {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
	}
	var l logged
	p = l.log().Phase(Settings{MaxSamples: 10}, linkbench.Phase{Kind: results.KindLoad, Workers: 1, Ops: []string{"load_node", "load_link", "load_count"}}, Load{})
	for op := range 3 {
		p.Thread(0).Observe(linkbench.Observed{Op: op, Rows: 1, At: at(1), Retries: int64(op + 1)})
	}
	p.End()
	for _, want := range []string{"Link total retry: 0 add, 0 update, 0 delete, 0 get, 0 multiget, 0 get_link_list, 0 count, 2 add_bulk_links, 3 add_bulk_counts\n",
		"Node total retry: 0 add, 1 add_bulk, 0 get, 0 update, 0 delete\n"} {
		if !strings.Contains(l.lines.String(), want) {
			t.Errorf("no line %s:\n%s", want, l.lines.String())
		}
	}
}
