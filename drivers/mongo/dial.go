package mongo

import (
	"context"
	"errors"
	"net"
	"sync"
)

// errAborted is what a connection fails with after Abort.
var errAborted = errors.New("the connection was aborted")

// dialer opens a client's connections and can close them all under it, which
// is the only way to end a command whose answer doesn't come at once.
type dialer struct {
	net net.Dialer

	mu      sync.Mutex
	open    map[*conn]struct{}
	aborted bool
}

func newDialer() *dialer { return &dialer{open: make(map[*conn]struct{})} }

// DialContext opens a connection that abort can close.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if d.isAborted() {
		return nil, errAborted
	}
	nc, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, dialer: d, target: address}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.aborted {
		nc.Close()
		return nil, errAborted
	}
	d.open[c] = struct{}{}
	return c, nil
}

// abort closes every connection and refuses new ones.
func (d *dialer) abort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.aborted = true
	for c := range d.open {
		c.Conn.Close()
	}
}

func (d *dialer) isAborted() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.aborted
}

// peer is the other end of an open connection to a target, as the operating
// system names it; nil where there is none.
func (d *dialer) peer(target string) net.Addr {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.open {
		if c.target == target {
			return c.RemoteAddr()
		}
	}
	return nil
}

// conn forgets itself when it is closed.
type conn struct {
	net.Conn
	dialer *dialer
	target string
}

func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.open, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
