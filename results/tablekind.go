package results

// TableKind is a table that records are shown as, by its name.
type TableKind struct {
	Name, Title string
	// Workload is the one that it is of.
	Workload string
	Columns  func() []Column
	Rows     func(runs ...*Run) []Row
}

// TableKinds lists all tables. What prints or explains them goes by this list.
func TableKinds() []TableKind {
	const insert, link = "ibench", "linkbench"
	kinds := func(names ...string) func(...*Run) []Row {
		return func(runs ...*Run) []Row {
			var rows []Row
			for _, run := range runs {
				rows = append(rows, kindRows(run, names...)...)
			}
			return rows
		}
	}
	return []TableKind{
		{"load", "load", insert, LoadColumns, LoadRows},
		{"scan", "scan", insert, ScanColumns, ScanRows},
		{"oltp", "writes and queries", insert, WriteColumns, kinds(KindWrite)},
		{"settle", "settle", insert, SettleColumns, kinds(KindSettle)},
		{"row", "one row per step (21 columns)", insert, MergedColumns, MergedRows},
		{"link-load", "load", link, LinkLoadColumns, LoadRows},
		{"link-requests", "requests", link, RequestColumns, RequestRows},
		{"link-rates", "latency by rate", link, SweepColumns, SweepRows},
		{"engine", engineTitle, insert, EngineColumns, EngineRows},
		{"link-engine", engineTitle, link, EngineColumns, EngineRows},
	}
}

// ByName is whether a table is so long that it is shown only where it is named.
func (k TableKind) ByName() bool { return k.Title == engineTitle }

// Shown is the table of a kind for runs of its workload; false where they have
// no steps for it.
func (k TableKind) Shown(runs ...*Run) (Section, bool) {
	var own []*Run
	for _, run := range runs {
		if run.Workload == k.Workload {
			own = append(own, run)
		}
	}
	s := Section{Title: k.Title, Table: Table{Columns: k.Columns(), Rows: k.Rows(own...)}}
	if k.Name == "scan" {
		s.Columns = withoutPost(s.Table)
	}
	return s, len(s.Rows) > 0
}
