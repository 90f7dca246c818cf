// Package stream is what LinkBench sends: the nodes, links and counts of a load and the requests that follow,
// each a pure function of the configuration. It knows no database, no clock and no files.
package stream

import (
	"insertbench/linkbench/compat"
	"insertbench/linkbench/config"
	"insertbench/linkbench/degree"
	"insertbench/linkbench/dist"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/javarand"
)

// Workload holds what all generators of a configuration share. It is immutable and safe for concurrent use; its
// size doesn't depend on the number of ids.
type Workload struct {
	cfg     *config.Config
	degrees *degree.Function

	linkBytes, nodeBytes dist.Lognormal
	linkReads            blend
	linkWrites           blend
	nodeReads            chooser
	nodeUpdates          chooser
	nodeDeletes          chooser
	multiget             func(*javarand.Random) int64
	cumulative           [graph.Ops]float64
	countOrders          [][]int // type order of count rows by capacity of the original's hash map
}

// New prepares the workload of a resolved configuration.
func New(cfg *config.Config) (*Workload, error) {
	degrees, err := cfg.NewDegrees()
	if err != nil {
		return nil, err
	}
	w := &Workload{
		cfg: cfg, degrees: degrees,
		linkBytes: dist.NewLognormal(cfg.LinkDataMedian, graph.MaxLinkBytes),
		nodeBytes: dist.NewLognormal(cfg.NodeDataMedian, graph.MaxNodeBytes),
	}
	n := cfg.Nodes()
	correlated := dist.NewShuffler(dist.SeedLinks, dist.Groups, n)
	uncorrelated := dist.NewShuffler(dist.SeedUncorrelated, dist.Groups, n)
	nodes := dist.NewShuffler(dist.SeedNodes, dist.Groups, n)
	w.linkReads = blend{
		percent:      cfg.ReadUncorrelatedPercent,
		correlated:   newChooser(cfg, linkReads, cfg.LinkReads, degree.LinkReads, correlated),
		uncorrelated: newChooser(cfg, linkReadsUncorrelated, cfg.LinkReadsUncorrelated, degree.LinkReads, uncorrelated),
	}
	w.linkWrites = blend{
		percent:      cfg.WriteUncorrelatedPercent,
		correlated:   newChooser(cfg, linkWrites, cfg.LinkWrites, degree.LinkWrites, correlated),
		uncorrelated: newChooser(cfg, linkWritesUncorrelated, cfg.LinkWritesUncorrelated, degree.LinkWrites, uncorrelated),
	}
	w.nodeReads = newChooser(cfg, nodeReads, cfg.NodeReads, degree.NodeReads, nodes)
	w.nodeUpdates = newChooser(cfg, nodeUpdates, cfg.NodeUpdates, degree.NodeWrites, nodes)
	w.nodeDeletes = newChooser(cfg, nodeDeletes, cfg.NodeDeletes, "", nodes)
	w.multiget = multigetSize(cfg)
	sum := 0.0
	for op, p := range cfg.Mix {
		sum += p
		w.cumulative[op] = sum
	}
	w.countOrders = hashOrders(cfg.LinkTypes)
	return w, nil
}

// Config is the configuration the workload was made of.
func (w *Workload) Config() *config.Config { return w.cfg }

// Degrees is the out-degree function.
func (w *Workload) Degrees() *degree.Function { return w.degrees }

// Round is the workload of the n-th request phase on one graph, counted from 0: the same but for the seed of the
// requests, so that a phase doesn't repeat what the one before it did. Round 0 is w itself.
func (w *Workload) Round(n int) *Workload {
	if n == 0 {
		return w
	}
	cfg, round := *w.cfg, *w
	cfg.RequestSeed = mix(cfg.RequestSeed, roleRound, int64(n))
	round.cfg = &cfg
	return &round
}

func multigetSize(cfg *config.Config) func(*javarand.Random) int64 {
	m := cfg.Multiget
	switch m.Kind {
	case config.Geometric:
		return dist.Geometric{Min: m.Min, Max: m.Max, P: m.P, Exact: cfg.Compat == compat.Off}.Choose
	case config.UniformSize:
		return dist.Uniform{Min: m.Min, Max: m.Max}.Choose
	}
	return func(*javarand.Random) int64 { return 1 }
}

// Roles keep the streams of different purposes apart.
const (
	roleNodes = iota + 1
	roleLinks
	roleNodeMotif
	roleLinkMotif
	roleRound
)

// mix derives a seed from others: splitmix64's finaliser (Steele, Lea, Flood 2014) over each in turn.
func mix(seed int64, more ...int64) int64 {
	x := uint64(seed)
	for _, m := range more {
		x += uint64(m) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return int64(x)
}

// loadSeeds are the seeds of the original's node loader and of its link loaders. It draws the first value for a
// debug line, and the nodes' only when there are nodes to load.
func (w *Workload) loadSeeds() (nodes, links int64) {
	m := javarand.NewMaster(w.cfg.LoadSeed)
	m.Int64()
	if w.cfg.GenerateNodes {
		nodes = m.Int64()
	}
	return nodes, m.Int64()
}

// grow returns a buffer of n bytes, buf's memory where it suffices.
func grow(buf []byte, n int) []byte {
	if n > cap(buf) {
		buf = make([]byte, max(n, 2*cap(buf), 512))
	}
	return buf[:n]
}
