package drivers

import (
	"context"
	"maps"
	"slices"
	"sync"
)

type undoKey struct{}

// Undoings are the changes to a server under way that must be put back before
// the process may end: global variables, above all.
type Undoings struct {
	held sync.RWMutex

	mu     sync.Mutex
	byHand map[*string]string
}

// WithUndoings gives a context in which Undoing is noticed.
func WithUndoings(ctx context.Context) (context.Context, *Undoings) {
	u := &Undoings{byHand: map[*string]string{}}
	return context.WithValue(ctx, undoKey{}, u), u
}

// Undoing begins a change that is put back, and says how a user does that by
// hand; the function it returns must be called once it was.
func Undoing(ctx context.Context, byHand string) func() {
	u, ok := ctx.Value(undoKey{}).(*Undoings)
	if !ok {
		return func() {}
	}
	u.held.RLock()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.byHand[&byHand] = byHand
	return func() {
		u.mu.Lock()
		delete(u.byHand, &byHand)
		u.mu.Unlock()
		u.held.RUnlock()
	}
}

// Left says, for each change that wasn't put back yet, how that is done by hand.
func (u *Undoings) Left() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Values(u.byHand))
}

// Undone is closed once nothing is left to put back.
func (u *Undoings) Undone() <-chan struct{} {
	undone := make(chan struct{})
	go func() {
		u.held.Lock()
		defer u.held.Unlock()
		close(undone)
	}()
	return undone
}
