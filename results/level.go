package results

// Metrics that are no deltas: see Levels.
const (
	sizeBytes      = "size_bytes"
	databaseBytes  = "database_bytes"
	rssBytes       = "rss_bytes"
	rssPeakBytes   = "rss_peak_bytes"
	dirtyBytesLeft = "dirty_bytes_left"
)

// SizeFromServer is the source of a size that the server reported because its
// data directory can't be seen. The tables mark it.
const SizeFromServer = "the server's own figure"

// Levels are what was found at a step's end, in bytes; nil where unknown.
type Levels struct {
	// SizeBytes is the data directory on disk, or the server's own figure;
	// SizeSource says which: SizeFromServer or the directory.
	SizeBytes  *int64
	SizeSource string
	// DatabaseBytes is what the tables take by the server's own figure.
	DatabaseBytes *int64
	// RSSBytes is the server's process tree at the end, RSSPeakBytes the most
	// that was seen.
	RSSBytes, RSSPeakBytes *int64
	// DirtyBytesLeft is what the kernel had still to write back.
	DirtyBytesLeft *int64
}

// Metrics gives the levels their names in the record.
func (l Levels) Metrics() map[string]Metric {
	level := func(v *int64, source string) Metric {
		m := Metric{Unit: "B", Source: source}
		if v != nil {
			m.Value = Known(float64(*v))
		}
		return m
	}
	return map[string]Metric{
		sizeBytes:      level(l.SizeBytes, l.SizeSource),
		databaseBytes:  level(l.DatabaseBytes, "the server's own figure"),
		rssBytes:       level(l.RSSBytes, "/proc/PID/statm of the server's process tree, at the end"),
		rssPeakBytes:   level(l.RSSPeakBytes, "/proc/PID/statm of the server's process tree, most at any second"),
		dirtyBytesLeft: level(l.DirtyBytesLeft, "/proc/meminfo, Dirty + Writeback at the end"),
	}
}
