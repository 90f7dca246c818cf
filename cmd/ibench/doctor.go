package main

import (
	"encoding/json"
	"os"

	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
	"insertbench/iostat"
	"insertbench/iostat/doctor"
)

// doctorCommand looks at the host and changes nothing.
func doctorCommand(p *cli.Process) *urfave.Command {
	var dataDir string
	var asJSON bool
	cfg := ibench.DefaultConfig()
	cfg.Rows = 0
	return &urfave.Command{
		Name:  "doctor",
		Usage: "say what on this host will spoil the numbers, why, and how to change it; it changes nothing",
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "data-dir", Usage: "look at the file system and disks of the data directory `FOLDER` (default: this one)", Destination: &dataDir},
			&urfave.StringFlag{Name: "pid", Usage: "look at the server's process `PID`, or a comma list of them"},
			cli.CountFlag("rows", "see whether `N` rows will fit; 0 doesn't look", &cfg.Rows, ""),
			&urfave.BoolFlag{Name: "json", Usage: "print the findings as JSON", Destination: &asJSON},
		},
		Action: func(c *urfave.Context) error {
			pids, err := cli.ParsePIDs("pid", c.String("pid"))
			if err != nil {
				return err
			}
			if cfg.Rows < 0 {
				return cli.Usagef("--rows=%d: it can't be negative", cfg.Rows)
			}
			if dataDir == "" {
				dataDir = "."
			}
			if _, err := os.Stat(dataDir); err != nil {
				return cli.Usagef("--data-dir=%s: %w", dataDir, err)
			}
			about := doctor.About{Dirs: []string{dataDir}, Server: pids, Client: os.Getpid()}
			if cfg.Rows > 0 {
				about.NeedBytes = iostat.Some(cfg.DiskBytes())
			}
			findings := doctor.Examine(iostat.Root{}, about)
			if asJSON {
				out := json.NewEncoder(p.Stdout)
				out.SetIndent("", "  ")
				return out.Encode(findings)
			}
			return doctor.Text(p.Stdout, findings)
		},
	}
}
