package mysql

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"insertbench/drivers"
)

var _ drivers.Announced = (*Server)(nil)

// workersPerCPU is up to how many workers per processor those that query wait
// in the kernel. Measured on two processors beside the server: with 2 and 4
// requesters of LinkBench the client took 0.5 and 0.7 times the CPU of the
// poller and answered 1.7 and 1.4 times the requests a second, with 8 it was
// even, and with 16 the poller, which wakes one thread for many answers, was better.
const workersPerCPU = 2

// Announce makes few workers wait in the kernel, each with a processor of the
// scheduler to itself and one to spare: without a spare one the runtime takes a
// waiting thread's away within 20 µs, and that thread must be parked and woken
// to go on. undo is for when the workers' connections are closed.
func (s *Server) Announce(workers int) (undo func()) {
	if workers > workersPerCPU*runtime.NumCPU() {
		return func() {}
	}
	s.inKernel = true
	before := runtime.GOMAXPROCS(0)
	if before > workers {
		return func() { s.inKernel = false }
	}
	runtime.GOMAXPROCS(workers + 1)
	return func() {
		s.inKernel = false
		runtime.GOMAXPROCS(before)
	}
}

// block takes an idle connection out of the runtime's poller: its reads and
// writes then wait in the kernel, a thread for each connection. A statement
// that takes 20 µs to 1 ms is answered before the runtime has parked the
// goroutine, asked epoll and woken a thread, and all of that is the client's
// CPU. A read or write without progress for timeout fails, as with a deadline.
func (s *session) block(timeout time.Duration) error {
	g, ok := s.socket.(*greeted)
	if !ok {
		return nil
	}
	conn, ok := g.Conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("taking the socket out of the poller: %w", err)
	}
	fd := -1
	var failed error
	err = raw.Control(func(polled uintptr) { fd, failed = blockingCopy(int(polled), timeout) })
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("taking the socket out of the poller: %w", err)
	}
	b := &blockingConn{Conn: g.Conn, fd: fd}
	if err := g.Close(); err != nil { // the copy keeps the connection
		return errors.Join(err, b.Close())
	}
	g.Conn = b
	return nil
}

// blockingCopy is another descriptor of the same socket, in blocking mode.
func blockingCopy(polled int, timeout time.Duration) (int, error) {
	n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(polled), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return -1, os.NewSyscallError("fcntl", errno)
	}
	fd := int(n)
	limit := syscall.NsecToTimeval(timeout.Nanoseconds())
	err := errors.Join(
		os.NewSyscallError("setsockopt", syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit)),
		os.NewSyscallError("setsockopt", syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit)),
		os.NewSyscallError("fcntl", syscall.SetNonblock(fd, false)))
	if err != nil {
		_ = syscall.Close(fd) // the error above says more
		return -1, err
	}
	return fd, nil
}

// yieldEvery keeps a goroutine that only ever waits in the kernel under the
// 10 ms (forcePreemptNS) after which the runtime takes its processor away. Each
// time it does, its monitor looks every 20 µs for the next millisecond and more,
// and stops each system call that it meets (retake in runtime/proc.go). On two
// processors beside the server a point query took 0.7 times the client's CPU with it.
const yieldEvery = 4 * time.Millisecond

// blockingConn is a connection outside the poller. Its addresses are those of
// the closed Conn it was made of. One goroutine reads at a time. Close may be
// called beside a Read or Write, which it ends; the descriptor is given back
// when neither uses it any more.
type blockingConn struct {
	net.Conn
	fd      int
	yielded time.Time
	mu      sync.Mutex
	users   int
	closed  bool
}

func (b *blockingConn) enter() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return net.ErrClosed
	}
	b.users++
	return nil
}

func (b *blockingConn) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users--; b.closed && b.users == 0 {
		_ = syscall.Close(b.fd) // nothing is buffered that an error could be about
	}
}

// Read waits for bytes.
func (b *blockingConn) Read(p []byte) (int, error) {
	if err := b.enter(); err != nil {
		return 0, err
	}
	defer b.leave()
	if now := time.Now(); now.Sub(b.yielded) > yieldEvery {
		b.yielded = now
		runtime.Gosched()
	}
	for {
		n, err := syscall.Read(b.fd, p)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, b.failed("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write waits until all is taken.
func (b *blockingConn) Write(p []byte) (int, error) {
	if err := b.enter(); err != nil {
		return 0, err
	}
	defer b.leave()
	for done := 0; ; {
		// Not write(2), which raises SIGPIPE where the peer is gone.
		n, err := syscall.SendmsgN(b.fd, p[done:], nil, nil, syscall.MSG_NOSIGNAL)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return done, b.failed("write", err)
		default:
			if done += n; done == len(p) {
				return done, nil
			}
		}
	}
}

func (b *blockingConn) failed(call string, err error) error {
	if err == syscall.EAGAIN {
		err = os.ErrDeadlineExceeded
	}
	return &net.OpError{Op: call, Net: b.LocalAddr().Network(), Err: os.NewSyscallError(call, err)}
}

// Close ends the connection, and a Read or Write with it.
func (b *blockingConn) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return net.ErrClosed
	}
	b.closed = true
	_ = syscall.Shutdown(b.fd, syscall.SHUT_RDWR) // the peer may have done so
	if b.users == 0 {
		return os.NewSyscallError("close", syscall.Close(b.fd))
	}
	return nil
}

// SetDeadline and the two below do nothing: the socket's own limits hold.
func (b *blockingConn) SetDeadline(time.Time) error      { return nil }
func (b *blockingConn) SetReadDeadline(time.Time) error  { return nil }
func (b *blockingConn) SetWriteDeadline(time.Time) error { return nil }
