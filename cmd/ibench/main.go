// Command ibench runs the Insert Benchmark and prices every operation in
// hardware.
package main

import (
	"context"
	"os"

	"insertbench/internal/cli"
)

func main() { os.Exit(int(run(context.Background(), cli.System()))) }
