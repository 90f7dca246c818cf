// Package results is the record of a run: what is written while it goes on
// (Writer), what is read back afterwards (Load, Intervals), how the figures
// are derived from raw counter deltas (Raw), and the tables made of them
// (Column, Table). It knows nothing of databases, of /proc or of workers.
//
// One rule goes through all of it: missing is not zero. A figure that isn't
// known is a nil pointer here, null in JSON, empty in CSV and "-" in text, and
// nothing is derived from it.
package results
