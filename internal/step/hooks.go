package step

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"insertbench/drivers"
)

// Hooks are called right outside a step's window: Start when all is ready for
// the first statement, End when the last was answered. Facts are NAME=value;
// what they print goes to out, a file below dumps/. Each bounds its own time.
// An error of Start ends the run before the step; one of End is noted.
type Hooks struct {
	Start, End func(ctx context.Context, facts []string, out *os.File) error
}

// SetHooks sets what is called around each step measured from now on.
func (m *Meter) SetHooks(h Hooks) { m.hooks = h }

// startHook calls the hook at the step's start.
func (s *measure) startHook(ctx context.Context) error {
	if s.meter.hooks.Start == nil {
		return nil
	}
	return s.callHook(ctx, "start", s.meter.hooks.Start)
}

// endHook calls the hook at the step's end, also where the run was interrupted:
// what the other hook has started must be ended.
func (s *measure) endHook(ctx context.Context) {
	if s.meter.hooks.End == nil {
		return
	}
	if err := s.callHook(context.WithoutCancel(ctx), "end", s.meter.hooks.End); err != nil {
		s.notef("%v", err)
	}
}

func (s *measure) callHook(ctx context.Context, edge string, call func(context.Context, []string, *os.File) error) error {
	out, name, err := s.writer.DumpFile(s.spec.Name, edge, "hook.txt")
	if err == nil {
		s.step.Dumps = append(s.step.Dumps, name)
		err = call(ctx, s.facts(edge), out)
		_ = out.Close() // the hook wrote to it, and knew
	}
	if err != nil {
		return fmt.Errorf("the hook at the %s of step %s: %w", edge, s.spec.Name, err)
	}
	return nil
}

// facts are what a hook is told of the step; empty where it isn't known.
func (s *measure) facts(edge string) []string {
	id, place := s.spec.Server.Identity(), s.spec.Server.Place()
	var pids []string
	for _, pid := range s.meter.pids {
		pids = append(pids, strconv.Itoa(pid))
	}
	folder, err := filepath.Abs(s.writer.Dir())
	if err != nil {
		folder = s.writer.Dir()
	}
	values := map[string]string{
		"EDGE": edge, "STEP": s.spec.Name, "KIND": s.spec.Kind, "RUN_DIR": folder,
		"SERVER_PID": strings.Join(pids[:min(1, len(pids))], ""), "SERVER_PIDS": strings.Join(pids, " "), "CLIENT_PID": strconv.Itoa(os.Getpid()),
		"DBMS": id.DBMS, "PRODUCT": id.Product, "VERSION": id.Version, "ENGINE": id.Engine,
		"SERVER_ADDRESS": address(place), "DATA_DIR": s.meter.dataDir, "DISKS": s.meter.DiskNames(),
	}
	if edge == "end" {
		values["COMPLETE"], values["REASON"] = strconv.FormatBool(s.step.Complete), s.step.Reason
		for name, metric := range map[string]string{"SECONDS": "window_seconds", "ROWS": "rows", "QUERIES": "queries"} {
			values[name] = ""
			if v := s.step.Metrics[metric].Value; v != nil {
				values[name] = strconv.FormatFloat(*v, 'f', -1, 64)
			}
		}
	}
	facts := make([]string, 0, len(values))
	for _, f := range HookFacts {
		if v, known := values[f.Name]; known {
			facts = append(facts, FactPrefix+f.Name+"="+v)
		}
	}
	return facts
}

func address(p drivers.Place) string {
	if p.Network == "unix" {
		return "unix:" + p.Address
	}
	return p.Address
}

// FactPrefix begins the names of the variables that a hook is given.
const FactPrefix = "INSERTBENCH_"

// HookFacts is the table of what a hook is told, in its order.
var HookFacts = []struct{ Name, Meaning string }{
	{"EDGE", "start or end"},
	{"STEP", "the step's name"},
	{"KIND", "its kind: load, index, scan, write, settle, request, warmup"},
	{"RUN_DIR", "folder of the run's record"},
	{"SERVER_PID", "process of the server, where it is proven to run here"},
	{"SERVER_PIDS", "all of them, where several were named"},
	{"CLIENT_PID", "process of the client"},
	{"DBMS", "the driver: mysql, mongo, sqlite, fake"},
	{"PRODUCT", "the server's name"},
	{"VERSION", "the server's version"},
	{"ENGINE", "the storage engine"},
	{"SERVER_ADDRESS", "HOST:PORT, or unix:PATH"},
	{"DATA_DIR", "the data directory as seen from here"},
	{"DISKS", "the disks that are priced, blanks between them"},
	{"COMPLETE", "at the end: true, or false for a step that ended early"},
	{"REASON", "at the end: why it ended early"},
	{"SECONDS", "at the end: length of the window"},
	{"ROWS", "at the end: rows acknowledged"},
	{"QUERIES", "at the end: queries answered"},
}
