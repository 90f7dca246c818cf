//go:build !linux

package mysql

import "time"

// block does nothing: the runtime's poller serves other systems.
func (s *session) block(time.Duration) error { return nil }
