//go:build unix && !linux

package server

import (
	"os/exec"
	"syscall"
)

// setAttributes gives the child a process group, so that a terminal's ^C reaches only us. Nothing here ends it when we are killed.
func setAttributes(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
