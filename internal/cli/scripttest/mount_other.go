//go:build unix && !linux

package scripttest

import "github.com/rogpeppe/go-internal/testscript"

const canMount = false

func mountSmall(ts *testscript.TestScript, neg bool, args []string) {
	ts.Fatalf("a test doesn't mount on this system")
}
