package mysql

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// maxGreetingBytes is far above the greetings of all servers and the longest
// error that a server sends in its place.
const maxGreetingBytes = 4096

// greeted is a connection whose greeting was read ahead, and is read again.
type greeted struct {
	net.Conn
	greeting []byte
}

// Read gives the greeting first.
func (g *greeted) Read(p []byte) (int, error) {
	if len(g.greeting) == 0 {
		return g.Conn.Read(p)
	}
	n := copy(p, g.greeting)
	g.greeting = g.greeting[n:]
	return n, nil
}

// dial connects and looks at the greeting. The driver takes a malformed one
// for a length to wait for, or panics on it.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	greeting, err := readGreeting(conn)
	if !stop() && err != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close() // the greeting's error says more
		return nil, err
	}
	return &greeted{conn, greeting}, nil
}

// readGreeting reads one packet, a length of 3 bytes, a number, and a payload,
// and checks that it is a greeting of protocol version 10 or an error. The
// lengths are those of MySQL's "Protocol::HandshakeV10".
func readGreeting(r io.Reader) ([]byte, error) {
	packet := make([]byte, 4, 256)
	if _, err := io.ReadFull(r, packet); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotMySQL, err)
	}
	length := int(packet[0]) | int(packet[1])<<8 | int(packet[2])<<16
	if length < 4 || length > maxGreetingBytes {
		return nil, errNotMySQL
	}
	packet = append(packet, make([]byte, length)...)
	payload := packet[4:]
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotMySQL, err)
	}
	const errorPacket, protocolVersion = 0xff, 10
	if payload[0] == errorPacket {
		return packet, nil
	}
	// After the version's text: thread 4, salt 8, filler 1, capabilities 2;
	// then, if anything: charset 1, status 2, capabilities 2, length 1,
	// reserved 6 and 4, salt 13 and the name of a plugin.
	const short, long = 4 + 8 + 1 + 2, 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 6 + 4 + 13
	end := bytes.IndexByte(payload, 0)
	rest := len(payload) - end - 1
	if payload[0] != protocolVersion || end < 0 || rest < short || rest > short && rest < long {
		return nil, errNotMySQL
	}
	return packet, nil
}
