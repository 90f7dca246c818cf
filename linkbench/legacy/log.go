package legacy

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Log is where lines and the rows of -csvstream go. It is safe for concurrent use: a line, and all that a thread has to
// say at a time, is written in one piece. Where writing fails nothing more is written to that place, and the run goes
// on; LinesErr and StreamErr say so.
type Log struct {
	mu            sync.Mutex
	now           func() time.Time
	lines, stream sink
}

// sink is a writer up to its first error.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) write(text string) {
	if s.w != nil && s.err == nil && text != "" {
		_, s.err = io.WriteString(s.w, text)
	}
}

// NewLog begins a log. A nil writer takes nothing; stream gets its header.
func NewLog(lines, stream io.Writer, now func() time.Time) *Log {
	l := &Log{now: now, lines: sink{w: lines}, stream: sink{w: stream}}
	l.stream.write(StreamHeader + "\n")
	return l
}

// Line writes a line of the log in a thread's name.
func (l *Log) Line(thread, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line(l.now(), thread, text)
}

func (l *Log) line(at time.Time, thread, text string) {
	l.lines.write(Prefix("INFO", at, thread) + text + "\n")
}

// samples writes the lines and rows of one thread.
func (l *Log) samples(thread string, all []Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.now()
	var rows strings.Builder
	for _, s := range all {
		l.line(at, thread, s.Line())
		rows.WriteString(s.CSV(at.Unix()) + "\n")
	}
	l.stream.write(rows.String())
}

// LinesErr is the first error of printing lines.
func (l *Log) LinesErr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines.err != nil {
		return fmt.Errorf("print the original's lines: %w", l.lines.err)
	}
	return nil
}

// StreamErr is the first error of writing rows.
func (l *Log) StreamErr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream.err != nil {
		return fmt.Errorf("write the original's statistics of threads: %w", l.stream.err)
	}
	return nil
}
