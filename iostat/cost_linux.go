package iostat

import "golang.org/x/sys/unix"

// threadCPU is the CPU time of the calling thread in microseconds.
func threadCPU() Opt[int64] {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return Opt[int64]{}
	}
	return Some((u.Utime.Nano() + u.Stime.Nano()) / 1000)
}
