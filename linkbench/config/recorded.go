package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"insertbench/linkbench/graph"
)

// UnmarshalJSON reads percentages by the operations' names.
func (m *Mix) UnmarshalJSON(data []byte) error {
	var byName map[string]float64
	if err := json.Unmarshal(data, &byName); err != nil {
		return err
	}
	var mix Mix
	for op := range mix {
		p, ok := byName[graph.Op(op).String()]
		if !ok {
			return fmt.Errorf("the mix has no %s", graph.Op(op))
		}
		mix[op] = p
	}
	*m = mix
	return nil
}

// Recorded makes the workload of a record again. What comes of it must be
// what the record says to the letter, so that a version that knows other
// settings doesn't go on with another graph. The distribution data of a file
// aren't in the record and are read anew.
func Recorded(workload []byte) (*Config, error) {
	var c Config
	in := json.NewDecoder(bytes.NewReader(workload))
	in.DisallowUnknownFields()
	if err := in.Decode(&c); err != nil {
		return nil, fmt.Errorf("the record's workload: %w", err)
	}
	made, err := c.Resolve()
	if err != nil {
		return nil, fmt.Errorf("the record's workload: %w", err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("the record's workload: %w", err)
	}
	same, err := sameJSON(text, workload)
	if err != nil {
		return nil, fmt.Errorf("the record's workload: %w", err)
	}
	if !same {
		return nil, fmt.Errorf("the record's workload isn't one that this version makes; use the version that wrote it")
	}
	return made, nil
}

// sameJSON compares two texts by their values, numbers by their digits.
func sameJSON(a, b []byte) (bool, error) {
	var values [2]any
	for i, text := range [][]byte{a, b} {
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber()
		if err := in.Decode(&values[i]); err != nil {
			return false, err
		}
	}
	return reflect.DeepEqual(values[0], values[1]), nil
}
