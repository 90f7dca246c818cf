//go:build !unix

package hook

import (
	"context"
	"os"
	"os/exec"
)

func shell(ctx context.Context, command string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/c", command)
}

func setGroup(*exec.Cmd) {}

func killGroup(p *os.Process) error { return p.Kill() }
