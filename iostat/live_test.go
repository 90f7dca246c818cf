package iostat

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLive(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	synctest.Test(t, func(t *testing.T) {
		s, err := NewSampler(r, Watch{Disks: []string{"sda"}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var ends, lengths []float64
		err = s.Live(t.Context(), time.Second, 4, func(v View) error {
			ends = append(ends, v.At.Sub(start).Seconds())
			lengths = append(lengths, v.Seconds)
			if len(ends) == 2 {
				time.Sleep(2500 * time.Millisecond) // whoever reads this is slow: the tick at 3 s comes late, at 5 s
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]float64{1, 2, 5, 6}, ends); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]float64{1, 1, 3, 1}, lengths); diff != "" {
			t.Errorf("lengths (-want +got):\n%s", diff)
		}
	})
}

func TestLiveStops(t *testing.T) {
	r := unpack(t, "kernel/6.1.txtar")
	synctest.Test(t, func(t *testing.T) {
		s, err := NewSampler(r, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		n := 0
		if err := s.Live(ctx, time.Second, 0, func(View) error { n++; return nil }); err != nil || n != 2 {
			t.Errorf("want two views and no error, got %d, %v", n, err)
		}
		full := errors.New("no space left")
		if err := s.Live(t.Context(), time.Second, 0, func(View) error { return full }); !errors.Is(err, full) {
			t.Errorf("want the error of the reader, got %v", err)
		}
		if err := s.Live(t.Context(), 0, 0, nil); err == nil {
			t.Error("want an error for no interval")
		}
	})
}
