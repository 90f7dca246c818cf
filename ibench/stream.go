package ibench

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Position is where one client's stream of rows stands: rows Deleted to
// Inserted-1 are in its table.
type Position struct {
	Deleted  int64 `json:"deleted"`
	Inserted int64 `json:"inserted"`
}

// State is what the benchmark's tables hold between two steps.
type State struct {
	// Clients has one position per client.
	Clients []Position `json:"clients"`
	// Indexes is how many of Indexes the tables have.
	Indexes int `json:"indexes"`
}

// Rows is how many rows all tables hold.
func (s State) Rows() (n int64) {
	for _, p := range s.Clients {
		n += p.Inserted - p.Deleted
	}
	return n
}

// tableRows is how many rows each table holds.
func (s State) tableRows(c Config) []int64 {
	rows := make([]int64, c.Tables)
	for client, p := range s.Clients {
		rows[c.ClientTable(client)] += p.Inserted - p.Deleted
	}
	return rows
}

// String is for messages: how many rows and indexes, and what was deleted.
func (s State) String() string {
	var inserted, deleted int64
	for _, p := range s.Clients {
		inserted += p.Inserted
		deleted += p.Deleted
	}
	text := fmt.Sprintf("%d rows inserted, %d deleted, %d secondary indexes", inserted, deleted, s.Indexes)
	return strings.TrimSuffix(text, ", 0 secondary indexes")
}

// stream is a client's position while a step moves it. Its writer and its
// deleter write, readers look.
type stream struct {
	client int
	// Rows below sent were sent, those below acked acknowledged. Rows below
	// deleting were asked to be removed, those below deleted were.
	sent, acked, deleting, deleted atomic.Int64
}

func newStream(client int, p Position) *stream {
	s := &stream{client: client}
	s.sent.Store(p.Inserted)
	s.acked.Store(p.Inserted)
	s.deleting.Store(p.Deleted)
	s.deleted.Store(p.Deleted)
	return s
}

func (s *stream) position() Position {
	return Position{Deleted: s.deleted.Load(), Inserted: s.acked.Load()}
}

// aheadMax is how many statements a client's inserts and deletes may be apart,
// as in iibench.py, whose queues hold as many.
const aheadMax = 8

// gate has a client's deletes follow its inserts: a delete may be sent once its
// insert is, and an insert only while fewer than aheadMax deletes are due. Both
// connections work at the same time and the table stays as long as it was.
type gate struct {
	slots chan struct{}
	due   chan int
	stop  chan struct{}
	once  sync.Once
}

func newGate() *gate {
	return &gate{slots: make(chan struct{}, aheadMax), due: make(chan int, aheadMax), stop: make(chan struct{})}
}

// reserve waits until an insert may be sent; false means that the run stops.
func (g *gate) reserve() bool {
	select {
	case <-g.stop:
		return false
	default:
	}
	select {
	case g.slots <- struct{}{}:
		return true
	case <-g.stop:
		return false
	}
}

// inserting lets the delete that goes with an insert of n rows be sent. It
// never waits: reserve has kept the space.
func (g *gate) inserting(n int64) { g.due <- int(n) }

// end says that no insert follows.
func (g *gate) end() { close(g.due) }

// next waits for a delete to be due; 0 means that there is none any more.
func (g *gate) next() int {
	select {
	case <-g.stop:
		return 0
	default:
	}
	select {
	case n := <-g.due:
		return n
	case <-g.stop:
		return 0
	}
}

// deleted gives the place of a delete back.
func (g *gate) deleted() { <-g.slots }

// halt lets go who waits.
func (g *gate) halt() { g.once.Do(func() { close(g.stop) }) }
