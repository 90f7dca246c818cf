package server

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// process is a child with its own process group. One goroutine starts it and waits for it.
type process struct {
	cmd     *exec.Cmd
	wrapped bool
	done    chan struct{} // closed when the child has been waited for
	err     error         // how it ended; valid when done is closed
}

// startProcess runs cmd with its output appended to the file log. wrapped says that the child may be a wrapper
// with the server below it.
func startProcess(cmd *exec.Cmd, log string, wrapped bool) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open its log: %w", err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	setAttributes(cmd, wrapped)
	p := &process{cmd: cmd, wrapped: wrapped, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

// run starts the child and waits for it on one thread that does nothing else: Linux sends the
// parent-death signal when the thread that started the child ends, not when the process does.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.err = p.cmd.Wait()
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the child and everything in its process group and waits until the child is gone.
func (p *process) kill() {
	select {
	case <-p.done:
		if !p.wrapped {
			return // nothing is left of it, and its number may be another's by now
		}
	default:
	}
	killGroup(p.cmd.Process)
	<-p.done
}

// owns reports whether pid is the child, or in its group: a server below a wrapper that stays.
func (p *process) owns(pid int) bool { return pid == p.pid() || inGroup(pid, p.pid()) }

// terminate asks the server, the child or one that the child started, to shut down; os.ErrProcessDone when there
// is none any more.
func (p *process) terminate(server int) error {
	if server == p.pid() {
		return p.cmd.Process.Signal(terminateSignal)
	}
	if !p.owns(server) {
		return os.ErrProcessDone
	}
	proc, err := os.FindProcess(server)
	if err != nil {
		return err
	}
	return proc.Signal(terminateSignal)
}
