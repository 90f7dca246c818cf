package main

import (
	"encoding/json"
	"errors"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
	"insertbench/linkbench"
	"insertbench/linkbench/config"
	"insertbench/linkbench/stream"
	"insertbench/results"
)

// resumeFlag is of the commands that load.
func resumeFlag(o *options) urfave.Flag {
	return &urfave.StringFlag{Name: "resume", Usage: "go on with the load that was interrupted, whose record is in folder `RUN`: send what wasn't acknowledged, build the index where it is missing, verify all", Destination: &o.resume, Category: "Load"}
}

// recordedFlags are those that the record of a load that is resumed has the
// say of.
var recordedFlags = []string{
	"config", "D", "profile", "compat", "stream", "startid1", "maxid1", "tail", "seed", "load-seed", "request-seed",
	"index-at", "drop", "index", "partitions", "key-block-kb", "column-families", "engine", "engine-options",
	"clients", "requests", "seconds", "warmup", "request-rate", "request-rates", "transactions", "first-client", "all-clients",
}

// dashed is a flag as one types it.
func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// recordedRun is what a resumed load takes of a record's configuration.
type recordedRun struct {
	Database     map[string]any  `json:"database"`
	Workload     json.RawMessage `json:"workload"`
	Plan         linkbench.Plan  `json:"plan"`
	Transactions string          `json:"transactions"`
}

// resume makes the configuration of a load that goes on with one that was
// interrupted. The graph, the tables and the plan are the record's; so is the
// connection, but for secrets and for what flags say.
func (cfg *linkConfig) resume(c *urfave.Context, p *cli.Process) error {
	for _, flag := range recordedFlags {
		if c.IsSet(flag) {
			return cli.Usagef("--resume takes the graph, the tables and the requests from the record; leave %s out", dashed(flag))
		}
	}
	recorded, pieces, err := interrupted(cfg.options.resume)
	if err != nil {
		return err
	}
	if err := cfg.planAgain(recorded); err != nil {
		return err
	}
	if err := cfg.graphAgain(c, recorded.Workload, pieces); err != nil {
		return err
	}
	dbms := cli.RecordedText(recorded.Database, "dbms")
	if err := cli.ConnectAsBefore(c, recorded.Database); err != nil {
		return err
	}
	if cfg.Database, err = connection().Resolve(c, p); err != nil {
		return err
	}
	if cfg.Database.DBMS != dbms {
		return cli.Usagef("the load of %s went to %s, and can't be resumed on %s", cfg.options.resume, dbms, cfg.Database.DBMS)
	}
	if err := cfg.resolveLegacy(c); err != nil {
		return err
	}
	cfg.Transactions, cfg.ResumedFrom = recorded.Transactions, cfg.options.resume
	cfg.notes = append(cfg.notes, cfg.Plan.Resume.Note())
	return cfg.resumedVerify(c)
}

// interrupted reads the record of a load that can go on.
func interrupted(name string) (*recordedRun, []results.Piece, error) {
	run, err := results.Load(name)
	if err != nil {
		return nil, nil, usage(err)
	}
	var recorded recordedRun
	switch {
	case run.Workload != "linkbench":
		return nil, nil, cli.Usagef("%s is the record of a run of %s; go on with it by %[2]s run --resume", name, run.Workload)
	case cli.Recorded(run.Config, &recorded) != nil || !recorded.Plan.Load:
		return nil, nil, cli.Usagef("%s is the record of linkbench %s, which loads nothing", name, run.Plan)
	case loaded(&run, recorded.Plan):
		return nil, nil, cli.Usagef("the load of %s is complete: verify it with linkbench verify --check=loaded, make requests with linkbench request", name)
	}
	pieces, err := results.LoadPieces(name)
	if errors.Is(err, results.ErrNoPieces) {
		return nil, nil, cli.Usagef("%s doesn't say which pieces of the load were acknowledged (%w): its load had not begun, or an earlier version made it; load again with --drop", name, err)
	}
	return &recorded, pieces, usage(err)
}

// loaded tells whether a run has loaded all, and built the index where that
// was to follow.
func loaded(run *results.Run, p linkbench.Plan) bool {
	complete := func(kind string) bool {
		return slices.ContainsFunc(run.Steps, func(s results.Step) bool { return s.Kind == kind && s.Complete })
	}
	return run.Complete || complete(results.KindLoad) && (p.IndexAt != linkbench.IndexEnd || complete(results.KindIndex))
}

// resumedBy is the command that goes on with the run whose record this is;
// empty where none can.
func (cfg *linkConfig) resumedBy(run *results.Run) string {
	wrong := run.Verify != nil && run.Verify.Passed != nil && !*run.Verify.Passed
	switch {
	case wrong || !cfg.Plan.Load || cfg.Workload.Stream == config.Original || loaded(run, cfg.Plan):
		return ""
	case cfg.Plan.Request:
		return "linkbench run"
	default:
		return "linkbench load"
	}
}

// planAgain takes the plan of the record: that of linkbench load ends with the
// load, whatever the record was to do then.
func (cfg *linkConfig) planAgain(recorded *recordedRun) error {
	request := cfg.Plan.Request
	cfg.Plan = recorded.Plan
	if request && !cfg.Plan.Request {
		return cli.Usagef("%s is the record of a load alone; resume it with linkbench load --resume", cfg.options.resume)
	}
	// Tables of its own that the interrupted load had to drop are gone.
	cfg.Plan.Request, cfg.Plan.Drop = request, false
	if !request {
		cfg.Plan.Rates = nil
	}
	return nil
}

// graphAgain makes the workload of the record again, with the loaders and
// the original's output that flags say: neither changes the data.
func (cfg *linkConfig) graphAgain(c *urfave.Context, workload []byte, pieces []results.Piece) (err error) {
	if cfg.Workload, err = config.Recorded(workload); err != nil {
		return usage(err)
	}
	if cfg.Workload.Stream == config.Original {
		return cli.Usagef("a load with --stream=original can't be resumed: its random numbers are one stream from the first row to the last; load again with --drop")
	}
	// The original's output is this run's own, and the earlier one's file stays.
	cfg.Workload.Run.CSVStream = ""
	cfg.options.legacy.apply(c, &cfg.Workload.Run)
	setIf(c, "ldop", &cfg.Workload.Run.Loaders, cfg.options.ldop)
	if err := cfg.Workload.Validate(); err != nil {
		return usage(err)
	}
	if cfg.workload, err = stream.New(cfg.Workload); err != nil {
		return usage(err)
	}
	cfg.Plan.Resume, err = linkbench.NewResume(cfg.workload, pieces)
	return usage(err)
}

// resumedVerify has a resumed load verified: a server that acknowledges before
// it writes may have lost rows of pieces that aren't sent again.
func (cfg *linkConfig) resumedVerify(c *urfave.Context) error {
	if v := cfg.options.verify; v != "full" && v != "off" {
		return cli.Usagef("--verify=%s: it is full or off", v)
	}
	if cfg.options.verify == "off" || !cfg.Plan.Verify {
		cfg.notes = append(cfg.notes, "a load that is resumed is verified in full whatever --verify says: a server that acknowledges before it writes may have lost rows")
	}
	cfg.Plan.Verify = true
	return cfg.Plan.Validate()
}
