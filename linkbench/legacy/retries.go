package legacy

import "fmt"

// LinkRetries are retries of operations on links.
type LinkRetries struct {
	Add, Update, Delete, Get, Multiget, List, Count, BulkLinks, BulkCounts int64
}

// Line is one of the two lines of retries of links; kind is total or max.
func (r LinkRetries) Line(kind string) string {
	return fmt.Sprintf("Graph Link %s retry: %d add, %d update, %d delete, %d get, %d multiget, %d get_link_list, %d count, "+
		"%d add_bulk_links, %d add_bulk_counts", kind, r.Add, r.Update, r.Delete, r.Get, r.Multiget, r.List, r.Count,
		r.BulkLinks, r.BulkCounts)
}

// SwitchLine tells of adds that became updates, updates that became adds, and commits that failed.
func SwitchLine(addToUpdate, updateToAdd, commitFailed int64) string {
	return fmt.Sprintf("Graph Link other: %d add_to_upd, %d upd_to_add, %d commit_failed", addToUpdate, updateToAdd, commitFailed)
}

// NodeRetries are retries of operations on nodes.
type NodeRetries struct{ Add, Bulk, Get, Update, Delete int64 }

// Line is one of the two lines of retries of nodes; kind is total or max.
func (r NodeRetries) Line(kind string) string {
	return fmt.Sprintf("Graph Node %s retry: %d add, %d add_bulk, %d get, %d update, %d delete", kind, r.Add, r.Bulk, r.Get,
		r.Update, r.Delete)
}
