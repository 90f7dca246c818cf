package fake

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"insertbench/drivers"
	"insertbench/ibench"
)

// OpenInserter opens an inserter. As with the real drivers, ctx isn't watched
// while a statement runs: Abort ends it.
func (s *Server) OpenInserter(_ context.Context, name string) (ibench.Inserter, error) {
	if err := ibench.CheckTableName(name); err != nil {
		return nil, err
	}
	if s.config.InserterErr != nil {
		return nil, s.config.InserterErr
	}
	return &inserter{server: s, table: name, aborted: make(chan struct{})}, nil
}

type inserter struct {
	server *Server
	table  string
	sums   ibench.Sums
	// rows holds the statement where rows are kept; otherwise only
	// its sums are, and nothing is allocated.
	rows []ibench.Row

	once    sync.Once
	aborted chan struct{}
}

func (in *inserter) Append(row *ibench.Row) {
	in.sums.AddRow(row)
	if in.server.config.KeepRows {
		kept := *row
		kept.Data = slices.Clone(row.Data)
		in.rows = append(in.rows, kept)
	}
}

func (in *inserter) Reset() {
	in.sums = ibench.Sums{}
	in.rows = in.rows[:0]
}

func (in *inserter) Insert(context.Context) error {
	number, fault, faulty := in.server.next()
	if in.isAborted() {
		return in.failed(drivers.Unknown, "aborted")
	}
	if faulty && fault.Hang {
		<-in.aborted
	} else {
		in.wait(number)
	}
	if in.isAborted() {
		if fault.Kept {
			if err := in.keep(); err != nil {
				return err
			}
		}
		return in.failed(drivers.Unknown, "aborted")
	}
	if !faulty || fault.Kept {
		if err := in.keep(); err != nil {
			return err
		}
	}
	if faulty {
		return in.failed(fault.Class, fault.Code)
	}
	return nil
}

// next counts a statement and finds its fault.
func (s *Server) next() (int64, Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statements++
	f, ok := s.faults[s.statements]
	return s.statements, f, ok
}

func (in *inserter) wait(statement int64) {
	latency := in.server.config.Latency
	if of := in.server.config.LatencyOf; of != nil {
		latency = of(statement)
	}
	if latency <= 0 {
		return
	}
	timer := time.NewTimer(latency)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-in.aborted:
	}
}

// keep puts the statement's rows into the table.
func (in *inserter) keep() error {
	s := in.server
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.find(in.table)
	if err != nil {
		return &drivers.Error{Class: drivers.Fatal, Code: "no such table", Err: fmt.Errorf("%s: %w", in.doing(), err)}
	}
	if !s.config.KeepsNothing {
		t.sums.Add(in.sums)
		t.rows = append(t.rows, in.rows...)
	}
	return nil
}

func (in *inserter) failed(class drivers.Class, code string) error {
	return &drivers.Error{Class: class, Code: code, Err: fmt.Errorf("%s: %s (%s)", in.doing(), code, class)}
}

func (in *inserter) doing() string {
	return fmt.Sprintf("inserting %d rows into table %s", in.sums.Rows, in.table)
}

func (in *inserter) isAborted() bool {
	select {
	case <-in.aborted:
		return true
	default:
		return false
	}
}

func (in *inserter) Abort() { in.once.Do(func() { close(in.aborted) }) }

func (in *inserter) Close() error { return nil }
