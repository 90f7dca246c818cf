// Command linkbench runs LinkBench and prices every request in hardware.
package main

import (
	"context"
	"os"

	"insertbench/internal/cli"
)

func main() { os.Exit(int(run(context.Background(), cli.System()))) }
