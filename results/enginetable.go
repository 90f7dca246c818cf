package results

import (
	"maps"
	"slices"
)

const engineTitle = "the storage engine's own counters"

// EngineRows has a line for each of the storage engine's own counters in each
// step.
func EngineRows(runs ...*Run) []Row {
	var rows []Row
	for _, run := range runs {
		for i := range run.Steps {
			metrics := run.Steps[i].Metrics
			for _, name := range slices.Sorted(maps.Keys(metrics)) {
				if metrics[name].Meaning != "" {
					rows = append(rows, Row{Run: run, Step: &run.Steps[i], Counter: name})
				}
			}
		}
	}
	return rows
}

// EngineColumns show the storage engine's own counters, one to a line.
func EngineColumns() []Column {
	counter := func(r Row) Metric { return r.Step.Metrics[r.Counter] }
	words := func(name, meaning string, text func(Row) string) Column {
		return Column{Name: name, Meaning: meaning, Text: text}
	}
	return []Column{
		words("step", "the step's name", func(r Row) string { return r.Step.Name }),
		words("counter", "the counter's name in the record", func(r Row) string { return r.Counter }),
		{
			Name: "moved", Meaning: "how far it moved from right before the window to right after it; of a level, what was at the end", Formula: "last - first", Unit: "the counter's",
			Number: func(r Row) *float64 { return counter(r).Value },
		},
		words("unit", "unit of the counter", func(r Row) string { return counter(r).Unit }),
		{
			Name: "per row", Meaning: "the same per row inserted, or indexed; none of a level", Formula: "moved ÷ rows", Unit: "the counter's/row", Decimals: 3,
			Number: func(r Row) *float64 {
				if counter(r).Level {
					return nil
				}
				return divide(1, counter(r).Value, r.metric(PerRow.Many))
			},
		},
		words("what", "what is counted", func(r Row) string {
			if counter(r).Level {
				return counter(r).Meaning + ", at the end"
			}
			return counter(r).Meaning
		}),
		words("engine", "the run's label, or its engine and tag", Row.label),
		{Name: "source", Meaning: "where the counter comes from", Text: func(r Row) string { return counter(r).Source }, Wide: true},
	}
}
