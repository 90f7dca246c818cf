// Package config is everything that decides what LinkBench generates, and the settings of the original's
// properties files.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"insertbench/linkbench/compat"
	"insertbench/linkbench/degree"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/payload"
)

// Mix is the percentage of each operation, indexed by it.
type Mix [graph.Ops]float64

// MarshalJSON shows the percentages by the operations' names.
func (m Mix) MarshalJSON() ([]byte, error) {
	byName := map[string]float64{}
	for op, p := range m {
		byName[graph.Op(op).String()] = p
	}
	return json.Marshal(byName)
}

// Config is a workload. Default makes one, Apply and assignments change it, Resolve checks it; what Resolve
// returns is complete and nobody changes it any more. It goes into the record as it is.
type Config struct {
	Compat  compat.Mode `json:"compat"`
	Profile Profile     `json:"profile"`
	Stream  Stream      `json:"stream"`

	// Ids are StartID1 ≤ id < MaxID1.
	StartID1  int64         `json:"startid1"`
	MaxID1    int64         `json:"maxid1"`
	LinkTypes int           `json:"link_type_count"`
	Degree    degree.Spec   `json:"nlinks"`
	DataFile  string        `json:"data_file"` // distribution data, empty for the profile's embedded ones
	Tables    degree.Tables `json:"-"`         // read by Resolve where something is drawn from them
	// RandomID2Max above 0 makes all id2 uniform below it.
	RandomID2Max int64 `json:"randomid2max"`
	PartitionID2 bool  `json:"partition_id2"` // id2gen_config=1: each requester changes links of its own

	LoadSeed    int64 `json:"load_random_seed"`
	RequestSeed int64 `json:"request_random_seed"`
	// EpochMS is the time of loading in the data, in unix milliseconds. It is fixed, so that the same seed gives
	// the same rows; the original uses the clock.
	EpochMS       int64 `json:"epoch_ms"`
	GenerateNodes bool  `json:"generate_nodes"`
	ChunkIDs      int64 `json:"loader_chunk_ids"` // ids of one unit of load work
	PieceLinks    int64 `json:"piece_links"`      // most links of one: longer adjacency lists are cut

	LinkDataMedian float64      `json:"link_data_median_bytes"`
	NodeDataMedian float64      `json:"node_data_median_bytes"`
	LinkAdd        payload.Spec `json:"link_add_data"`
	LinkUpdate     payload.Spec `json:"link_update_data"`
	NodeAdd        payload.Spec `json:"node_add_data"`
	NodeUpdate     payload.Spec `json:"node_update_data"`

	Mix                      Mix      `json:"mix_percent"`
	HistoryPercent           float64  `json:"history_percent"` // share of list queries that ask for an older page
	LinkReads                Access   `json:"link_reads"`
	LinkReadsUncorrelated    Access   `json:"link_reads_uncorrelated"`
	LinkWrites               Access   `json:"link_writes"`
	LinkWritesUncorrelated   Access   `json:"link_writes_uncorrelated"`
	NodeReads                Access   `json:"node_reads"`
	NodeUpdates              Access   `json:"node_updates"`
	NodeDeletes              Access   `json:"node_deletes"`
	ReadUncorrelatedPercent  float64  `json:"link_reads_uncorrelated_percent"`
	WriteUncorrelatedPercent float64  `json:"link_writes_uncorrelated_percent"`
	Multiget                 Multiget `json:"multiget"`

	Run   Run   `json:"run"`
	Store Store `json:"store"`
}

// Run is how a workload is driven. Defaults are the original's where they suit.
type Run struct {
	Loaders    int `json:"loaders"`
	Requesters int `json:"requesters"`
	// RequestsPerRequester of 0 is as many as MaxTimeS allows, MaxTimeS of 0 no bound.
	RequestsPerRequester int64 `json:"requests_per_requester"`
	MaxTimeS             int64 `json:"max_time_s"`
	WarmupS              int64 `json:"warmup_s"`
	// RatePerRequester is in operations per second, 0 for as fast as answers come.
	RatePerRequester      float64 `json:"requests_per_second_per_requester"`
	MaxFailedPerRequester int64   `json:"max_failed_per_requester"` // below 0 for any number
	BulkRows              int     `json:"bulk_rows"`
	BulkKB                int     `json:"bulk_kb"` // insert nodes at so many KB too; 0 for rows alone
	// MaxRetries is how often a transaction that was rolled back is sent again. The fork has 16 on document stores,
	// 999 on others; with growing pauses a server that needs more than 100 is beyond help.
	MaxRetries          int    `json:"max_retries"`
	SkipTransactions    bool   `json:"skip_transactions"`
	DisableBinlogInLoad bool   `json:"disable_binlog_in_load"`
	ProgressS           int64  `json:"progress_s"`
	DisplayS            int64  `json:"display_s"`
	LoadProgressLinks   int64  `json:"load_progress_links"`
	RequestProgressOps  int64  `json:"request_progress_ops"`
	MaxSamples          int    `json:"max_samples"`
	CSVStream           string `json:"csv_stream"` // file of the statistics of threads, empty for one in the record's folder
	DebugLevel          string `json:"debug_level"`
	HDR                 bool   `json:"hdr_histogram"`
	HDRDigits           int    `json:"hdr_digits"`
	HDRMaxUS            int64  `json:"hdr_max_us"`
	// IgnoredKeys are settings that were taken note of without effect.
	IgnoredKeys []string `json:"ignored_keys,omitempty"`
}

// Store is where the data are, as a properties file says it. What may hold a password is in no record.
type Store struct {
	Class      string `json:"linkstore"` // of the original's plug-ins
	NodeClass  string `json:"nodestore"`
	Host       string `json:"host"`
	Port       string `json:"port"`
	User       string `json:"user"`
	Password   string `json:"-"`
	URL        string `json:"-"`
	Database   string `json:"database"`
	LinkTable  string `json:"linktable"`
	CountTable string `json:"counttable"`
	NodeTable  string `json:"nodetable"`
}

// Sizes and seeds that are ours to choose.
const (
	defaultSeed       = 12345
	defaultEpochMS    = 1577836800000 // 2020-01-01 00:00:00 UTC
	defaultPieceLinks = 32768
	demoIDs           = 20000
	demoSeconds       = 45 // of requests
	maxAccesses       = 10_000_000
	maxChunk          = 1 << 22 // ids × types of a chunk, which verification holds in memory
)

// Default is the workload of a profile, with compat 2020.
func Default(p Profile) Config {
	w := workloadOf(p)
	link := payload.Spec{Kind: payload.Motif, Start: 32, End: 100, Uniqueness: 0.225, MotifBytes: 128}
	node := payload.Spec{Kind: payload.Motif, Start: 50, End: 220, Uniqueness: 0.63, MotifBytes: payload.FixedMotifBytes}
	c := Config{
		Profile: p, StartID1: 1, MaxID1: 10_000_001, LinkTypes: 2,
		LoadSeed: defaultSeed, RequestSeed: defaultSeed, EpochMS: defaultEpochMS,
		GenerateNodes: true, ChunkIDs: 2048, PieceLinks: defaultPieceLinks,
		LinkDataMedian: w.linkDataMedian, NodeDataMedian: w.nodeDataMedian,
		LinkAdd: link, LinkUpdate: link, NodeAdd: node, NodeUpdate: node,
		Mix: w.mix, HistoryPercent: 0.3,
		LinkReads:                Access{Kind: Zipf, Shape: 0.8},
		LinkReadsUncorrelated:    Access{Kind: Zipf, Shape: 0.8},
		LinkWrites:               Access{Kind: Zipf, Shape: 0.741},
		LinkWritesUncorrelated:   Access{Kind: Zipf, Shape: 0.741, Config: 1},
		NodeReads:                Access{Kind: Zipf, Shape: 0.625},
		NodeUpdates:              Access{Kind: Zipf, Shape: 0.606},
		NodeDeletes:              Access{Kind: Uniform},
		ReadUncorrelatedPercent:  99.5,
		WriteUncorrelatedPercent: 95,
		Multiget:                 Multiget{Kind: Geometric, Min: 1, Max: 128, P: 0.382},
		Run: Run{Loaders: 10, Requesters: 100, RequestsPerRequester: 500_000, MaxTimeS: 100_000,
			MaxFailedPerRequester: 100, BulkRows: 1024, ProgressS: 300, DisplayS: 1800, LoadProgressLinks: 50_000,
			RequestProgressOps: 10_000, MaxSamples: 10_000, DebugLevel: "INFO", HDRDigits: 3, HDRMaxUS: 60_000_000,
			MaxRetries: 100},
		Store: Store{Database: "linkdb0", LinkTable: "linktable", CountTable: "counttable", NodeTable: "nodetable"},
	}
	if p == Demo {
		c.MaxID1 = demoIDs + 1
		c.Run.Loaders, c.Run.Requesters = 4, 4
		c.Run.RequestsPerRequester, c.Run.MaxTimeS = 0, demoSeconds
	}
	return c
}

// Nodes is the number of ids.
func (c *Config) Nodes() int64 { return c.MaxID1 - c.StartID1 }

// NewDegrees is the out-degree function of a resolved config.
func (c *Config) NewDegrees() (*degree.Function, error) {
	return degree.New(c.Degree, c.Compat, c.StartID1, c.MaxID1, c.LinkTypes)
}

// Resolve reads the distribution data, carries out what profile and compat mode imply and validates the result.
//
// Implied are: the cap of the demo's out-degrees; and, unless compat is off, the original's settings without
// effect: motifs of 512 bytes, and uncorrelated writes chosen as uncorrelated reads.
func (c Config) Resolve() (*Config, error) {
	if c.Profile == Demo && c.Degree.Cap == 0 {
		c.Degree.Cap = max(c.Nodes(), 0)
	}
	if c.Compat != compat.Off {
		c.LinkWritesUncorrelated = c.LinkReadsUncorrelated
		c.WriteUncorrelatedPercent = c.ReadUncorrelatedPercent
		for _, s := range []*payload.Spec{&c.LinkAdd, &c.LinkUpdate, &c.NodeAdd, &c.NodeUpdate} {
			s.MotifBytes = payload.FixedMotifBytes
		}
	}
	if c.Tables == nil && c.usesTables() {
		tables, err := c.readTables()
		if err != nil {
			return nil, err
		}
		c.Tables = tables
	}
	if c.Degree.Kind == degree.Real {
		c.Degree.Table = c.Tables[degree.NLinks]
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &c, nil
}

// usesTables tells whether anything is drawn from the distribution data.
func (c *Config) usesTables() bool {
	uses := c.Degree.Kind == degree.Real
	for _, a := range c.accesses() {
		uses = uses || a.access.Kind == Real
	}
	return uses
}

// Validate says all that is wrong with a config, in the terms of the original's keys.
func (c *Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	also := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	if _, err := c.NewDegrees(); err != nil {
		errs = append(errs, err)
	}
	check(c.RandomID2Max >= 0, "randomid2max %d must not be negative", c.RandomID2Max)
	check(c.Stream != Original || c.Run.Loaders == 1,
		"stream original is that of one loader, and %d are set: set loaders to 1 or use stream pieces", c.Run.Loaders)
	check(c.ChunkIDs >= 1 && c.ChunkIDs <= maxChunk/int64(max(c.LinkTypes, 1)),
		"loader_chunk_size %d must be at least 1, and at most %d over link_type_count", c.ChunkIDs, maxChunk)
	check(c.PieceLinks >= 1, "pieces of %d links: want at least 1", c.PieceLinks)
	check(c.LinkDataMedian > 0 && c.LinkDataMedian < 1e9, "link_datasize %v must be above 0", c.LinkDataMedian)
	check(c.NodeDataMedian > 0 && c.NodeDataMedian < 1e9, "node_datasize %v must be above 0", c.NodeDataMedian)
	also("link_add_datagen", c.LinkAdd.Validate())
	also("link_up_datagen", c.LinkUpdate.Validate())
	also("node_add_datagen", c.NodeAdd.Validate())
	also("node_up_datagen", c.NodeUpdate.Validate())
	also("operation mix", c.Mix.validate())
	check(percent(c.HistoryPercent), "getlinklist_history %v must be a percentage", c.HistoryPercent)
	check(percent(c.ReadUncorrelatedPercent), "read_uncorr_blend %v must be a percentage", c.ReadUncorrelatedPercent)
	check(percent(c.WriteUncorrelatedPercent), "write_uncorr_blend %v must be a percentage", c.WriteUncorrelatedPercent)
	for _, a := range c.accesses() {
		also(a.prefix+"function", a.access.validate())
		check(a.access.Kind != Real || c.Tables[a.section] != nil, "%sfunction: the distribution data have no section %q to "+
			"draw from", a.prefix, a.section)
		check(a.access.Kind != Real || c.Tables[a.section] == nil || c.Tables[a.section].Max() <= maxAccesses,
			"%sfunction: section %q of the distribution data goes beyond %d accesses of an id", a.prefix, a.section, maxAccesses)
	}
	also("link_multiget_dist", c.Multiget.validate())
	errs = append(errs, c.Run.validate()...)
	return errors.Join(errs...)
}

func percent(x float64) bool { return x >= 0 && x <= 100 }

func (m Mix) validate() error {
	sum := 0.0
	for op, p := range m {
		if !percent(p) {
			return fmt.Errorf("%s %v must be a percentage", graph.Op(op).Key(), p)
		}
		sum += p
	}
	if math.Abs(sum-100) > 1e-5 {
		return fmt.Errorf("the percentages of the ten operations add up to %v, want 100", sum)
	}
	return nil
}

func (r Run) validate() []error {
	var errs []error
	for _, f := range []struct {
		key       string // with its flag, where that has another name
		value     int64
		low, high int64
	}{
		{"loaders (--ldop)", int64(r.Loaders), 1, 10_000}, {"requesters (--clients)", int64(r.Requesters), 1, 100_000},
		{"requests", r.RequestsPerRequester, 0, math.MaxInt64}, {"maxtime (--seconds)", r.MaxTimeS, 0, math.MaxInt32},
		{"warmup_time (--warmup)", r.WarmupS, 0, math.MaxInt32}, {"bulk_insert_count", int64(r.BulkRows), 1, 100_000},
		{"bulk_insert_kb", int64(r.BulkKB), 0, 1 << 20}, {"maxsamples", int64(r.MaxSamples), 1, math.MaxInt32},
		{"displayfreq", r.DisplayS, 0, math.MaxInt32}, {"load_progress_interval", r.LoadProgressLinks, 0, math.MaxInt64},
		{"req_progress_interval", r.RequestProgressOps, 0, math.MaxInt64},
		{"hdr_histogram_accuracy", int64(r.HDRDigits), 1, 5}, {"hdr_histogram_max_latency", r.HDRMaxUS, 2, math.MaxInt64},
		{"max_retries", int64(r.MaxRetries), 0, math.MaxInt32},
	} {
		if f.value < f.low || f.value > f.high {
			errs = append(errs, fmt.Errorf("%s: %d must be between %d and %d", f.key, f.value, f.low, f.high))
		}
	}
	if r.RequestsPerRequester == 0 && r.MaxTimeS == 0 {
		errs = append(errs, errors.New("requests and maxtime (--seconds) are both 0: requests would never end"))
	}
	if math.IsNaN(r.RatePerRequester) || math.IsInf(r.RatePerRequester, 0) {
		errs = append(errs, fmt.Errorf("requestrate %v must be a number", r.RatePerRequester))
	}
	return errs
}
