package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxRecordBytes bounds what Load takes into memory.
const maxRecordBytes = 256 << 20

// Load reads the record of a run: dir is its folder, or the run.json in it.
// Fields it doesn't know are passed over, so records of later versions with
// the same schema can be read.
func Load(dir string) (Run, error) {
	path := dir
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		path = filepath.Join(dir, runFile)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Run{}, fmt.Errorf("%w; name the folder of a run", sentence("reading the run record", path, err))
	}
	if err != nil {
		return Run{}, sentence("reading the run record", path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecordBytes+1))
	if err != nil {
		return Run{}, sentence("reading the run record", path, err)
	}
	if len(data) > maxRecordBytes {
		return Run{}, fmt.Errorf("reading the run record %s: it is larger than %d MiB, so it isn't one", path, maxRecordBytes>>20)
	}
	run, err := Decode(data)
	if err != nil {
		return Run{}, fmt.Errorf("reading the run record %s: %w", path, err)
	}
	return run, nil
}

// Decode reads the bytes of a run.json.
func Decode(data []byte) (Run, error) {
	var head struct {
		Schema *int `json:"schema"`
	}
	var other *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &head); {
	case errors.As(err, &other): // an array, or a schema that is no number
		return Run{}, errors.New(`it isn't a JSON object with a number as "schema": not a record of ibench or linkbench`)
	case err != nil:
		return Run{}, fmt.Errorf("it isn't a whole JSON object: %w", err)
	}
	switch {
	case head.Schema == nil:
		return Run{}, errors.New(`it has no "schema": not a record of ibench or linkbench`)
	case *head.Schema != Schema:
		return Run{}, fmt.Errorf("it has schema %d, this version reads schema %d; use the version that wrote it", *head.Schema, Schema)
	}
	var run Run
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber() // seeds and counts in the configuration keep all 64 bits
	switch err := in.Decode(&run); {
	case errors.As(err, &other):
		return Run{}, fmt.Errorf("%s isn't what schema %d says: it holds a %s", other.Field, Schema, other.Value)
	case err != nil:
		return Run{}, fmt.Errorf("a field isn't what schema %d says: %w", Schema, err)
	}
	if run.Steps == nil {
		run.Steps = []Step{}
	}
	return run, nil
}
