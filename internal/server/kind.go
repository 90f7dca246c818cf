package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// kind is what differs between the server families.
type kind struct {
	configName string
	socket     func(dir string, port int) string
	initialise func(ctx context.Context, in instance) error
	args       func(in instance) []string
	answers    func(ctx context.Context, in instance) bool
}

func (id Identity) kind() *kind {
	switch {
	case id.isMongo():
		return &kind{configName: "mongod.conf", socket: mongodSocket, initialise: mongodInitialise, args: mongodArgs, answers: mongodAnswers}
	case id.Product == MariaDB:
		return &kind{configName: "my.cnf", socket: mysqlSocket, initialise: mariadbInitialise, args: mysqlArgs, answers: mysqlGreets}
	default:
		return &kind{configName: "my.cnf", socket: mysqlSocket, initialise: mysqlInitialise, args: mysqlArgs, answers: mysqlGreets}
	}
}

// instance is one server about to be started.
type instance struct {
	program   string
	wrapper   []string
	id        Identity
	home      *home
	config    string
	ourConfig bool
	extra     []string
	port      int
	socket    string
}

// command is the program below the wrapper.
func (in instance) command(args ...string) *exec.Cmd {
	argv := append(append([]string{}, in.wrapper...), in.program)
	argv = append(argv, args...)
	return exec.Command(argv[0], argv[1:]...)
}

// runToEnd runs a command that prepares something, with its output in the server's log.
func (in instance) runToEnd(ctx context.Context, cmd *exec.Cmd) error {
	from := fileSize(in.home.log)
	p, err := startProcess(cmd, in.home.log, false)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
		return context.Cause(ctx)
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w%s", cmd.Path, p.err, logTail(in.home.log, from))
	}
	return nil
}

func isRoot() bool { return os.Geteuid() == 0 }
