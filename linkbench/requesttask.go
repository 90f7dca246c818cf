package linkbench

import (
	"context"
	"fmt"
	"math"
	"time"

	"insertbench/drivers"
	"insertbench/internal/load"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
)

// requestOps names the operations in the record, indexed by graph.Op.
func requestOps() []string {
	names := make([]string, graph.Ops)
	for op := range names {
		names[op] = graph.Op(op).String()
	}
	return names
}

// OpStats counts what operations of one kind came to; latencies are kept
// elsewhere. Sums over requesters add up.
type OpStats struct {
	Done    int64 `json:"done"`
	Errors  int64 `json:"errors"`  // given up
	Retries int64 `json:"retries"` // attempts after a first one that was rolled back
	// Found counts operations that found what they were about: a node or link,
	// a list or multiget with a row, a count above 0.
	Found int64 `json:"found"`
	Rows  int64 `json:"rows"` // read or changed
	// Switched counts adds that became updates and updates that became adds.
	Switched int64 `json:"switched"`
}

func (s *OpStats) add(o OpStats) {
	s.Done += o.Done
	s.Errors += o.Errors
	s.Retries += o.Retries
	s.Found += o.Found
	s.Rows += o.Rows
	s.Switched += o.Switched
}

// RequestStats counts by operation.
type RequestStats struct {
	Ops [graph.Ops]OpStats `json:"ops"` // by graph.Op
	// History counts list queries for an older page.
	History int64 `json:"history_queries"`
}

func (s *RequestStats) add(o RequestStats) {
	for op := range s.Ops {
		s.Ops[op].add(o.Ops[op])
	}
	s.History += o.History
}

// requestTask is one requester.
type requestTask struct {
	*retrier
	gen    *stream.Requests
	client Client
	now    func() time.Time
	// left is how many requests remain, below 0 without end.
	left      int64
	budget    int64 // of errors; below 0 for any number
	requester int
	stats     RequestStats

	req   *stream.Request
	query ListQuery
	node  graph.Node
	// What the attempt under way saw.
	result   OpStats
	oldestMS int64
	visit    func(*graph.Link) // made once, so that no operation allocates one
	send     func(context.Context) error
}

func newRequestTask(gen *stream.Requests, c Client, requester, maxRetries int) *requestTask {
	t := &requestTask{retrier: newRetrier(maxRetries), gen: gen, client: c, now: time.Now, left: -1, requester: requester}
	t.visit = func(l *graph.Link) {
		t.result.Rows++
		t.oldestMS = l.TimeMS
	}
	t.send = t.attempt
	return t
}

// Next generates the next request.
func (t *requestTask) Next() bool {
	if t.left == 0 {
		return false
	}
	if t.left > 0 {
		t.left--
	}
	t.req = t.gen.Next(t.now().UnixMilli())
	return true
}

// Do carries the request out. What the server rolled back is sent again inside
// its latency. Another failure is counted against the budget; one whose
// outcome is unknown, or that comes with the budget spent, ends the requester.
func (t *requestTask) Do(ctx context.Context, rec *load.Recorder) (load.Done, error) {
	op := t.req.Op
	stats := &t.stats.Ops[op]
	if op.Writes() {
		rec.Sending(1)
	} else {
		rec.Sending(0) // a read that never returns leaves nothing unknown
	}
	retries, err := t.retrier.do(ctx, rec, t.send)
	stats.Retries += retries
	if err == nil {
		t.result.Done = 1
		stats.add(t.result)
		if op == graph.ListLinks {
			t.gen.Listed(int(t.result.Rows), t.oldestMS)
			if t.req.History {
				t.stats.History++
			}
		}
		return load.Done{Op: int(op), Units: 1}, nil
	}
	stats.Errors++
	class := drivers.ClassOf(err)
	if class == drivers.Unknown {
		rec.Unknown(1)
		return load.Done{}, fmt.Errorf("requester %d, %s: %w; whether it was carried out is unknown, and it is not sent again",
			t.requester, t.about(), err)
	}
	rec.Refused(1)
	if t.budget == 0 {
		return load.Done{}, fmt.Errorf("requester %d has no failures left (max_failed_requests), %s: %w", t.requester, t.about(), err)
	}
	if t.budget > 0 {
		t.budget--
	}
	return load.Done{Op: int(op), Failed: true}, nil
}

// about says what the request was.
func (t *requestTask) about() string {
	switch op := t.req.Op; op {
	case graph.AddNode:
		return op.String()
	case graph.UpdateNode, graph.DeleteNode, graph.GetNode:
		return fmt.Sprintf("%s %d", op, t.req.Node.ID)
	default:
		return fmt.Sprintf("%s of id1 %d, type %d", op, t.req.Link.ID1, t.req.Link.Type)
	}
}

// attempt sends the request once and notes what came of it.
func (t *requestTask) attempt(ctx context.Context) error {
	t.result = OpStats{}
	t.oldestMS = math.MaxInt64
	switch t.req.Op {
	case graph.AddLink, graph.UpdateLink, graph.DeleteLink:
		return t.writeLink(ctx)
	case graph.CountLinks, graph.MultigetLinks, graph.ListLinks:
		return t.readLinks(ctx)
	}
	return t.useNode(ctx)
}

func (t *requestTask) writeLink(ctx context.Context) error {
	l := &t.req.Link
	var effect Effect
	var err error
	other := Inserted // the effect of having switched from update to add
	switch {
	case t.req.Op == graph.DeleteLink:
		effect, err = t.client.DeleteLink(ctx, l.ID1, l.Type, l.ID2)
	case t.req.Op == graph.UpdateLink && !t.req.InsertFirst:
		effect, err = t.client.UpdateLink(ctx, l)
	default:
		effect, err = t.client.AddLink(ctx, l)
		other = Updated
	}
	if err != nil {
		return err
	}
	if effect != Unchanged {
		t.result.Found, t.result.Rows = 1, 1
	}
	if effect == other {
		t.result.Switched = 1
	}
	return nil
}

func (t *requestTask) readLinks(ctx context.Context) (err error) {
	q := t.req
	switch q.Op {
	case graph.CountLinks:
		t.result.Rows, err = t.client.CountLinks(ctx, q.Link.ID1, q.Link.Type)
	case graph.MultigetLinks:
		err = t.client.MultigetLinks(ctx, q.Link.ID1, q.Link.Type, q.ID2s, t.visit)
	case graph.ListLinks:
		t.query = ListQuery{ID1: q.Link.ID1, Type: q.Link.Type, MinTimeMS: q.MinTimeMS, MaxTimeMS: q.MaxTimeMS,
			Offset: q.Offset, Limit: q.Limit}
		err = t.client.ListLinks(ctx, &t.query, t.visit)
	}
	if t.result.Rows > 0 {
		t.result.Found = 1
	}
	if q.Op == graph.CountLinks {
		t.result.Rows = t.result.Found // one row, whatever number it holds
	}
	return err
}

func (t *requestTask) useNode(ctx context.Context) error {
	n := &t.req.Node
	found, err := true, error(nil)
	switch t.req.Op {
	case graph.AddNode:
		_, err = t.client.AddNode(ctx, n)
	case graph.UpdateNode:
		found, err = t.client.UpdateNode(ctx, n)
	case graph.DeleteNode:
		found, err = t.client.DeleteNode(ctx, n.ID, n.Type)
	case graph.GetNode:
		found, err = t.client.GetNode(ctx, n.ID, n.Type, &t.node)
	}
	if found && err == nil {
		t.result.Found, t.result.Rows = 1, 1
	}
	return err
}

// Abort breaks off a request that is waiting for its answer.
func (t *requestTask) Abort() {
	t.abort()
	t.client.Abort()
}
