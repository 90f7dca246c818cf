package main

import (
	"fmt"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"insertbench/internal/cli"
	"insertbench/linkbench"
	"insertbench/linkbench/compat"
	"insertbench/linkbench/config"
)

// settings is a flag that may be given several times, and whose values may
// hold commas.
type settings []string

func (s *settings) Set(text string) error {
	*s = append(*s, text)
	return nil
}

func (s *settings) String() string {
	if s == nil {
		return ""
	}
	return strings.Join(*s, " ")
}

// options are what the flags say of the graph, the load and the requests. They
// count where they are set, over the files.
type options struct {
	file                    string
	settings                settings
	profile, compat, stream string
	startID1, maxID1        int64
	seed, loadSeed, askSeed int64
	tail                    string
	ldop, clients, warmup   int
	requests, seconds       int64
	requestRate             int64
	requestRates            string
	firstClient, allClients int
	transactions            string
	indexAt                 linkbench.IndexAt
	partitions, keyBlockKB  int
	index                   string
	columnFamilies          bool
	verify                  string
	legacy                  legacyOptions
	resume                  string
}

// connectionFlags are the flags that say which database to open. The shape of a document is LinkBench's own, and
// --transactions says whether there are any.
func connectionFlags() []urfave.Flag { return connection().Flags() }

// connection is where the graph is unless flags and files say otherwise.
func connection() cli.Defaults {
	return cli.Defaults{
		Database: "linkdb0", Path: "linkbench.sqlite",
		Without: []string{"mongo-id", "mongo-transactions", "mongo-unordered", "short-names"},
	}
}

func graphFlags(o *options) []urfave.Flag {
	const category = "Graph"
	defaults := config.Default(config.P2017)
	o.maxID1, o.startID1 = defaults.MaxID1, defaults.StartID1
	seed := func(name, usage string, v *int64) urfave.Flag {
		return &urfave.Int64Flag{Name: name, Usage: usage, Value: defaults.LoadSeed, Destination: v, Category: category}
	}
	return []urfave.Flag{
		&urfave.StringFlag{Name: "config", Usage: "the original's properties `FILE`, used as it is; flags win over it", Destination: &o.file, Category: category},
		&urfave.GenericFlag{Name: "D", Usage: "`KEY=VALUE` of a properties file, over the file's; may be given several times", Value: &o.settings, Category: category},
		&urfave.StringFlag{Name: "profile", Usage: "`GENERATION` of mix, payloads and distribution: " + words(config.Profiles()) + " (default demo, 20,000 ids, where no server is named, else 2017)", Destination: &o.profile, Category: category},
		&urfave.StringFlag{Name: "compat", Usage: "`RELEASE` whose behaviour is followed: " + words(compat.Modes()) + "; 2013 is the first, 2020 the fork, off the fork with its defects fixed (default 2020)", Destination: &o.compat, Category: category},
		&urfave.StringFlag{Name: "stream", Usage: "`KIND` of random numbers: pieces, alike for any number of loaders, or original, of one loader to the bit (default pieces)", Destination: &o.stream, Category: category},
		cli.CountFlag("startid1", "first id `N`", &o.startID1, category),
		&urfave.GenericFlag{Name: "maxid1", Usage: "end of the ids, itself not one: `N` is 1 more than the ids", Value: cli.CountValue(&o.maxID1), DefaultText: "10000001, demo 20001", Category: category},
		&urfave.StringFlag{Name: "tail", Usage: "`MOST` links of an id: full as measured, ids for as many as there are ids, or a number (default full, demo ids)", Destination: &o.tail, Category: category},
		seed("seed", "seed `N` of load and requests", &o.seed),
		seed("load-seed", "seed `N` of the load alone", &o.loadSeed),
		seed("request-seed", "seed `N` of the requests alone; the same one repeats them: on a graph that has had them, deletes find nothing and adds are updates", &o.askSeed),
	}
}

func loadFlags(cfg *linkConfig) []urfave.Flag {
	const category = "Load"
	o := &cfg.options
	return []urfave.Flag{
		&urfave.IntFlag{Name: "ldop", Usage: "`N` loaders, each with a connection of its own", DefaultText: "10, demo 4", Destination: &o.ldop, Category: category},
		cli.TextFlag("index-at", "`WHEN` to build the secondary index: at the start or the end of the load, at the end timed apart, or never", (*string)(&o.indexAt), category),
		&urfave.BoolFlag{Name: "drop", Usage: "drop and replace LinkBench's tables that exist", Destination: &cfg.Plan.Drop, Category: category},
		resumeFlag(o),
	}
}

func layoutFlags(o *options) []urfave.Flag {
	const category = "Tables"
	o.index = string(linkbench.IndexCovering)
	return []urfave.Flag{
		cli.TextFlag("index", "`VARIANT` of the link table's secondary index: covering or short", &o.index, category),
		&urfave.IntFlag{Name: "partitions", Usage: "`N` partitions of each table; 0 for none", Destination: &o.partitions, Category: category},
		&urfave.IntFlag{Name: "key-block-kb", Usage: "InnoDB's KEY_BLOCK_SIZE: 1, 2, 4, 8 or 16 `KB`; 0 for no compression", Destination: &o.keyBlockKB, Category: category},
		&urfave.BoolFlag{Name: "column-families", Usage: "put each index of MyRocks into a column family of its own", Destination: &o.columnFamilies, Category: category},
	}
}

func requestFlags(o *options) []urfave.Flag {
	const category = "Requests"
	return []urfave.Flag{
		&urfave.IntFlag{Name: "clients", Usage: "`N` requesters, each with a connection of its own", DefaultText: "100, demo 4", Destination: &o.clients, Category: category},
		&urfave.GenericFlag{Name: "requests", Usage: "end after `N` requests of each requester", Value: cli.CountValue(&o.requests), DefaultText: "500000, demo no such end", Category: category},
		&urfave.Int64Flag{Name: "seconds", Usage: "end after `S` seconds; with --requests, whichever comes first", DefaultText: "100000, demo 45", Destination: &o.seconds, Category: category},
		&urfave.IntFlag{Name: "warmup", Usage: "make requests for `S` seconds before those that count", Destination: &o.warmup, Category: category},
		&urfave.GenericFlag{Name: "request-rate", Usage: "make `N` requests per second in total, at times that don't wait for answers (default: as fast as answers come)", Value: cli.CountValue(&o.requestRate), Category: category},
		&urfave.StringFlag{Name: "request-rates", Usage: "a step for each of the rates `N,N,...`, and a table of latency by rate", Destination: &o.requestRates, Category: category},
		&urfave.StringFlag{Name: "transactions", Usage: "`MODE` of changing a link and its count over MongoDB's protocol: on in one transaction, off one after the other, auto in one where the server can (default auto)", Destination: &o.transactions, Category: category},
		&urfave.IntFlag{Name: "first-client", Usage: "where several processes share a run, this one's requesters begin with number `N`", Destination: &o.firstClient, Category: category},
		&urfave.IntFlag{Name: "all-clients", Usage: "`N` requesters of all processes together (default: this one's)", Destination: &o.allClients, Category: category},
	}
}

func strictFlag(strict *bool) urfave.Flag {
	return &urfave.BoolFlag{Name: "strict", Usage: fmt.Sprintf("exit with %d where less than 95 %% of a request rate was reached", cli.RateMissed), Destination: strict, Category: "Output"}
}

func verifyFlag(o *options) urfave.Flag {
	return cli.TextFlag("verify", "`MODE` of comparing the tables with what was generated, and each count with its visible links: full or off", &o.verify, "Verification")
}

func words[T fmt.Stringer](all []T) string {
	var names []string
	for _, v := range all {
		names = append(names, v.String())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
