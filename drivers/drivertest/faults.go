package drivertest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"insertbench/drivers"
	"insertbench/ibench"
)

// Faults describes one database to RunFaults.
type Faults struct {
	// Upstream is the server's host:port.
	Upstream string
	// Open opens the database through another address, with deadlines that
	// the test can wait for.
	Open func(address string, connect, statement time.Duration) (ibench.Database, error)
	// Atomic is whether a statement that the server has not read whole, or
	// whose answer was lost, is kept either whole or not at all.
	Atomic bool
	// CommitsApart is whether a statement is committed by a message of its
	// own. The faults come before that one, so nothing is kept nor unknown.
	CommitsApart bool
}

// fault is one way for a connection to go wrong between client and server.
type fault struct {
	name string
	// toxics are toxiproxy's, as its HTTP interface takes them.
	toxics []string
	// cut closes the proxy's connections instead.
	cut bool
	// harmless leaves every statement acknowledged.
	harmless bool
	// kept is what must become of the statements of unknown outcome.
	kept keptRows
}

type keptRows int

const (
	keptEither keptRows = iota
	keptNone            // the server never had the whole statement
	keptAll             // it did, and only the answer was lost
)

// Bytes that a limit lets through: less than any statement of the test, and
// less than any answer.
const (
	partOfStatement = 700
	partOfAnswer    = 4
)

func faults() []fault {
	toxic := func(kind, stream, attributes string) string {
		return fmt.Sprintf(`{"name":"%s_%s","type":"%s","stream":"%s","toxicity":1,"attributes":{%s}}`, kind, stream, kind, stream, attributes)
	}
	return []fault{
		{name: "latency", harmless: true, toxics: []string{toxic("latency", "upstream", `"latency":30,"jitter":20`), toxic("latency", "downstream", `"latency":30,"jitter":20`)}},
		{name: "packets in pieces", harmless: true, toxics: []string{toxic("slicer", "upstream", `"average_size":400,"size_variation":200,"delay":50`), toxic("slicer", "downstream", `"average_size":3,"size_variation":1,"delay":50`)}},
		{name: "closed in the middle of a statement", kept: keptNone, toxics: []string{toxic("limit_data", "upstream", fmt.Sprintf(`"bytes":%d`, partOfStatement))}},
		{name: "closed in the middle of an answer", kept: keptAll, toxics: []string{toxic("limit_data", "downstream", fmt.Sprintf(`"bytes":%d`, partOfAnswer))}},
		{name: "reset", toxics: []string{toxic("latency", "downstream", `"latency":200,"jitter":0`), toxic("reset_peer", "downstream", `"timeout":50`)}},
		{name: "black hole on the way there", kept: keptNone, toxics: []string{toxic("timeout", "upstream", `"timeout":0`)}},
		{name: "black hole on the way back", kept: keptAll, toxics: []string{toxic("timeout", "downstream", `"timeout":0`)}},
		{name: "closed slowly", kept: keptAll, toxics: []string{toxic("limit_data", "downstream", fmt.Sprintf(`"bytes":%d`, partOfAnswer)), toxic("slow_close", "downstream", `"delay":300`)}},
		{name: "cut", cut: true},
	}
}

const (
	faultConnect   = 2 * time.Second
	faultStatement = time.Second
	faultWorkers   = 2
	faultRows      = 50
	// Statements before and after the fault.
	before, after = 3, 3
	// settle bounds the wait for a statement that the server still works on.
	settle = 10 * time.Second
)

// RunFaults puts a proxy between the database and its server, breaks it in
// every way, and holds the books to account: what was acknowledged is in the
// table, and nothing beyond what was acknowledged or is unknown. An unknown
// statement is never sent again, so no row can be there twice.
func RunFaults(t *testing.T, f Faults) {
	for _, fault := range faults() {
		t.Run(fault.name, func(t *testing.T) { f.run(t, fault) })
	}
	t.Run("never answered", f.neverAnswered)
}

// books count rows by what became of them.
type books struct{ sent, acked, unknown, refused ibench.Sums }

func (b *books) add(o books) {
	b.sent.Add(o.sent)
	b.acked.Add(o.acked)
	b.unknown.Add(o.unknown)
	b.refused.Add(o.refused)
}

func (f Faults) run(t *testing.T, fault fault) {
	direct := f.open(t, f.Upstream, time.Minute)
	defer direct.Close()
	removeTables(t, direct)
	defer removeTables(t, direct)
	create(t, direct, "pi1")
	proxy := startProxy(t, f.Upstream)
	db := f.open(t, proxy.Listen, faultStatement)
	defer db.Close()

	var total books
	var inserters []ibench.Inserter
	for client := range faultWorkers {
		in := openInserter(t, db, "pi1")
		defer in.Close()
		inserters = append(inserters, in)
		healthy := insertMany(in, client, 0, before)
		if healthy.acked != healthy.sent {
			t.Fatalf("before the fault %d of %d rows were acknowledged", healthy.acked.Rows, healthy.sent.Rows)
		}
		total.add(healthy)
	}
	breakProxy(t, proxy, fault)
	results := make([]books, faultWorkers)
	var wg sync.WaitGroup
	for client, in := range inserters {
		wg.Go(func() { results[client] = insertMany(in, client, before, after) })
	}
	wg.Wait()
	broken := books{}
	for _, r := range results {
		broken.add(r)
	}
	total.add(broken)
	proxy.Stop() // or saying goodbye takes its time
	if fault.harmless && broken.acked != broken.sent {
		t.Errorf("%d of %d rows were acknowledged, want all", broken.acked.Rows, broken.sent.Rows)
	}
	lost, word := broken.unknown, "unknown"
	if f.CommitsApart {
		lost, word = broken.refused, "undone"
	}
	if !fault.harmless && lost.Rows != faultWorkers*faultRows {
		t.Errorf("%d rows are %s, want the %d of one statement per worker", lost.Rows, word, faultWorkers*faultRows)
	}
	f.account(t, direct, total, fault.kept)
}

func (f Faults) open(t testing.TB, address string, statement time.Duration) ibench.Database {
	t.Helper()
	db, err := f.Open(address, faultConnect, statement)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return db
}

// insertMany sends statements until one fails, and books them.
func insertMany(in ibench.Inserter, client, from, statements int) books {
	var b books
	for n := from; n < from+statements; n++ {
		in.Reset()
		sums := fill(in, stream(client), int64(n)*faultRows, int64(n+1)*faultRows)
		b.sent.Add(sums)
		err := in.Insert(context.Background())
		switch {
		case err == nil:
			b.acked.Add(sums)
			continue
		case drivers.ClassOf(err) == drivers.Unknown:
			b.unknown.Add(sums)
		default:
			b.refused.Add(sums)
		}
		return b
	}
	return b
}

// account compares the books with the table. What the server was still doing
// when the client gave up may take a moment to show.
func (f Faults) account(t *testing.T, db ibench.Database, b books, kept keptRows) {
	t.Helper()
	if sum := b.acked.Rows + b.unknown.Rows + b.refused.Rows; sum != b.sent.Rows {
		t.Errorf("%d rows acknowledged + %d unknown + %d refused are not the %d sent", b.acked.Rows, b.unknown.Rows, b.refused.Rows, b.sent.Rows)
	}
	want := b.acked
	if kept == keptAll {
		want.Add(b.unknown)
	}
	deadline := time.Now().Add(settle)
	for {
		got, _, err := db.Sums(context.Background(), "pi1")
		if err != nil {
			t.Fatalf("Sums: %v", err)
		}
		exact := !f.Atomic || kept == keptEither || got == want
		if got.Rows >= b.acked.Rows && got.Rows <= b.acked.Rows+b.unknown.Rows && exact {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the table holds %+v, where %+v was acknowledged and %d rows are unknown", got, b.acked, b.unknown.Rows)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func startProxy(t testing.TB, upstream string) *toxiproxy.Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "test", "127.0.0.1:0", upstream)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	return proxy
}

func breakProxy(t testing.TB, proxy *toxiproxy.Proxy, f fault) {
	t.Helper()
	if f.cut {
		proxy.Stop()
		return
	}
	for _, toxic := range f.toxics {
		if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			t.Fatal(err)
		}
	}
}

// neverAnswered: a server that accepts and says nothing ends in a sentence,
// not in a wait.
func (f Faults) neverAnswered(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	db, err := f.Open(l.Addr().String(), faultStatement, faultStatement)
	if err == nil {
		db.Close()
	}
	wantKind(t, err, drivers.ErrConnect)
}
