//go:build unix

package main

import (
	"path/filepath"
	"testing"

	"insertbench/internal/cli/scripttest"
)

func TestScripts(t *testing.T) { scripttest.Run(t, filepath.Join("testdata", "script")) }
