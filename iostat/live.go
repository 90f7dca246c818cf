package iostat

import (
	"context"
	"errors"
	"time"
)

// Live calls each with the View of every interval until count of them are done (0: without end),
// each fails or ctx ends; a context that ends is no error. Ticks lie on a fixed schedule from the
// start: one that comes late has its real length in its View, and those missed are skipped.
func (s *Sampler) Live(ctx context.Context, interval time.Duration, count int, each func(View) error) error {
	if interval <= 0 {
		return errors.New("the interval of a live view must be above zero")
	}
	last := s.Sample()
	next := last.At
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for n := 0; count == 0 || n < count; n++ {
		next = next.Add(interval)
		if late := s.now().Sub(next); late > 0 {
			next = next.Add(late.Truncate(interval) + interval)
		}
		timer.Reset(next.Sub(s.now()))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		now := s.Sample()
		if err := each(NewView(last, now)); err != nil {
			return err
		}
		last = now
	}
	return nil
}
