package config

import (
	"fmt"

	"insertbench/linkbench/graph"
)

// Profile names a workload generation: operation mix, payload sizes and measured distribution.
type Profile int

const (
	// P2017 is the fork's workload since 2017 and the default.
	P2017 Profile = iota
	// P2011 is the workload of the first release and of its paper (SIGMOD 2013).
	P2011
	// Demo is P2017 on 20,000 ids, none with more links than there are ids, so that it loads in seconds.
	Demo
)

// Profiles lists all profiles in the order help shows them.
func Profiles() []Profile { return []Profile{P2017, P2011, Demo} }

func (p Profile) String() string {
	switch p {
	case P2017:
		return "2017"
	case P2011:
		return "2011"
	case Demo:
		return "demo"
	}
	return fmt.Sprintf("config.Profile(%d)", int(p))
}

// ParseProfile reads the name String gives.
func ParseProfile(s string) (Profile, error) {
	for _, p := range Profiles() {
		if p.String() == s {
			return p, nil
		}
	}
	return 0, fmt.Errorf("profile %q is unknown: use 2017, 2011 or demo", s)
}

// MarshalText makes the name what JSON and flags show.
func (p Profile) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is ParseProfile.
func (p *Profile) UnmarshalText(b []byte) error {
	v, err := ParseProfile(string(b))
	if err == nil {
		*p = v
	}
	return err
}

// Stream chooses how random numbers are dealt to the loaders.
type Stream int

const (
	// Pieces gives each piece of the id space a stream of its own, so that any number of loaders loads the same
	// data, and a load can go on where it stopped.
	Pieces Stream = iota
	// Original gives the one loader it allows the streams of the original, in its order.
	Original
)

func (s Stream) String() string {
	switch s {
	case Pieces:
		return "pieces"
	case Original:
		return "original"
	}
	return fmt.Sprintf("config.Stream(%d)", int(s))
}

// ParseStream reads the name String gives.
func ParseStream(s string) (Stream, error) {
	switch s {
	case Pieces.String():
		return Pieces, nil
	case Original.String():
		return Original, nil
	}
	return 0, fmt.Errorf("stream %q is unknown: use pieces or original", s)
}

// MarshalText makes the name what JSON and flags show.
func (s Stream) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseStream.
func (s *Stream) UnmarshalText(b []byte) error {
	v, err := ParseStream(string(b))
	if err == nil {
		*s = v
	}
	return err
}

// workload is what a profile sets.
type workload struct {
	mix            Mix
	linkDataMedian float64
	nodeDataMedian float64
}

// workloadOf gives the numbers of FBWorkload.properties, of the fork (2017) and of the first release (2011).
func workloadOf(p Profile) workload {
	if p == P2011 {
		return workload{
			mix: Mix{graph.AddLink: 8.9886601, graph.DeleteLink: 2.9907664, graph.UpdateLink: 8.0122125,
				graph.CountLinks: 4.8863567, graph.MultigetLinks: 0.5261142, graph.ListLinks: 50.7119145,
				graph.AddNode: 2.5732789, graph.UpdateNode: 7.366437, graph.DeleteNode: 1.0115914,
				graph.GetNode: 12.9326683},
			linkDataMedian: 8, nodeDataMedian: 128,
		}
	}
	return workload{
		mix: Mix{graph.AddLink: 5.35038, graph.DeleteLink: 0.98401, graph.UpdateLink: 4.75589,
			graph.CountLinks: 4.27898, graph.MultigetLinks: 12.14725, graph.ListLinks: 22.57039,
			graph.AddNode: 2.61198, graph.UpdateNode: 3.06256, graph.DeleteNode: 0.25166, graph.GetNode: 43.98690},
		linkDataMedian: 23, nodeDataMedian: 168,
	}
}
