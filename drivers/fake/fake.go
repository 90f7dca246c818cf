// Package fake is a database in memory that does what a script says: it waits,
// fails, hangs or forgets. It tests what stands above the drivers.
package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"insertbench/drivers"
	"insertbench/ibench"
)

// Config is the script. The zero value is a database that takes everything at once.
type Config struct {
	// Engine is the engine's name; "fake" unless set.
	Engine string
	// KeepsNothing makes it acknowledge rows and throw them away, as BLACKHOLE.
	KeepsNothing bool
	// KeepRows keeps every row, for Rows; otherwise only sums are kept.
	KeepRows bool
	// Latency is how long each INSERT takes, by time.Sleep or a timer, so that
	// testing/synctest can move it.
	Latency time.Duration
	// ReadLatency is how long each query, scan and delete takes.
	ReadLatency time.Duration
	// LatencyOf replaces Latency where it is set. Statements are counted from
	// 1 over all inserters, in the order in which they were sent.
	LatencyOf func(statement int64) time.Duration
	// Faults are the statements that go wrong.
	Faults []Fault
	// MaxStatementBytes makes CheckBatch refuse more, 64 bytes a row beside
	// its data; 0 is no limit.
	MaxStatementBytes int64
	// OpenErr is returned by Open; InserterErr by OpenInserter.
	OpenErr, InserterErr error
	// Place is what Place answers.
	Place drivers.Place
}

// Fault is what happens to one statement.
type Fault struct {
	// Statement is which one, counted from 1 over all inserters.
	Statement int64
	// Class and Code are the error's.
	Class drivers.Class
	Code  string
	// Hang makes the statement wait until Abort, which makes it fail with
	// class Unknown; Class and Code are not used.
	Hang bool
	// Kept keeps the rows though an error is answered, as when a server
	// commits and the connection breaks before the answer.
	Kept bool
}

// Validate says what is wrong with the script, as an error of kind drivers.ErrConfig.
func (c Config) Validate() error {
	var errs []error
	if c.Latency < 0 {
		errs = append(errs, fmt.Errorf("a latency of %s: it can't be negative", c.Latency))
	}
	seen := map[int64]bool{}
	for _, f := range c.Faults {
		if f.Statement < 1 || seen[f.Statement] {
			errs = append(errs, fmt.Errorf("a fault at statement %d: statements are counted from 1 and have one fault each", f.Statement))
		}
		seen[f.Statement] = true
	}
	if len(errs) > 0 {
		return drivers.Configf("%w", errors.Join(errs...))
	}
	return nil
}

// Server is the database. It implements ibench.Database, and unlike others its
// methods are safe for concurrent use.
type Server struct {
	config Config
	faults map[int64]Fault

	mu         sync.Mutex
	tables     map[string]*table
	statements int64
}

type table struct {
	sums    ibench.Sums
	rows    []ibench.Row
	indexes []ibench.Index
	// deleted counts the rows that went from the front of rows.
	deleted int64
}

var _ ibench.Database = (*Server)(nil)

// Open makes an empty database.
func Open(_ context.Context, c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.OpenErr != nil {
		return nil, c.OpenErr
	}
	if c.Engine == "" {
		c.Engine = "fake"
	}
	s := &Server{config: c, faults: map[int64]Fault{}, tables: map[string]*table{}}
	for _, f := range c.Faults {
		s.faults[f.Statement] = f
	}
	return s, nil
}

// Identity is that of an embedded database named Fake.
func (s *Server) Identity() drivers.Identity {
	durability := "kept in memory only"
	if s.config.KeepsNothing {
		durability = "keeps nothing"
	}
	return drivers.Identity{
		DBMS: "fake", Product: "Fake", Version: "1", Engine: s.config.Engine,
		Durability: durability, Transport: "embedded", Embedded: true,
	}
}

// Settings gives the latency.
func (s *Server) Settings(context.Context) ([]drivers.Setting, error) {
	return []drivers.Setting{{Name: "latency", Value: s.config.Latency.String()}}, nil
}

// Place is the script's.
func (s *Server) Place() drivers.Place { return s.config.Place }

// SizeBytes is 64 bytes for each row beside its data.
func (s *Server) SizeBytes(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var total int64
	for _, t := range s.tables {
		total += t.sums.Rows*rowBytes + t.sums.DataBytes
	}
	return total, nil
}

// rowBytes stands for a row without its data.
const rowBytes = 64

// Dumps gives the number of statements.
func (s *Server) Dumps(context.Context) []drivers.Dump {
	return []drivers.Dump{{Name: "global_status.txt", Text: fmt.Appendf(nil, "statements\t%d\n", s.Statements())}}
}

// Close does nothing; what was kept can still be read.
func (s *Server) Close() error { return nil }

// Statements is how many INSERTs were sent so far, failed ones too.
func (s *Server) Statements() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statements
}

// Rows gives the rows of a table in the order in which they were kept; nil
// without KeepRows.
func (s *Server) Rows(name string) []ibench.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tables[name]; t != nil {
		return slices.Clone(t.rows)
	}
	return nil
}

// Indexes gives the indexes of a table.
func (s *Server) Indexes(name string) []ibench.Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tables[name]; t != nil {
		return slices.Clone(t.indexes)
	}
	return nil
}

// ListTables gives the tables, sorted.
func (s *Server) ListTables(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// CreateTable makes a table.
func (s *Server) CreateTable(_ context.Context, t ibench.Table) error {
	if err := ibench.CheckTableName(t.Name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables[t.Name] != nil {
		return drivers.Configf("table %s exists already: --drop removes it first", t.Name)
	}
	s.tables[t.Name] = &table{indexes: slices.Clone(t.Indexes)}
	return nil
}

// CreateIndexes remembers the indexes.
func (s *Server) CreateIndexes(_ context.Context, name string, indexes []ibench.Index) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.find(name)
	if err != nil {
		return err
	}
	for _, x := range indexes {
		if slices.ContainsFunc(t.indexes, func(y ibench.Index) bool { return y.Name == x.Name }) {
			return fmt.Errorf("building index %s on table %s: it exists already", x.Name, name)
		}
	}
	t.indexes = append(t.indexes, indexes...)
	return nil
}

// DropTable removes a table.
func (s *Server) DropTable(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(name); err != nil {
		return err
	}
	delete(s.tables, name)
	return nil
}

// find is a table by its name; the lock is held.
func (s *Server) find(name string) (*table, error) {
	if err := ibench.CheckTableName(name); err != nil {
		return nil, err
	}
	t := s.tables[name]
	if t == nil {
		return nil, drivers.Configf("table %s doesn't exist", name)
	}
	return t, nil
}

// CheckBatch compares with MaxStatementBytes.
func (s *Server) CheckBatch(_ context.Context, rows, dataBytes int) error {
	need := int64(rows) * int64(rowBytes+dataBytes)
	if limit := s.config.MaxStatementBytes; limit > 0 && need > limit {
		return drivers.Configf("a statement of %d rows takes %d bytes, above the limit of %d: lower --rows-per-commit", rows, need, limit)
	}
	return nil
}

// Sums gives what was kept.
func (s *Server) Sums(_ context.Context, name string) (ibench.Sums, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.find(name)
	if err != nil {
		return ibench.Sums{}, false, err
	}
	return t.sums, s.config.KeepsNothing, nil
}
