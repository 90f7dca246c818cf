package results

// The metrics that amplification is made of: a workload that knows them sets them.
const (
	// InsertedBytes is the bytes of values in the rows that were acknowledged.
	InsertedBytes = "inserted_bytes"
	// LogicalBytes is the bytes of values in all rows at the step's end.
	LogicalBytes = "logical_bytes"

	writeAmplification = "write_amplification"
	spaceAmplification = "space_amplification"
	tableAmplification = "table_space_amplification"
)

// amplifications are factor × over ÷ under, as ratios are.
var amplifications = []ratio{
	{writeAmplification, "B/B", 1024, "written_kb", InsertedBytes},
	{spaceAmplification, "B/B", 1, sizeBytes, LogicalBytes},
	{tableAmplification, "B/B", 1, databaseBytes, LogicalBytes},
}

// Amplification derives write and space amplification from a step's other
// metrics; nothing where the workload doesn't know its bytes.
func Amplification(m map[string]Metric) map[string]Metric {
	out := map[string]Metric{}
	for _, a := range amplifications {
		if _, known := m[a.under]; known {
			out[a.name] = Metric{Value: divide(a.factor, m[a.over].Value, m[a.under].Value), Unit: a.unit, Source: a.formula()}
		}
	}
	return out
}

// addAmplification gives a total what its steps together inserted and what
// was there at the end.
func addAmplification(total map[string]Metric, steps []Step) {
	sum := Metric{}
	for _, s := range steps {
		m, known := s.Metrics[InsertedBytes]
		switch {
		case !known:
		case m.Value == nil:
			return
		case sum.Value == nil:
			sum = m
		default:
			sum.Value = Known(*sum.Value + *m.Value)
		}
	}
	if sum.Value == nil {
		return
	}
	total[InsertedBytes] = sum
	if m, known := steps[len(steps)-1].Metrics[LogicalBytes]; known {
		total[LogicalBytes] = m
	}
	for name, m := range Amplification(total) {
		total[name] = m
	}
}

// amplificationColumns are in the wide load and write tables.
func amplificationColumns() []Column {
	named := func(name, metric string, under int, meaning string) Column {
		c := scaled(name, metric, 1, "B/B", 2, meaning)
		c.Formula = amplifications[under].formula()
		c.Wide = true
		return c
	}
	return []Column{
		named("w-amp", writeAmplification, 0, "written to storage per byte of values inserted; what is still dirty at the end comes later"),
		named("s-amp", spaceAmplification, 1, "data directory, logs included, per byte of values in the tables"),
		named("t-amp", tableAmplification, 2, "tables and indexes by the server's own figure, per byte of values in the tables"),
	}
}
