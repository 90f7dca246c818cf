package ibench_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"insertbench/drivers/fake"
	"insertbench/ibench"
)

// announced writes down when it is told of workers, and when connections that
// query come and go.
type announced struct {
	*fake.Server
	told []string
}

func (a *announced) Announce(workers int) func() {
	a.told = append(a.told, fmt.Sprint("announce ", workers))
	return func() { a.told = append(a.told, "undo") }
}

func (a *announced) OpenQuerier(ctx context.Context, table string, client, rows int) (ibench.Querier, error) {
	a.told = append(a.told, "open")
	q, err := a.Server.OpenQuerier(ctx, table, client, rows)
	return &announcedQuerier{q, a}, err
}

type announcedQuerier struct {
	ibench.Querier
	db *announced
}

func (q *announcedQuerier) Close() error {
	q.db.told = append(q.db.told, "close")
	return q.Querier.Close()
}

// Two clients with a writer, a deleter and a reader each are six workers. A
// database is told before readers' connections are opened, and takes it back
// when they are closed; it is told nothing of a step that doesn't query.
func TestWorkersAreAnnounced(t *testing.T) {
	db := &announced{Server: openFake(t, fake.Config{KeepRows: true})}
	b := newBench(t, paired(), db)
	mustDo(t, b, loadStep(1000, 3))
	if len(db.told) > 0 {
		t.Errorf("a load told %v", db.told)
	}
	s := ibench.DefaultWrite()
	s.Rows, s.Deletes = 500, true
	mustDo(t, b, s)
	if want := []string{"announce 6", "open", "open", "close", "close", "undo"}; !slices.Equal(db.told, want) {
		t.Errorf("%v, want %v", db.told, want)
	}
}
