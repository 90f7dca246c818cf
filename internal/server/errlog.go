package server

import (
	"io"
	"os"
	"regexp"
	"strings"
)

const (
	tailBytes  = 64 << 10
	errorLines = 3
)

// errorLine matches an error in the logs of MariaDB and MySQL ("… [ERROR] …", and "mysqld: unknown …" before the log is open), of mongod since 4.4
// (JSON with a severity) and before (date, severity, component).
var errorLine = regexp.MustCompile(`\[ERROR\]|"s":"[EF]"|^\S+ [EF] |[Ee]rror:|exception in |ERROR:`)

// logTail is the reason a log gives: its last error lines after the byte offset from, or its last lines where there is no
// error among them, ready to stand at the end of a sentence; "" when it is empty.
func logTail(path string, from int64) string {
	lines := reasons(readTail(path, from))
	if len(lines) == 0 {
		return ""
	}
	return "; its log says: " + strings.Join(lines, " | ")
}

// Complaints are the last errors in the server's log since it was started that name what they are about, in capitals or
// not; nil where there is none. Passwords are taken out.
func (s *Server) Complaints(about string) []string {
	var lines []string
	for line := range strings.Lines(readTail(s.LogFile, s.logFrom)) {
		if errorLine.MatchString(line) && strings.Contains(strings.ToLower(line), strings.ToLower(about)) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return reasons(strings.Join(lines, "\n"))
}

// readTail reads a log after the byte offset from, its last part where that is long; "" where it can't be read.
func readTail(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if size := fileSize(path); size-from > tailBytes {
		from = size - tailBytes
	}
	b, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return ""
	}
	return string(b)
}

// secretValue matches what a log may repeat of a configuration or a statement: a secret's name and all after it, as nobody knows
// where the secret ends; secretInURI the password of a URI.
var (
	secretValue = regexp.MustCompile(`(?i)((?:password|passwd|passphrase|secret|credential|token)[\w-]*\s*[=:(]|identified\s.*?\b(?:by|as)\b).*`)
	secretInURI = regexp.MustCompile(`(://[^/@:\s]*:)[^/\s]+@`)
)

// reasons picks the last error lines of a log, without repetitions, or its last lines if none is an error.
func reasons(log string) []string {
	var all, errs []string
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		line = secretInURI.ReplaceAllString(secretValue.ReplaceAllString(line, "${1}***"), "${1}***@")
		if len(line) > 300 {
			line = line[:300] + "…"
		}
		all = append(all, line)
		if errorLine.MatchString(line) {
			errs = append(errs, line)
		}
	}
	if len(errs) == 0 {
		errs = all
	}
	return errs[max(0, len(errs)-errorLines):]
}

func fileSize(path string) int64 {
	fi, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return fi.Size()
}
