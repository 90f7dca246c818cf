package legacy

import (
	"fmt"
	"strings"

	"insertbench/linkbench"
)

// retried is what came of a thread's operations beside their time, by the position of the operation.
type retried struct {
	total, max []int64 // attempts after a first one that was rolled back: of all, and of the one with the most
	switched   []int64
}

func newRetried(ops int) retried {
	return retried{make([]int64, ops), make([]int64, ops), make([]int64, ops)}
}

func (r *retried) count(o linkbench.Observed) {
	r.total[o.Op] += o.Retries
	r.max[o.Op] = max(r.max[o.Op], o.Retries)
	if o.Switched {
		r.switched[o.Op]++
	}
}

func (r *retried) add(o retried) {
	for i := range r.total {
		r.total[i] += o.total[i]
		r.max[i] = max(r.max[i], o.max[i])
		r.switched[i] += o.switched[i]
	}
}

// lines are those that the original prints as a phase ends. It never reads a link alone, and counts apart a commit that
// failed: ours goes with its operation in one packet, so that such a failure is the operation's, and none is told here.
func (r *retried) lines(ops []string) []string {
	of := func(values []int64, name string) int64 {
		for i, op := range ops {
			if op == name {
				return values[i]
			}
		}
		return 0
	}
	list := func(values []int64, names ...[2]string) string {
		var parts []string
		for _, n := range names {
			parts = append(parts, fmt.Sprintf("%d %s", of(values, n[1]), n[0]))
		}
		return strings.Join(parts, ", ")
	}
	link := func(values []int64) string {
		return list(values, [2]string{"add", "ADD_LINK"}, [2]string{"update", "UPDATE_LINK"}, [2]string{"delete", "DELETE_LINK"}, [2]string{"get", ""},
			[2]string{"multiget", "MULTIGET_LINK"}, [2]string{"get_link_list", "GET_LINKS_LIST"}, [2]string{"count", "COUNT_LINK"},
			[2]string{"add_bulk_links", "load_link"}, [2]string{"add_bulk_counts", "load_count"})
	}
	node := func(values []int64) string {
		return list(values, [2]string{"add", "ADD_NODE"}, [2]string{"add_bulk", "load_node"}, [2]string{"get", "GET_NODE"},
			[2]string{"update", "UPDATE_NODE"}, [2]string{"delete", "DELETE_NODE"})
	}
	return []string{
		"Graph Link total retry: " + link(r.total), "Graph Link max retry: " + link(r.max),
		"Graph Link other: " + list(r.switched, [2]string{"add_to_upd", "ADD_LINK"}, [2]string{"upd_to_add", "UPDATE_LINK"}) + ", 0 commit_failed",
		"Graph Node total retry: " + node(r.total), "Graph Node max retry: " + node(r.max),
	}
}
