package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"insertbench/internal/server/servertest"
)

// withServers runs the tests of a binary that shares servers.
type withServers struct{ m *testing.M }

func (w withServers) Run() int { return servertest.Run(w.m) }

// TestMain makes the test binary the command where it is started under its
// name, so that scripts run real processes with real signals and exit codes.
func TestMain(m *testing.M) {
	testscript.Main(withServers{m}, map[string]func(){"linkbench": main})
}
