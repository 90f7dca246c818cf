//go:build !linux

package load

import (
	"errors"
	"time"
)

// alarm is Linux's; elsewhere Go's timers are as good.
type alarm struct{}

func newAlarm() *alarm                  { return nil }
func (*alarm) wait(time.Duration) error { return errors.ErrUnsupported }
func (*alarm) interrupt()               {}
func (*alarm) close()                   {}
