package ibench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"insertbench/drivers"
	"insertbench/results"
)

// Long are transactions that stay open beside a step's writes: the database
// must keep the old versions of what changes meanwhile.
type Long struct {
	// HTAPSeconds is how long one more connection holds a transaction that has
	// read a row, again and again (iibench.py's htap_transaction_seconds); 0
	// is none.
	HTAPSeconds float64 `json:"htap_seconds"`
	// LongReaderSeconds is how long one more connection reads through the
	// table by its key within one transaction, again and again (llt.py's
	// transaction_secs); 0 is none.
	LongReaderSeconds float64 `json:"long_reader_seconds"`
}

func (l Long) wanted() bool { return l.HTAPSeconds > 0 || l.LongReaderSeconds > 0 }

func (l Long) validate(refuse func(string, ...any)) {
	if l.HTAPSeconds < 0 || l.LongReaderSeconds < 0 {
		refuse("htap-seconds=%g, long-reader-seconds=%g: neither can be negative", l.HTAPSeconds, l.LongReaderSeconds)
	}
}

// LongDatabase is a Database with transactions that can stay open.
type LongDatabase interface {
	// OpenLong opens a connection of its own.
	OpenLong(ctx context.Context, table string) (LongTransaction, error)
}

// LongTransaction is a connection on which one transaction after the other
// reads a table. It belongs to one goroutine.
type LongTransaction interface {
	// Begin begins a transaction, whose first Page fixes what it sees.
	Begin(ctx context.Context) error
	// Page reads so many rows at most, in the order of their keys, after those
	// that were read before; from the first one again once all were. It gives
	// how many it read.
	Page(ctx context.Context, rows int) (int, error)
	Commit() error
	// Close ends the connection, and a transaction that is open.
	Close() error
}

// longPage is rows per statement of the long-lived reader, llt.py's default.
const longPage = 1000

// holding is one connection that holds transactions open.
type holding struct {
	name string // of its metrics
	tx   LongTransaction
	hold time.Duration
	// reads is whether it reads all the time, or holds a row and waits.
	reads bool
	// transactions were committed, rows read, over the whole step.
	transactions, rows atomic.Int64
}

// openLong opens the connections that the step wants, with a transaction open
// on each: they are there before the first write.
func (w *writing) openLong(ctx context.Context) error {
	for _, l := range []struct {
		name    string
		seconds float64
		reads   bool
	}{{"htap", w.step.HTAPSeconds, false}, {"long_reader", w.step.LongReaderSeconds, true}} {
		if l.seconds == 0 {
			continue
		}
		db, err := w.bench.longDatabase()
		if err != nil {
			return err
		}
		tx, err := db.OpenLong(ctx, TableName(0))
		if err != nil {
			return fmt.Errorf("open the connection of a long transaction: %w", err)
		}
		w.closers = append(w.closers, tx.Close)
		h := &holding{name: l.name, tx: tx, hold: time.Duration(l.seconds * float64(time.Second)), reads: l.reads}
		if err := h.begin(ctx); err != nil {
			return err
		}
		w.long = append(w.long, h)
	}
	return nil
}

// longDatabase is the database's optional ability.
func (b *Bench) longDatabase() (LongDatabase, error) {
	if l, ok := b.DB.(LongDatabase); ok {
		return l, nil
	}
	return nil, drivers.Configf("this version doesn't hold transactions open in %s; leave out --htap-seconds and --long-reader-seconds", b.DB.Identity().Product)
}

// endPatience is how long the end of a step waits for its long transactions
// to say that they were open until then.
const endPatience = 5 * time.Second

// measured measures the step with its long transactions beside it. One that
// fails ends the step, and one that turns out to be lost when all is over fails
// it: it isn't what was asked for any more.
func (w *writing) measured(ctx context.Context) (results.Step, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	holding, stop := context.WithCancel(ctx)
	defer stop()
	over, end := context.WithCancel(holding)
	lost := make([]error, len(w.long))
	var all sync.WaitGroup
	for i, h := range w.long {
		all.Go(func() {
			if err := h.run(holding, over); err != nil && holding.Err() == nil {
				lost[i] = err
				fail(err)
			}
		})
	}
	done, err := w.bench.Meter.Run(ctx, w.bench.Writer, w.spec())
	if err != nil {
		stop()
	}
	patience := time.AfterFunc(endPatience, stop)
	defer patience.Stop()
	end()
	all.Wait()
	if err == nil {
		err = errors.Join(lost...)
	}
	return done, err
}

// begin begins a transaction and fixes what it sees.
func (h *holding) begin(ctx context.Context) error {
	if err := h.tx.Begin(ctx); err != nil {
		return fmt.Errorf("begin a long transaction: %w", err)
	}
	return h.page(ctx, 1)
}

func (h *holding) page(ctx context.Context, rows int) error {
	n, err := h.tx.Page(ctx, rows)
	h.rows.Add(int64(n))
	if err != nil {
		return fmt.Errorf("read in a long transaction: %w", err)
	}
	return nil
}

// run holds one transaction after the other until over ends, or ctx, or one
// fails, which is the error. The last is asked for another row, which it can't
// give where it was lost while it was idle.
func (h *holding) run(ctx, over context.Context) error {
	for {
		if err := h.wait(ctx, over); err != nil {
			return err
		}
		if over.Err() != nil {
			return h.page(ctx, 1)
		}
		if err := h.tx.Commit(); err != nil {
			return fmt.Errorf("commit a long transaction: %w", err)
		}
		h.transactions.Add(1)
		if err := h.begin(ctx); err != nil {
			return err
		}
	}
}

// wait lets a transaction's time pass, reading or idle, or what is left of the
// step.
func (h *holding) wait(ctx, over context.Context) error {
	open, end := context.WithTimeout(over, h.hold)
	defer end()
	if !h.reads {
		<-open.Done()
	}
	for open.Err() == nil {
		if err := h.page(ctx, longPage); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// longMetrics are what the long transactions did by the window's end.
func (w *writing) longMetrics() map[string]results.Metric {
	m := map[string]results.Metric{}
	for _, h := range w.long {
		m[h.name+"_transactions"] = results.Metric{
			Value: results.Known(float64(h.transactions.Load())), Unit: "transactions",
			Source: fmt.Sprintf("held open for %g s each and committed; one more was open at the end", h.hold.Seconds()),
		}
		m[h.name+"_rows"] = results.Metric{Value: results.Known(float64(h.rows.Load())), Unit: "rows", Source: "read by long transactions"}
	}
	return m
}
