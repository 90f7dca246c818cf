package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"insertbench/drivers"
	"insertbench/internal/cli"
	"insertbench/linkbench"
	"insertbench/linkbench/compat"
	"insertbench/linkbench/config"
	"insertbench/linkbench/stream"
)

// linkConfig is all that a command was asked for, resolved; it goes into the
// record.
type linkConfig struct {
	Database     cli.Connection `json:"database"`
	Workload     *config.Config `json:"workload"`
	Plan         linkbench.Plan `json:"plan"`
	Transactions string         `json:"transactions"`
	LegacyOutput bool           `json:"legacy_output"`
	Overwrite    bool           `json:"overwrite"` // the file of --csvstream
	Strict       bool           `json:"strict"`
	Measuring    cli.Measuring  `json:"measuring"`
	// ResumedFrom is the run whose load this one went on with.
	ResumedFrom string `json:"resumed_from,omitempty"`

	options  options
	workload *stream.Workload
	// notes are settings of the files that have no effect, a sentence each.
	notes []string
}

// defaults are LinkBench's database and file, and the server that a
// properties file names.
func defaults(store config.Store) (cli.Defaults, error) {
	d := cli.Defaults{Database: store.Database, Path: "linkbench.sqlite"}
	class := strings.ToLower(store.Class)
	switch {
	case class == "":
		return d, nil
	case strings.Contains(class, "mysql"):
		d.File.DBMS = "mysql"
	case strings.Contains(class, "mongo"):
		d.File.DBMS = "mongo"
	default:
		return d, cli.Usagef("linkstore %s is none that this program has: it runs on servers of the MySQL and MongoDB protocols and on SQLite", store.Class)
	}
	d.File.Host, d.File.User = store.Host, store.User
	d.File.Password = drivers.NewSecret(store.Password)
	if store.URL != "" && d.File.DBMS == "mongo" {
		d.File.URI = drivers.NewSecret(store.URL)
	}
	if store.Port != "" {
		port, err := strconv.Atoi(store.Port)
		if err != nil || port < 1 || port > 65535 {
			return d, cli.Usagef("port %s of the settings is no port; it is from 1 to 65535", store.Port)
		}
		d.File.Port = port
	}
	return d, nil
}

// resolve reads all flags and files into the configuration and refuses what
// can't work.
func (cfg *linkConfig) resolve(c *urfave.Context, p *cli.Process) error {
	layers, err := cfg.options.layers(p)
	if err != nil {
		return err
	}
	base := config.Default(config.P2017)
	if _, err := base.Apply(layers...); err != nil {
		return usage(err)
	}
	d, err := defaults(base.Store)
	if err != nil {
		return err
	}
	if cfg.Database, err = d.Resolve(c, p); err != nil {
		return err
	}
	small := !cfg.Database.Named || cfg.Database.DBMS == "fake"
	if err := cfg.resolveWorkload(c, layers, small); err != nil {
		return err
	}
	if err := cfg.resolveLegacy(c); err != nil {
		return err
	}
	return cfg.resolvePlan(c)
}

// layers are the settings of the files and of -D, weakest first.
func (o *options) layers(p *cli.Process) ([]config.Layer, error) {
	if o.file != "" {
		layers, err := config.ReadFiles(o.file, p.Getenv("LINKBENCH_HOME"), o.settings)
		return layers, usage(err)
	}
	over, err := config.Overrides(o.settings)
	return []config.Layer{over}, usage(err)
}

// usage makes an error one of usage.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &cli.Error{Code: cli.Usage, Err: err}
}

// resolveWorkload makes the workload of profile, files and flags. small makes
// demo the default profile.
func (cfg *linkConfig) resolveWorkload(c *urfave.Context, layers []config.Layer, small bool) error {
	o := &cfg.options
	profile := config.P2017
	if small && o.file == "" {
		profile = config.Demo
	}
	if c.IsSet("profile") {
		var err error
		if profile, err = config.ParseProfile(o.profile); err != nil {
			return usage(err)
		}
	}
	w := config.Default(profile)
	notes, err := w.Apply(layers...)
	if err != nil {
		return usage(err)
	}
	cfg.notes = notes
	if w.Run.DisableBinlogInLoad {
		cfg.notes = append(cfg.notes, "mysql_disable_binlog_load has no effect: a load writes the binary log unless a --dsn with sql_log_bin=0 says otherwise")
	}
	if err := o.apply(c, &w); err != nil {
		return err
	}
	if w.Store.LinkTable != "linktable" || w.Store.CountTable != "counttable" || w.Store.NodeTable != "nodetable" {
		return cli.Usagef("tables %s, %s and %s: the tables are always named linktable, counttable and nodetable; use another --database instead",
			w.Store.LinkTable, w.Store.CountTable, w.Store.NodeTable)
	}
	if cfg.Workload, err = w.Resolve(); err != nil {
		return usage(err)
	}
	cfg.workload, err = stream.New(cfg.Workload)
	return usage(err)
}

// apply sets what flags say over the files.
func (o *options) apply(c *urfave.Context, w *config.Config) (err error) {
	if c.IsSet("compat") {
		if w.Compat, err = compat.Parse(o.compat); err != nil {
			return usage(err)
		}
	}
	if c.IsSet("stream") {
		if w.Stream, err = config.ParseStream(o.stream); err != nil {
			return usage(err)
		}
	}
	setIf(c, "startid1", &w.StartID1, o.startID1)
	setIf(c, "maxid1", &w.MaxID1, o.maxID1)
	setIf(c, "seed", &w.LoadSeed, o.seed)
	setIf(c, "seed", &w.RequestSeed, o.seed)
	setIf(c, "load-seed", &w.LoadSeed, o.loadSeed)
	setIf(c, "request-seed", &w.RequestSeed, o.askSeed)
	setIf(c, "ldop", &w.Run.Loaders, o.ldop)
	if w.Stream == config.Original && !c.IsSet("ldop") {
		w.Run.Loaders = 1
	}
	setIf(c, "clients", &w.Run.Requesters, o.clients)
	setIf(c, "warmup", &w.Run.WarmupS, int64(o.warmup))
	switch {
	case c.IsSet("seconds"):
		w.Run.MaxTimeS, w.Run.RequestsPerRequester = o.seconds, o.requests
	case c.IsSet("requests"):
		w.Run.RequestsPerRequester = o.requests
		if w.Profile == config.Demo {
			w.Run.MaxTimeS = 0
		}
	}
	o.legacy.apply(c, &w.Run)
	return o.applyTail(c, w)
}

// setIf sets a field where its flag is given.
func setIf[T any](c *urfave.Context, flag string, field *T, v T) {
	if c.IsSet(flag) {
		*field = v
	}
}

// applyTail bounds the links of an id.
func (o *options) applyTail(c *urfave.Context, w *config.Config) error {
	if !c.IsSet("tail") {
		return nil
	}
	switch o.tail {
	case "full":
		w.Degree.Cap = 0
		if w.Profile == config.Demo {
			return cli.Usagef("--tail=full: profile demo has no more links of an id than ids; use --profile=2017")
		}
	case "ids":
		w.Degree.Cap = max(w.Nodes(), 0)
	default:
		most, err := cli.ParseCount(o.tail)
		if err != nil || most < 1 {
			return cli.Usagef("--tail=%s: it is full, ids or a number of links", o.tail)
		}
		w.Degree.Cap = most
	}
	return nil
}

// resolvePlan reads what a run does.
func (cfg *linkConfig) resolvePlan(c *urfave.Context) error {
	o, plan := &cfg.options, &cfg.Plan
	plan.IndexAt = o.indexAt
	plan.Layout = linkbench.Layout{
		Partitions: o.partitions, KeyBlockKB: o.keyBlockKB, Index: linkbench.Index(o.index), ColumnFamilies: o.columnFamilies,
	}
	if plan.Layout.Index == "" {
		plan.Layout.Index = linkbench.IndexCovering
	}
	plan.FirstRequester, plan.AllRequesters = o.firstClient, o.allClients
	if last := o.firstClient + cfg.Workload.Run.Requesters; o.allClients > 0 && last > o.allClients {
		return cli.Usagef("--all-clients=%d: this process's requesters alone end at --first-client + --clients = %d; give the sum of all processes", o.allClients, last)
	}
	if o.verify != "full" && o.verify != "off" {
		return cli.Usagef("--verify=%s: it is full or off", o.verify)
	}
	plan.Verify = o.verify == "full"
	var err error
	if plan.Rates, err = o.rates(c); err != nil {
		return err
	}
	if cfg.Database.DBMS != "mysql" {
		for _, flag := range []string{"partitions", "key-block-kb", "column-families"} {
			if c.IsSet(flag) {
				return cli.Usagef("--%s is of MySQL's tables, and means nothing to %s", flag, cfg.Database.DBMS)
			}
		}
	}
	cfg.Transactions = o.transactions
	switch {
	case !slices.Contains([]string{"", "auto", "on", "off"}, cfg.Transactions):
		return cli.Usagef("--transactions=%s: it is auto, on or off", cfg.Transactions)
	case cfg.Transactions != "" && cfg.Database.DBMS != "mongo":
		return cli.Usagef("--transactions means nothing to %s, where a link and its count always change in one", cfg.Database.DBMS)
	case cfg.Transactions == "" && cfg.Workload.Run.SkipTransactions && cfg.Database.DBMS == "mongo":
		cfg.Transactions = "off"
	}
	return plan.Validate()
}

// rates are the total rates asked for.
func (o *options) rates(c *urfave.Context) ([]int64, error) {
	single, several := c.IsSet("request-rate"), c.IsSet("request-rates")
	switch {
	case single && several:
		return nil, cli.Usagef("--request-rate and --request-rates both say how fast; give one of them")
	case single:
		return []int64{o.requestRate}, nil
	case !several:
		return nil, nil
	}
	var rates []int64
	for text := range strings.SplitSeq(o.requestRates, ",") {
		rate, err := cli.ParseCount(strings.TrimSpace(text))
		if err != nil {
			return nil, cli.Usagef("--request-rates=%s: %w", o.requestRates, err)
		}
		rates = append(rates, rate)
	}
	return rates, nil
}

// headLine says what is run, before anything else.
func (cfg *linkConfig) headLine() string {
	w := cfg.Workload
	line := fmt.Sprintf("profile %s, compat %s: %d ids from %d", w.Profile, w.Compat, w.Nodes(), w.StartID1)
	if w.Profile == config.Demo {
		line += ", a small graph for a first look; --profile=2017 is the benchmark"
	}
	return line
}

// expectLine says what a load will insert.
func (cfg *linkConfig) expectLine() string {
	t := cfg.workload.Degrees().Totals()
	nodes := fmt.Sprintf("%d nodes", t.Nodes)
	if !cfg.Workload.GenerateNodes {
		nodes = "no nodes"
	}
	what := "to load"
	if cfg.Plan.Resume != nil {
		what = "the whole load"
	}
	return fmt.Sprintf("%s: %s, %d links (%.2f per id, at most %d), %d counts", what, nodes, t.Links, float64(t.Links)/float64(t.Nodes), t.Max, t.Counts)
}
