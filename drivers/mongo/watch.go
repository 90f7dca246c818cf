package mongo

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"

	"go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/mongo/description"
)

// watch remembers what each server answered to the client's heartbeats. It
// explains a failed connection better than the client's own error, and ends
// it early where waiting can't help.
type watch struct {
	hosts int // how many the URI names
	// giveUp ends the attempt to connect.
	giveUp context.CancelFunc

	mu       sync.Mutex
	failures map[string]error
	answers  map[string]description.Server
	// pooled is the server that the last connection for commands went to.
	pooled string
}

func newWatch(hosts int, giveUp context.CancelFunc) *watch {
	return &watch{hosts: hosts, giveUp: giveUp,
		failures: make(map[string]error), answers: make(map[string]description.Server)}
}

func (w *watch) serverMonitor() *event.ServerMonitor {
	return &event.ServerMonitor{
		ServerHeartbeatSucceeded: func(e *event.ServerHeartbeatSucceededEvent) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.answers[heartbeatAddress(e.ConnectionID)] = e.Reply
		},
		ServerHeartbeatFailed: func(e *event.ServerHeartbeatFailedEvent) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.failures[heartbeatAddress(e.ConnectionID)] = e.Failure
			hopeless := 0
			for _, err := range w.failures {
				if isHopeless(err) {
					hopeless++
				}
			}
			if hopeless >= w.hosts && len(w.answers) == 0 {
				w.giveUp()
			}
		},
	}
}

func (w *watch) poolMonitor() *event.PoolMonitor {
	return &event.PoolMonitor{Event: func(e *event.PoolEvent) {
		if e.Type != event.GetSucceeded {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pooled = e.Address
	}}
}

func (w *watch) pooledAddress() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pooled
}

// seen copies what was remembered.
func (w *watch) seen() (failures map[string]error, answers map[string]description.Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	failures, answers = make(map[string]error), make(map[string]description.Server)
	for k, v := range w.failures {
		failures[k] = v
	}
	for k, v := range w.answers {
		answers[k] = v
	}
	return failures, answers
}

// heartbeatAddress takes "[-3]" off "127.0.0.1:27017[-3]".
func heartbeatAddress(connectionID string) string {
	if i := strings.LastIndex(connectionID, "[-"); i >= 0 {
		return connectionID[:i]
	}
	return connectionID
}

// isHopeless says whether asking again in half a second would give the same.
func isHopeless(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) ||
		errors.As(err, &dns) || isTLS(err)
}
