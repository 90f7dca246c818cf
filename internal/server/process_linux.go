package server

import (
	"os/exec"
	"syscall"
)

// setAttributes gives the child a process group, so that a terminal's ^C reaches only us, and has the kernel end
// it when we die. A server is killed: its data is ours to lose. A wrapper is asked, so that one
// that stays can pass the signal on. The kernel drops this when the server changes its user,
// which is why a server started by root runs as root.
func setAttributes(cmd *exec.Cmd, wrapped bool) {
	sig := syscall.SIGKILL
	if wrapped {
		sig = syscall.SIGTERM
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: sig}
}
