package iostat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// Root says where the kernel's pseudo file systems are. The zero value means /proc and /sys.
type Root struct{ Proc, Sys string }

// ProcFile is a path below /proc.
func (r Root) ProcFile(elem ...string) string { return r.proc(elem...) }

// SysFile is a path below /sys.
func (r Root) SysFile(elem ...string) string { return r.sys(elem...) }

func (r Root) proc(elem ...string) string { return below(r.Proc, "/proc", elem) }

func (r Root) sys(elem ...string) string { return below(r.Sys, "/sys", elem) }

func below(dir, fallback string, elem []string) string {
	if dir == "" {
		dir = fallback
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

func (r Root) pid(pid int, elem ...string) string {
	return filepath.Join(append([]string{r.proc(), strconv.Itoa(pid)}, elem...)...)
}

// live reports whether the root is this host's own, where paths named in /proc can be looked up.
func (r Root) live() bool { return r.proc() == "/proc" && r.sys() == "/sys" }

// Opt is a value that may be unknown. OK is false when it isn't known; it is then null in JSON.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some is a known value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// known is v if ok; what isn't known holds no value either.
func known[T any](v T, ok bool) Opt[T] {
	if !ok {
		return Opt[T]{}
	}
	return Some(v)
}

// Ptr returns a pointer to a copy of the value, nil when it isn't known.
func (o Opt[T]) Ptr() *T {
	if !o.OK {
		return nil
	}
	return &o.V
}

// MarshalJSON writes the value, or null when it isn't known.
func (o Opt[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Ptr()) }

// UnmarshalJSON reads a value; null makes it not known.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(b, &o.V); err != nil {
		return err
	}
	o.OK = true
	return nil
}

// maxFileBytes bounds what is read of one kernel file. The largest one wanted is /proc/net/tcp,
// with 150 bytes for each connection.
const maxFileBytes = 64 << 20

// reader reads small files into one buffer of its own.
type reader struct{ buf []byte }

// read returns the content of path, valid until the next call.
func (r *reader) read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if r.buf == nil {
		r.buf = make([]byte, 16<<10)
	}
	n := 0
	for {
		if n == len(r.buf) {
			if n >= maxFileBytes {
				return nil, fmt.Errorf("read %s: larger than %d bytes", path, maxFileBytes)
			}
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
		m, err := f.Read(r.buf[n:])
		n += m
		if err == io.EOF || err == nil && m == 0 {
			return r.buf[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func readFile(path string) ([]byte, error) { return new(reader).read(path) }

// readWord returns a one-line file without the white space around it.
func readWord(path string) (string, error) {
	b, err := readFile(path)
	return string(bytes.TrimSpace(b)), err
}

// nextLine cuts the first complete line off b. A last line without its newline was cut short and is
// never returned.
func nextLine(b []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil, nil, false
	}
	return b[:i], b[i+1:], true
}

// nextField cuts the first field off a line; fields are separated by blanks and tabs.
func nextField(b []byte) (field, rest []byte) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	j := i
	for j < len(b) && b[j] != ' ' && b[j] != '\t' {
		j++
	}
	return b[i:j], b[j:]
}

// parseInt reads a decimal number that is not negative and fits an int64.
func parseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
		if n < 0 {
			return 0, false
		}
	}
	return n, true
}

// keyed calls f with every "key value" line, without the colon after the key; the value is the rest
// of the line.
func keyed(b []byte, f func(key, value []byte)) {
	for {
		line, rest, ok := nextLine(b)
		if !ok {
			return
		}
		key, value := nextField(line)
		f(bytes.TrimSuffix(key, []byte(":")), value)
		b = rest
	}
}
