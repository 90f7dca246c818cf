package drivers

import (
	"context"
	"fmt"
	"sync/atomic"
)

type waitingKey struct{}

// Waiting is what a call that takes long waits for at the moment.
type Waiting struct{ text atomic.Pointer[string] }

// WithWaiting gives a context in which WaitingFor is noticed.
func WithWaiting(ctx context.Context) (context.Context, *Waiting) {
	w := new(Waiting)
	return context.WithValue(ctx, waitingKey{}, w), w
}

// WaitingFor says what is waited for, with its unit.
func WaitingFor(ctx context.Context, format string, args ...any) {
	if w, ok := ctx.Value(waitingKey{}).(*Waiting); ok {
		text := fmt.Sprintf(format, args...)
		w.text.Store(&text)
	}
}

// Text is what was said last, "" before the first word.
func (w *Waiting) Text() string {
	if text := w.text.Load(); text != nil {
		return *text
	}
	return ""
}
