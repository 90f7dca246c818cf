package drivers

import "context"

// Counter is one figure that a storage engine counts itself: what it is, and
// what it was when it was read.
type Counter struct {
	// Name is the metric's in the record; it ends in its unit where that isn't
	// a thing counted.
	Name, Unit string
	// Meaning is one phrase for who doesn't know the engine.
	Meaning string
	// Sources are the server's own names for it; the first that the server has
	// is taken.
	Sources []string
	// Level is true for a figure that goes up and down, such as a length: then
	// its value at the end of a step is kept, else how far it moved.
	Level bool
	// Value is nil where the server doesn't have it, and in tables of counters.
	Value *float64
}

// EngineCounters are the counters of one storage engine.
type EngineCounters struct {
	Engine   string
	Counters []Counter
}

// Counting is a Server whose engine counts. Counters gives every counter of
// the engine's table, also those that this server doesn't have.
type Counting interface {
	Counters(ctx context.Context) ([]Counter, error)
}

// Read fills a table of counters with the values that value knows, by the
// server's own names.
func (e EngineCounters) Read(value func(source string) (float64, bool)) []Counter {
	out := make([]Counter, len(e.Counters))
	for i, c := range e.Counters {
		out[i] = c
		for _, source := range c.Sources {
			if v, ok := value(source); ok {
				out[i].Value, out[i].Sources = &v, []string{source}
				break
			}
		}
	}
	return out
}
