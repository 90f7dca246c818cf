// Package properties reads Java's .properties files, the format of LinkBench's configuration.
package properties

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Entry is one setting and where it stood.
type Entry struct {
	Key, Value string
	Line       int // the line the setting begins on, 1 the first; 0 when it came from elsewhere
}

const maxLineBytes = 1 << 20

// Parse reads all entries in order; a key may occur again, and the last one counts. The syntax is that of
// java.util.Properties.load: comments start with # or !, a key ends at =, : or white space, a backslash at the
// end of a line continues it, \t \n \r \f and \uXXXX are escapes, bytes are ISO 8859-1. Unlike Java, white
// space at the end of a value is dropped, as LinkBench does when it uses one.
func Parse(r io.Reader) ([]Entry, error) {
	var entries []Entry
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLineBytes)
	sc.Split(splitLines)
	line, start := 0, 0
	var logical strings.Builder
	continued := false
	flush := func() error {
		key, value, err := splitEntry(logical.String())
		if err != nil {
			return fmt.Errorf("line %d: %w", start, err)
		}
		entries = append(entries, Entry{Key: key, Value: value, Line: start})
		return nil
	}
	for sc.Scan() {
		line++
		text := strings.TrimLeft(sc.Text(), " \t\f")
		if !continued {
			if text == "" || text[0] == '#' || text[0] == '!' {
				continue
			}
			logical.Reset()
			start = line
		}
		body, more := strings.CutSuffix(text, `\`)
		more = more && trailingBackslashes(text)%2 == 1
		if !more {
			body = text
		}
		if logical.Len()+len(body) > maxLineBytes {
			return nil, fmt.Errorf("line %d: a setting is longer than %d bytes", start, maxLineBytes)
		}
		logical.WriteString(body)
		if continued = more; continued {
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("cannot read settings after line %d: %w", line, err)
	}
	if continued {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// Assignment reads key=value as given on a command line; it is not a line of a file, so nothing is escaped.
func Assignment(s string) (Entry, error) {
	key, value, ok := strings.Cut(s, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return Entry{}, fmt.Errorf("setting %q is not of the form key=value", s)
	}
	return Entry{Key: key, Value: strings.TrimSpace(value)}, nil
}

// splitLines ends lines at \n, \r\n and \r.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	for i, b := range data {
		switch {
		case b == '\n':
			return i + 1, data[:i], nil
		case b != '\r':
		case i+1 < len(data) && data[i+1] == '\n':
			return i + 2, data[:i], nil
		case i+1 < len(data) || atEOF:
			return i + 1, data[:i], nil
		default:
			return 0, nil, nil // the next byte decides
		}
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func trailingBackslashes(s string) int { return len(s) - len(strings.TrimRight(s, `\`)) }

// splitEntry cuts a logical line at the first unescaped separator.
func splitEntry(s string) (key, value string, err error) {
	end := len(s)
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t\f", s[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(s[end:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], " \t\f")
	}
	if key, err = unescape(s[:end]); err != nil {
		return "", "", err
	}
	if value, err = unescape(strings.TrimRight(rest, " \t\f")); err != nil {
		return "", "", err
	}
	return key, strings.TrimSpace(value), nil
}

// unescape resolves escapes; bytes above ASCII are the Latin-1 characters they are in such files.
func unescape(s string) (string, error) {
	var units []uint16
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			if s[i] != '\\' {
				units = append(units, uint16(s[i]))
			}
			continue
		}
		i++
		switch s[i] {
		case 't':
			units = append(units, '\t')
		case 'n':
			units = append(units, '\n')
		case 'r':
			units = append(units, '\r')
		case 'f':
			units = append(units, '\f')
		case 'u':
			if i+5 > len(s) {
				return "", fmt.Errorf("escape %q needs four hexadecimal digits", s[i-1:])
			}
			v, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf("escape %q needs four hexadecimal digits", s[i-1:i+5])
			}
			units = append(units, uint16(v))
			i += 4
		default:
			units = append(units, uint16(s[i]))
		}
	}
	return string(utf16.Decode(units)), nil
}
