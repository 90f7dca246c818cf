package mysql

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// blocked gives both ends of a connection, the first one out of the poller.
func blocked(t *testing.T, timeout time.Duration) (*session, net.Conn) {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{socket: &greeted{Conn: conn}}
	if err := s.block(timeout); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.socket.Close() // some tests close it
		_ = peer.Close()
	})
	return s, peer
}

// A megabyte is more than a socket holds: the write waits for the reader.
func TestBlockingConnPassesAllBytes(t *testing.T) {
	s, peer := blocked(t, time.Minute)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	echoed := make(chan error, 1)
	go func() {
		_, err := io.CopyN(peer, peer, int64(len(sent)))
		echoed <- err
	}()
	written := make(chan error, 1)
	go func() {
		_, err := s.socket.Write(sent)
		written <- err
	}()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(s.socket, got); err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("read back %d bytes, equal %v, error %v", len(got), bytes.Equal(got, sent), err)
	}
	if err := errors.Join(<-written, <-echoed); err != nil {
		t.Fatal(err)
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.socket.Read(got); err != io.EOF {
		t.Errorf("after the peer closed: %v, want EOF", err)
	}
}

func TestBlockingConnTimesOut(t *testing.T) {
	s, _ := blocked(t, 10*time.Millisecond)
	if _, err := s.socket.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read without an answer: %v, want a deadline", err)
	}
}

// The descriptor may be given to another file only once nobody reads it.
func TestBlockingConnCloseEndsRead(t *testing.T) {
	s, _ := blocked(t, time.Minute)
	conn := s.socket.(*greeted).Conn.(*blockingConn)
	done := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		done <- err
	}()
	for reading := false; !reading; runtime.Gosched() {
		conn.mu.Lock()
		reading = conn.users == 1
		conn.mu.Unlock()
	}
	if err := s.socket.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a read went on after the connection was closed")
	}
	if err := conn.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closing twice: %v, want net.ErrClosed", err)
	}
	if _, err := conn.Write([]byte{1}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("writing after closing: %v, want net.ErrClosed", err)
	}
}

// With few workers there is a processor for each and one to spare, and
// afterwards as many as before; with many nothing changes.
func TestAnnounce(t *testing.T) {
	few, many := workersPerCPU*runtime.NumCPU(), workersPerCPU*runtime.NumCPU()+1
	before := runtime.GOMAXPROCS(0)
	s := &Server{}
	undo := s.Announce(few)
	if got := runtime.GOMAXPROCS(0); got != max(before, few+1) || !s.inKernel {
		t.Errorf("%d workers: GOMAXPROCS is %d, in the kernel %v", few, got, s.inKernel)
	}
	undo()
	if got := runtime.GOMAXPROCS(0); got != before || s.inKernel {
		t.Errorf("afterwards: GOMAXPROCS is %d, in the kernel %v; was %d", got, s.inKernel, before)
	}
	defer s.Announce(many)()
	if got := runtime.GOMAXPROCS(0); got != before || s.inKernel {
		t.Errorf("%d workers: GOMAXPROCS is %d, in the kernel %v; want %d as before", many, got, s.inKernel, before)
	}
}

// What has no descriptor, as a pipe in memory, stays as it is.
func TestBlockNeedsASocket(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	defer near.Close()
	s := &session{socket: &greeted{Conn: near}}
	if err := s.block(time.Second); err != nil {
		t.Fatal(err)
	}
	if s.socket.(*greeted).Conn != near {
		t.Error("a connection without a descriptor was replaced")
	}
}
