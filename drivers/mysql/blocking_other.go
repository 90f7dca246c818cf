//go:build !linux

package mysql

import "time"

// Announce changes nothing: the runtime's poller serves other systems.
func (s *Server) Announce(int) (undo func()) { return func() {} }

// block does nothing, for the same reason.
func (s *session) block(time.Duration) error { return nil }
