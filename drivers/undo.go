package drivers

import (
	"context"
	"sync"
)

type undoKey struct{}

// Undoings are the changes to a server under way that must be put back before
// the process may end: global variables, above all.
type Undoings struct{ held sync.RWMutex }

// WithUndoings gives a context in which Undoing is noticed.
func WithUndoings(ctx context.Context) (context.Context, *Undoings) {
	u := new(Undoings)
	return context.WithValue(ctx, undoKey{}, u), u
}

// Undoing begins a change that is put back; the function it returns must be
// called once it was.
func Undoing(ctx context.Context) func() {
	u, ok := ctx.Value(undoKey{}).(*Undoings)
	if !ok {
		return func() {}
	}
	u.held.RLock()
	return u.held.RUnlock
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
