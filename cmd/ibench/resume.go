package main

import (
	"context"
	"errors"
	"fmt"

	urfave "github.com/urfave/cli/v2"

	"insertbench/ibench"
	"insertbench/internal/cli"
	"insertbench/results"
)

// earlier is the run that a resumed one goes on with.
type earlier struct {
	// steps are those that were complete and are kept.
	steps []results.Step
	// state is what the tables must hold.
	state ibench.State
	// note says where the run was resumed from, and what is done again.
	note string
}

// differs notes what the earlier run had and the rest of it hasn't.
func (e *earlier) differs(what string) {
	e.note += "; the earlier steps had, and these have not, " + what
}

// check compares the tables with what the record says they hold.
func (e *earlier) check(ctx context.Context, b *ibench.Bench) error {
	_, err := b.Verify(ctx)
	if errors.Is(err, ibench.ErrVerify) {
		return &cli.Error{Code: cli.Unverified, Err: fmt.Errorf("the tables don't hold what the record says, so the run can't go on from there: %w", err)}
	}
	return err
}

// resumeRun goes on with a run from its first step that isn't complete. Steps
// and rows are the record's; the connection is too, but for secrets and for
// what flags say.
func resumeRun(c *urfave.Context, p *cli.Process, cfg *stepsConfig, o *runOptions) error {
	run, recorded, err := loadRecorded(c, o.resume)
	if err != nil {
		return err
	}
	drop, verify := cfg.Data.Drop, cfg.Data.Verify
	cfg.Data, cfg.plan = recorded.Data, run.Plan
	if c.IsSet("verify") {
		cfg.Data.Verify = verify
	}
	cfg.Steps = recorded.Steps
	after, rest, err := remaining(&run, recorded.Steps, o.resume)
	if err != nil {
		return err
	}
	cfg.kept = len(cfg.Steps) - len(rest)
	if err := cfg.validate(cfg.Data); err != nil {
		return err
	}
	// Tables that are loaded again are the run's own.
	cfg.Data.Drop = drop || cfg.loads()
	if err := cli.ConnectAsBefore(c, recorded.Database); err != nil {
		return err
	}
	if err := cfg.Measuring.Resolve(c); err != nil {
		return err
	}
	if cfg.Database, err = cli.ResolveConnection(c, p); err != nil {
		return err
	}
	cfg.Database.MustExist = true
	if err := setSessions(&cfg.Database, cfg.Data); err != nil {
		return err
	}
	if !c.IsSet("restart-server") {
		cfg.RestartServer = recorded.Restart && cfg.Database.Private.Program != ""
		if recorded.Restart && !cfg.RestartServer {
			after.differs("--restart-server: the server that runs already isn't restarted")
		}
	}
	if err := cfg.checkRestart(); err != nil {
		return err
	}
	after.missesHooks(c, recorded)
	return runPlan(c.Context, p, *cfg, after)
}

// recordedRun is what a resumed run takes from the record of the one before.
type recordedRun struct {
	Data     ibench.Config  `json:"data"`
	Steps    []ibench.Step  `json:"steps"`
	Database map[string]any `json:"database"`
	Restart  bool           `json:"restart_server"`
	// Measuring is the one of then, of which only the hooks are looked at.
	Measuring struct {
		OnStepStart string `json:"on_step_start"`
		OnStepEnd   string `json:"on_step_end"`
	} `json:"measuring"`
}

// loadRecorded reads the record of the run in dir, and refuses flags that would
// say otherwise.
func loadRecorded(c *urfave.Context, dir string) (results.Run, recordedRun, error) {
	var recorded recordedRun
	for _, flag := range []string{
		"plan", "rates", "from", "only", "skip", "no-deletes", "post-scan", "query-seconds", "htap-seconds", "long-reader-seconds",
		"rows", "rows2", "clients", "tables", "secondary-indexes", "bulk-load", "unique-checks",
		"seed", "cash-registers", "products", "customers", "max-price", "data-length-min", "data-length-max", "data-random-pct",
		"partitions", "rows-per-partition", "column-families", "ddl-pre", "ddl-post",
	} {
		if c.IsSet(flag) {
			return results.Run{}, recorded, cli.Usagef("--resume takes the steps and the rows from the record; leave --%s out", flag)
		}
	}
	run, err := results.Load(dir)
	if err != nil {
		return run, recorded, &cli.Error{Code: cli.Usage, Err: err}
	}
	if run.Workload != "ibench" {
		return run, recorded, cli.Usagef("%s is the record of a run of %s; go on with it by %[2]s run --resume", dir, run.Workload)
	}
	if err := cli.Recorded(run.Config, &recorded); err != nil || len(recorded.Steps) == 0 {
		return run, recorded, cli.Usagef("%s holds no plan to go on with; it was no ibench run", dir)
	}
	return run, recorded, nil
}

// missesHooks notes the hooks of the earlier run that aren't given again. A
// record is data: nobody expects it to run commands.
func (e *earlier) missesHooks(c *urfave.Context, recorded recordedRun) {
	if h := recorded.Measuring; h.OnStepStart != "" && !c.IsSet("on-step-start") {
		e.differs("--on-step-start=" + h.OnStepStart)
	}
	if h := recorded.Measuring; h.OnStepEnd != "" && !c.IsSet("on-step-end") {
		e.differs("--on-step-end=" + h.OnStepEnd)
	}
}

// remaining splits a run into what is kept of it and what is left to do. A
// step that changes data and was interrupted leaves the tables between two
// steps: the run goes back to the last load.
func remaining(run *results.Run, steps []ibench.Step, name string) (*earlier, []ibench.Step, error) {
	done, at := 0, 0
	for done < len(steps) {
		n, complete := measured(run.Steps[at:], steps[done])
		if !complete {
			break
		}
		done++
		at += n
	}
	if done == len(steps) {
		return nil, nil, cli.Usagef("%s is complete: there is nothing to go on with", name)
	}
	e := &earlier{note: fmt.Sprintf("resumed from %s at step %s", name, steps[done].Name)}
	// A run that was killed says nothing of the step it was in.
	begun := at < len(run.Steps) || run.EndedUTC == nil
	if begun && changesData(steps[done]) || done == 0 {
		load := lastLoad(steps[:done+1])
		if load < 0 {
			return nil, nil, cli.Usagef("step %s of %s was interrupted, and no step before it makes the tables anew; begin again with ibench load", steps[done].Name, name)
		}
		e.note = fmt.Sprintf("resumed from %s: step %s was interrupted while it changed data, so the run goes back to step %s, which makes the tables anew", name, steps[done].Name, steps[load].Name)
		done, at = load, 0
		for _, s := range steps[:load] {
			n, _ := measured(run.Steps[at:], s)
			at += n
		}
	}
	e.steps = run.Steps[:at]
	if at > 0 {
		if err := cli.Recorded(run.Steps[at-1].State, &e.state); err != nil || len(e.state.Clients) == 0 {
			return nil, nil, cli.Usagef("the record %s doesn't say what the tables held after step %s", name, run.Steps[at-1].Name)
		}
	}
	return e, steps[done:], nil
}

// measured is how many measured steps a step of a plan made, the first of
// those given, and whether they are all of it and complete.
func measured(list []results.Step, s ibench.Step) (n int, complete bool) {
	for n < len(list) && belongs(list[n].Name, s) {
		if !list[n].Complete {
			return n, false
		}
		n++
	}
	if s.Do == ibench.ActionScan {
		// The primary key ends a scan as it began it.
		return n, n > 1 && ibench.EndsScan(list[n-1].Name)
	}
	return n, n == 1
}

func belongs(name string, s ibench.Step) bool {
	if s.Do == ibench.ActionScan {
		return ibench.IsScanOf(name, s.Name)
	}
	return name == s.Name
}

func changesData(s ibench.Step) bool {
	return s.Do == ibench.ActionLoad || s.Do == ibench.ActionIndex || s.Do == ibench.ActionWrite && s.Writers > 0
}

func lastLoad(steps []ibench.Step) int {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Do == ibench.ActionLoad {
			return i
		}
	}
	return -1
}
