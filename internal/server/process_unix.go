//go:build unix

package server

import (
	"os"
	"syscall"
)

const terminateSignal = syscall.SIGTERM

// killGroup ends the process and its group. The group is what a wrapper started; the process has been its leader since the fork.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}

func inGroup(pid, leader int) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && group == leader
}
