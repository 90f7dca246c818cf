package results

import (
	"encoding/json"
	"math"
	"time"
)

// Schema is the version of the record's layout. Fields are only ever added to
// it; a change of meaning makes a new version.
const Schema = 1

// StillRunning is the reason in a record that nobody finished: the run goes
// on, or it was killed before it could say anything.
const StillRunning = "still running, or ended without a word"

// Metric is one figure of a step.
type Metric struct {
	// Value is nil where the figure isn't known.
	Value *float64 `json:"value"`
	Unit  string   `json:"unit"`
	// Source says where the figure comes from: a kernel counter, the server,
	// the clients, or the formula it was derived with.
	Source string `json:"source"`
	// Meaning is set of what a storage engine counts itself, one phrase; Level
	// is true of those that are no sums over the step but what was at its end.
	Meaning string `json:"meaning,omitempty"`
	Level   bool   `json:"level,omitempty"`
}

// MarshalJSON writes a value that isn't a number as null.
func (m Metric) MarshalJSON() ([]byte, error) {
	type plain Metric
	if m.Value != nil {
		m.Value = Known(*m.Value)
	}
	return json.Marshal(plain(m))
}

// Known gives a pointer to v, or nil where v is infinite or not a number.
func Known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Run is run.json: everything said about one invocation.
type Run struct {
	Schema int `json:"schema"`
	// Workload is "ibench" or "linkbench"; Plan the step or the plan that was
	// asked for: "load", "classic".
	Workload string `json:"workload"`
	Plan     string `json:"plan"`
	// Command is the command line with every secret replaced.
	Command     []string   `json:"command"`
	ToolVersion string     `json:"tool_version"`
	StartedUTC  time.Time  `json:"started_utc"`
	EndedUTC    *time.Time `json:"ended_utc"`
	// Complete is true where all that was asked for was done; Reason says why
	// it wasn't, in one sentence.
	Complete bool   `json:"complete"`
	Reason   string `json:"reason,omitempty"`
	ExitCode *int   `json:"exit_code"`
	Tag      string `json:"tag"`
	// Label is what the tables' last column shows; where it is empty they show
	// the engine, and the tag after a dot.
	Label  string `json:"label,omitempty"`
	DBMS   string `json:"dbms"`
	Engine string `json:"engine"`
	// LinkBench is which of its kinds of run this is; nil of other workloads.
	LinkBench *LinkBench `json:"linkbench,omitempty"`
	// Config is the resolved configuration, every option with its unit. After
	// Load it is made of maps, lists and json.Number.
	Config      any         `json:"config"`
	Environment Environment `json:"environment"`
	Server      Server      `json:"server"`
	Steps       []Step      `json:"steps"`
	Verify      *Verify     `json:"verify"`
	Warnings    []string    `json:"warnings,omitempty"`
}

// LinkBench names what its figures depend on beside the database.
type LinkBench struct {
	// Profile is the generation of the workload, Compat whose behaviour is
	// followed, Stream how random numbers are dealt to loaders.
	Profile string `json:"profile"`
	Compat  string `json:"compat"`
	Stream  string `json:"stream"`
	// Transactions says how a link and its count change together.
	Transactions string `json:"transactions,omitempty"`
	// Resumed says of a load that went on with an earlier one what that had
	// done already; the figures of the load are of the rest alone.
	Resumed string `json:"resumed,omitempty"`
}

// Environment is the host the clients ran on and, where the server is proven
// to be local, what lies under its data directory.
type Environment struct {
	Hostname    string `json:"hostname,omitempty"`
	OS          string `json:"os,omitempty"`
	Kernel      string `json:"kernel,omitempty"`
	Arch        string `json:"arch,omitempty"`
	CPUModel    string `json:"cpu_model,omitempty"`
	CPUs        int    `json:"cpus,omitempty"`
	MemoryBytes *int64 `json:"memory_bytes"`
	GoVersion   string `json:"go_version,omitempty"`
	DataDir     string `json:"data_dir,omitempty"`
	Filesystem  string `json:"filesystem,omitempty"`
	// MountOptions are those of the mount and of the file system.
	MountOptions string `json:"mount_options,omitempty"`
	// Devices are the block devices whose counters are summed.
	Devices []Device `json:"devices,omitempty"`
	// Findings are what on this host may spoil the numbers.
	Findings []Finding `json:"findings,omitempty"`
}

// Device is one block device under the data directory.
type Device struct {
	Name      string `json:"name"`
	Model     string `json:"model,omitempty"`
	SizeBytes *int64 `json:"size_bytes"`
	// Rotational is true for a disk that turns, nil where it isn't known.
	Rotational *bool  `json:"rotational"`
	Scheduler  string `json:"scheduler,omitempty"`
	WriteCache string `json:"write_cache,omitempty"`
}

// Finding is one thing about the host that may spoil the numbers.
type Finding struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Why    string `json:"why,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// Server is who answered, as it said of itself, and the settings read back.
type Server struct {
	Product    string `json:"product"`
	Version    string `json:"version"`
	Durability string `json:"durability"`
	Transport  string `json:"transport"`
	Embedded   bool   `json:"embedded"`
	// Local is true where the server's process was proven to run on this
	// host; NotLocalReason says why it couldn't be.
	Local          bool      `json:"local"`
	NotLocalReason string    `json:"not_local_reason,omitempty"`
	PID            *int64    `json:"pid"`
	Settings       []Setting `json:"settings,omitempty"`
}

// Setting is one setting as the server reported it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Kinds of step: they decide which table shows it.
const (
	KindLoad   = "load"
	KindIndex  = "index"
	KindTotal  = "total"
	KindScan   = "scan"
	KindWrite  = "write" // inserts, with deletes and queries or without
	KindSettle = "settle"

	KindRequest = "request" // LinkBench's
	KindWarmup  = "warmup"  // requests before those that count
)

// Step is one measured step.
type Step struct {
	Name string `json:"name"`
	// Kind is one of KindLoad, KindIndex, or a word of the workload's own.
	Kind       string     `json:"kind"`
	StartedUTC time.Time  `json:"started_utc"`
	EndedUTC   *time.Time `json:"ended_utc"`
	Complete   bool       `json:"complete"`
	Reason     string     `json:"reason,omitempty"`
	// Metrics are the step's figures by name; a name ends in its unit.
	Metrics    map[string]Metric `json:"metrics"`
	Clients    []Client          `json:"clients,omitempty"`
	Operations []Operation       `json:"operations,omitempty"`
	Events     []Event           `json:"events,omitempty"`
	// EventsDropped counts events beyond those kept in Events.
	EventsDropped int64        `json:"events_dropped,omitempty"`
	Errors        []ErrorCount `json:"errors,omitempty"`
	// State is what the tables held after the step, in the workload's own form;
	// a later run can go on from there.
	State any `json:"state,omitempty"`
	// Notes are what about the measurement should be known, a sentence each.
	Notes []string `json:"notes,omitempty"`
	// Dumps are the files of raw status and variables, relative to the run's
	// folder, with slashes.
	Dumps []string `json:"dumps,omitempty"`
	// DumpErrors are dumps that couldn't be made, a sentence each.
	DumpErrors []string `json:"dump_errors,omitempty"`
}

// Client is what one client did in a step. Acknowledged + unknown + refused
// is what it sent.
type Client struct {
	Client           int   `json:"client"`
	RowsAcknowledged int64 `json:"rows_acknowledged"`
	RowsUnknown      int64 `json:"rows_unknown"`
	RowsRefused      int64 `json:"rows_refused"`
	// Role is "writer", "deleter" or "reader" where not every client inserts;
	// a client then has a line for each of its roles.
	Role string `json:"role,omitempty"`
	// RowsDeleted and Queries are a deleter's and a reader's.
	RowsDeleted *int64 `json:"rows_deleted,omitempty"`
	Queries     *int64 `json:"queries,omitempty"`
	// The rate that 75, 95 and 99 % of its full one-second intervals reach.
	P75RowsPerSecond *float64 `json:"p75_rows_per_second"`
	P95RowsPerSecond *float64 `json:"p95_rows_per_second"`
	P99RowsPerSecond *float64 `json:"p99_rows_per_second"`
	P50RowsPerSecond *float64 `json:"p50_rows_per_second,omitempty"`
	// The same of a reader's queries.
	P50QueriesPerSecond *float64 `json:"p50_queries_per_second,omitempty"`
	P99QueriesPerSecond *float64 `json:"p99_queries_per_second,omitempty"`
	MaxInsertSeconds    *float64 `json:"max_insert_seconds"`
	// Error is why the client stopped early.
	Error string `json:"error,omitempty"`
}

// Kinds of latency. Service runs from the moment a statement was sent,
// response from the moment the schedule wanted it sent. Without a rate there
// is no schedule, and only service.
const (
	KindService  = "service"
	KindResponse = "response"
)

// Operation is the latency of one kind of statement over a step: one sample
// per statement, in microseconds; nil where there was no sample.
type Operation struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Count  int64    `json:"count"`
	MinUS  *int64   `json:"min_us"`
	P50US  *int64   `json:"p50_us"`
	P75US  *int64   `json:"p75_us"`
	P90US  *int64   `json:"p90_us"`
	P95US  *int64   `json:"p95_us"`
	P99US  *int64   `json:"p99_us"`
	P999US *int64   `json:"p99_9_us"`
	MaxUS  *int64   `json:"max_us"`
	MeanUS *float64 `json:"mean_us"`
	// Outcome is what LinkBench's requests came to; nil of other operations.
	Outcome *Outcome `json:"outcome,omitempty"`
	// Overflow counts samples above the histogram's range, which are counted
	// as its highest value.
	Overflow int64 `json:"overflow"`
	// Buckets are the ten of the original's response time histogram, with the
	// inclusive upper bounds 256 µs, 1, 4, 16, 64 and 256 ms, 1, 4 and 16 s; the
	// tenth counts what is slower. nil where they weren't counted.
	Buckets *[10]int64 `json:"buckets"`
}

// Outcome is what LinkBench's requests of one kind came to.
type Outcome struct {
	Errors  int64 `json:"errors"`  // given up
	Retries int64 `json:"retries"` // attempts after a first one that was rolled back
	// Found counts requests that found what they were about, Rows the rows
	// that were read or changed.
	Found int64 `json:"found"`
	Rows  int64 `json:"rows"`
	// Switched counts adds that became updates and updates that became adds.
	Switched int64 `json:"switched"`
}

// Event is something that happened at a second of a step.
type Event struct {
	// Second counts from the start of the step's window.
	Second float64 `json:"second"`
	// Kind is a word: "stall".
	Kind string `json:"kind"`
	// Client is nil where the event concerns no single client.
	Client *int   `json:"client"`
	Text   string `json:"text,omitempty"`
}

// ErrorCount is how often an error came.
type ErrorCount struct {
	Code  string `json:"code"`
	Class string `json:"class"`
	Count int64  `json:"count"`
	// Example is the first one's sentence.
	Example string `json:"example,omitempty"`
}

// Verify is the comparison of what the clients were told was committed with
// what the database holds.
type Verify struct {
	// Mode is "full", "count" or "off".
	Mode string `json:"mode"`
	// Passed is nil where nothing was compared.
	Passed  *bool    `json:"passed"`
	Seconds *float64 `json:"seconds"`
	// Expected and Found are the sums by name, over all tables.
	Expected map[string]int64 `json:"expected,omitempty"`
	Found    map[string]int64 `json:"found,omitempty"`
	// Differences are sentences, each saying by how much.
	Differences []string `json:"differences,omitempty"`
	// Note says what limits the comparison, such as an engine that keeps nothing.
	Note string `json:"note,omitempty"`
}
