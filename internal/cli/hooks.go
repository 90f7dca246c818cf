package cli

import (
	"context"
	"os"
	"time"

	"insertbench/internal/hook"
	"insertbench/internal/step"
)

// hooks are the commands that the flags name, none where they name none. They
// get the environment without the password; a failure at a step's end is a
// warning, since the step was measured by then.
func (m Measuring) hooks(p *Process) step.Hooks {
	run := func(command string) func(context.Context, []string, *os.File) error {
		if command == "" {
			return nil
		}
		return hook.Hook{Command: command, Timeout: time.Duration(m.HookTimeout), Hide: []string{PasswordEnv}}.Run
	}
	h := step.Hooks{Start: run(m.OnStepStart)}
	if end := run(m.OnStepEnd); end != nil {
		h.End = func(ctx context.Context, facts []string, out *os.File) error {
			err := end(ctx, facts, out)
			if err != nil {
				p.Warnf("--on-step-end: %v", err)
			}
			return err
		}
	}
	return h
}
