package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Files of a run's folder.
const (
	runFile       = "run.json"
	intervalsFile = "intervals.ndjson"
	histFile      = "hist.hlog"
	piecesFile    = "pieces.jsonl"
	dumpsDir      = "dumps"
	reserveFile   = ".reserve"
)

// reserveBytes are kept in a file of zeros while the run goes on and given
// back when the disk is full, so that the last word can still be written.
const reserveBytes = 1 << 20

// Writer writes the record of one run into a folder of its own. Its methods
// may be called from several goroutines.
type Writer struct {
	mu        sync.Mutex
	dir       string
	intervals *appendFile
	hist      *appendFile
	pieces    *appendFile // of LinkBench's load
}

// Create makes a folder for the run below dir, which is made too where it is
// missing, and writes run.json at once as incomplete, so that a run that is
// killed leaves a record. Two runs in the same second get different folders.
// Of head it takes everything but Schema, Complete and Reason; StartedUTC
// must be set.
func Create(dir string, head Run) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, explain("making the results folder", dir, err)
	}
	path, err := makeUnique(dir, DirName(&head))
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: path}
	head.Complete, head.Reason = false, StillRunning
	if err := w.begin(head); err != nil {
		w.Close()
		os.RemoveAll(path) // made above: nothing in it is worth keeping
		return nil, err
	}
	return w, nil
}

// begin writes what a run's folder holds from the start.
func (w *Writer) begin(head Run) error {
	if err := w.Save(head); err != nil {
		return err
	}
	if err := replaceFile(w.path(reserveFile), make([]byte, reserveBytes)); err != nil {
		return explain("keeping space for the end of the record", w.path(reserveFile), err)
	}
	var err error
	if w.intervals, err = openAppend(w.path(intervalsFile)); err != nil {
		return err
	}
	if w.hist, err = openAppend(w.path(histFile)); err != nil {
		return err
	}
	var top bytes.Buffer
	log := hdrhistogram.NewHistogramLogWriter(&top)
	// Writing into memory doesn't fail.
	_ = log.OutputComment("[values in microseconds, Interval_Max in seconds, tag = step/operation/kind]")
	_ = log.OutputLogFormatVersion()
	_ = log.OutputStartTime(head.StartedUTC.UnixMilli())
	_ = log.OutputLegend()
	return w.hist.append(top.Bytes())
}

// Dir is the run's folder.
func (w *Writer) Dir() string { return w.dir }

func (w *Writer) path(name string) string { return filepath.Join(w.dir, name) }

// AppendInterval adds a line to intervals.ndjson; it is in the file when the
// call returns. A line that couldn't be written whole is taken back.
func (w *Writer) AppendInterval(iv Interval) error {
	line, err := json.Marshal(iv)
	if err != nil {
		return fmt.Errorf("writing interval %d of step %s: %w", iv.Second, iv.Step, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.intervals.append(append(line, '\n'))
}

// HistogramTag is the tag of a line of hist.hlog.
func HistogramTag(step, operation, kind string) string {
	return cleanName(step) + "/" + cleanName(operation) + "/" + cleanName(kind)
}

// AppendHistogram adds a histogram of microseconds to hist.hlog with the tag
// step/operation/kind. The histogram is the caller's again when it returns.
func (w *Writer) AppendHistogram(step, operation, kind string, start, end time.Time, h *hdrhistogram.Histogram) error {
	tag, from, to := h.Tag(), h.StartTimeMs(), h.EndTimeMs()
	h.SetTag(HistogramTag(step, operation, kind))
	h.SetStartTimeMs(start.UnixMilli())
	h.SetEndTimeMs(end.UnixMilli())
	var line bytes.Buffer
	err := hdrhistogram.NewHistogramLogWriter(&line).OutputIntervalHistogram(h)
	h.SetTag(tag)
	h.SetStartTimeMs(from)
	h.SetEndTimeMs(to)
	if err != nil {
		return fmt.Errorf("encoding the latencies of %s in step %s: %w", operation, step, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hist.append(line.Bytes())
}

// Dump writes one raw listing below dumps/ and gives its path relative to the
// run's folder, for Step.Dumps. edge is "start" or "end". It is on disk when
// the call returns: its write-back must not fall into the measured window.
func (w *Writer) Dump(step, edge, name string, text []byte) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path, name, err := w.dumpPath(step, edge, name)
	if err != nil {
		return "", err
	}
	if err := replaceFile(path, text); err != nil {
		return "", explain("writing a dump", path, err)
	}
	return name, nil
}

// dumpPath is where a dump lies, and its path relative to the run's folder.
func (w *Writer) dumpPath(step, edge, name string) (path, relative string, err error) {
	file := cleanName(step) + "-" + cleanName(edge) + "-" + cleanTo(name, maxDumpNameBytes)
	if err := os.MkdirAll(w.path(dumpsDir), 0o755); err != nil {
		return "", "", explain("making the folder of dumps", w.path(dumpsDir), err)
	}
	return filepath.Join(w.dir, dumpsDir, file), dumpsDir + "/" + file, nil
}

// DumpFile opens a file below dumps/ that others append to, maybe for longer
// than the caller has it open, and gives its path relative to the run's folder.
func (w *Writer) DumpFile(step, edge, name string) (*os.File, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path, name, err := w.dumpPath(step, edge, name)
	if err != nil {
		return nil, "", err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, "", explain("making a file for what is printed", path, err)
	}
	return f, name, nil
}

// Save writes run.json whole or not at all. It may be called as often as
// there is something new to say. On a full disk it gives back the space kept
// for it and tries again.
func (w *Writer) Save(run Run) error {
	data, err := Encode(run)
	path := w.path(runFile)
	if err != nil {
		return fmt.Errorf("writing the run record %s: %w", path, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	err = replaceFile(path, data)
	if IsFull(err) && os.Remove(w.path(reserveFile)) == nil {
		err = replaceFile(path, data)
	}
	if err != nil {
		return explain("writing the run record", path, err)
	}
	return nil
}

// Encode gives the bytes of run.json.
func Encode(run Run) ([]byte, error) {
	run.Schema = Schema
	if run.Steps == nil {
		run.Steps = []Step{}
	}
	if run.Command == nil {
		run.Command = []string{}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(run); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Close ends the writing. It says nothing about the run: Save does. It may be
// called twice.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := errors.Join(w.intervals.close(), w.hist.close(), w.pieces.close())
	w.intervals, w.hist, w.pieces = nil, nil, nil
	if e := os.Remove(w.path(reserveFile)); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, explain("removing the reserve", w.path(reserveFile), e))
	}
	return err
}

// makeUnique makes the folder name below dir, or name-2, name-3 and so on.
func makeUnique(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	for n := 2; ; n++ {
		err := os.Mkdir(path, 0o755)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", explain("making the run's folder", path, err)
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d", name, n))
	}
}

// IsFull is true for a full disk and a used-up quota.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
