package iostat

import (
	"bytes"
	"slices"
	"strings"
)

// mount is one line of /proc/PID/mountinfo (Documentation/filesystems/proc.rst, 3.5).
type mount struct {
	number  string // major:minor; the major is 0 for file systems that aren't on one device
	point   string
	options string
	fsType  string
	source  string
	super   string // options of the file system
}

// parseMountinfo reads complete lines that hold all fields, in the order they were mounted.
func parseMountinfo(b []byte) []mount {
	var out []mount
	for {
		line, rest, ok := nextLine(b)
		if !ok {
			return out
		}
		b = rest
		f := strings.Fields(string(line))
		dash := slices.Index(f, "-")
		// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
		if dash < 6 || len(f) < dash+4 || bytes.IndexByte(line, 0) >= 0 {
			continue
		}
		m := mount{number: f[2], point: unescape(f[4]), options: f[5],
			fsType: f[dash+1], source: unescape(f[dash+2]), super: f[dash+3]}
		if strings.HasPrefix(m.point, "/") {
			out = append(out, m)
		}
	}
}

// unescape undoes what the kernel does to blanks, tabs, newlines and backslashes: a backslash and
// three octal digits.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]) && s[i+1] < '4' {
			out.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// option returns the value of one of the file system's options.
func (m mount) option(name string) (string, bool) {
	for o := range strings.SplitSeq(m.super, ",") {
		if v, ok := strings.CutPrefix(o, name+"="); ok {
			return unescape(v), true
		}
	}
	return "", false
}

// mountOf finds what dir lies on: the deepest mount point above it, the last one mounted there.
// number is the device the directory itself reports ("" when not known); it decides where a mount
// point was covered by a later mount above it.
func mountOf(mounts []mount, dir, number string) (mount, bool) {
	var best, exact mount
	for _, m := range mounts {
		if dir != m.point && m.point != "/" && !strings.HasPrefix(dir, m.point+"/") {
			continue
		}
		if len(m.point) >= len(best.point) {
			best = m
		}
		if m.number == number && len(m.point) >= len(exact.point) {
			exact = m
		}
	}
	if exact.point != "" {
		best = exact
	}
	return best, best.point != ""
}
