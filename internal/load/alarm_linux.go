package load

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes one worker. Go waits for its own timers in epoll_wait, which
// counts in milliseconds (go.dev/issue/44343), so that they are half a one late
// on average; a timer of the kernel that epoll watches is some 0.05 ms late.
type alarm struct {
	fd   int
	file *os.File // of fd, for Go to wait on
	buf  [8]byte
}

// newAlarm is nil where the kernel has none to give.
func newAlarm() *alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	a := &alarm{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
	if a.file.SetReadDeadline(time.Time{}) != nil { // Go can't wait on it
		a.close()
		return nil
	}
	return a
}

// wait waits so long, above 0. It belongs to the worker.
func (a *alarm) wait(left time.Duration) error {
	set := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(left))}
	if err := unix.TimerfdSettime(a.fd, 0, &set, nil); err != nil {
		return os.NewSyscallError("timerfd_settime", err)
	}
	_, err := a.file.Read(a.buf[:])
	return err
}

// interrupt ends a wait, and all later ones, with an error. Any goroutine may
// call it, after close too.
func (a *alarm) interrupt() { _ = a.file.SetReadDeadline(time.Unix(1, 0)) } // fails where it is closed: nobody waits

// close is called by the worker as it ends.
func (a *alarm) close() { _ = a.file.Close() } // nothing was written to it
