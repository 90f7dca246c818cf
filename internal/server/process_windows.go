package server

import (
	"os"
	"os/exec"
)

// Windows has no signal that asks a process to end.
var terminateSignal = os.Kill

func setAttributes(*exec.Cmd, bool) {}

func killGroup(p *os.Process) { _ = p.Kill() }

func inGroup(int, int) bool { return false }
