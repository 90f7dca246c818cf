// Package wiretest is a server of the MongoDB protocol for tests: it keeps
// documents in memory, records every command exactly as it came, and answers
// with errors, labels, delays, cut connections or nothing at all on request.
// It is no database, and only tests import it.
package wiretest
