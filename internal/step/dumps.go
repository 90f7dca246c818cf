package step

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"insertbench/drivers"
)

// maxConfigBytes bounds a configuration file in the record.
const maxConfigBytes = 64 << 10

// dumps are the host's settings that may explain a run, and the server's
// command line and configuration file. Of a server that isn't proven to run
// here there are only the client's.
func (m *Meter) dumps(ctx context.Context) []drivers.Dump {
	var out []drivers.Dump
	for _, d := range m.root.Dumps(ctx, m.disks, m.pids) {
		dump := drivers.Dump{Name: "host-" + d.Name + ".txt", Text: []byte(d.Text)}
		if d.Err != "" {
			dump.Err = errors.New(d.Err)
		}
		out = append(out, dump)
	}
	for i, pid := range m.pids {
		out = append(out, m.serverFiles(i, pid)...)
	}
	return out
}

// serverFiles are a server process's command line and the configuration file
// it names, or the usual one.
func (m *Meter) serverFiles(i, pid int) []drivers.Dump {
	name := func(what string) string { return fmt.Sprintf("server%d-%s.txt", i+1, what) }
	raw, err := os.ReadFile(m.root.ProcFile(fmt.Sprint(pid), "cmdline"))
	if err != nil {
		return []drivers.Dump{{Name: name("command"), Err: err}}
	}
	args := strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
	out := []drivers.Dump{{Name: name("command"), Text: []byte(strings.Join(hidePasswords(args), "\n") + "\n")}}
	for _, path := range configFiles(args) {
		text, err := readBounded(m.root.ProcFile(fmt.Sprint(pid), "root", path))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		out = append(out, drivers.Dump{Name: name("config"), Text: redactConfig(text), Err: err})
		break
	}
	return out
}

// configFiles are the option files that a server's command line names, else
// the usual places of MySQL and mongod.
func configFiles(args []string) []string {
	for i, arg := range args {
		for _, flag := range []string{"--defaults-file", "--defaults-extra-file", "--config", "-f"} {
			if value, ok := strings.CutPrefix(arg, flag+"="); ok {
				return []string{value}
			}
			if arg == flag && i+1 < len(args) {
				return []string{args[i+1]}
			}
		}
		if arg == "--no-defaults" {
			return nil
		}
	}
	if len(args) > 0 && strings.Contains(args[0], "mongod") {
		return []string{"/etc/mongod.conf"}
	}
	return []string{"/etc/my.cnf", "/etc/mysql/my.cnf"}
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if len(text) > maxConfigBytes {
		return text[:maxConfigBytes], fmt.Errorf("cut at %d bytes", maxConfigBytes)
	}
	return text, err
}

// redactConfig hides the values of lines whose name speaks of a password or a
// key.
func redactConfig(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, line := range lines {
		name, _, ok := bytes.Cut(line, []byte("="))
		if !ok {
			name, _, ok = bytes.Cut(line, []byte(":"))
		}
		if ok && secretName(string(name)) {
			lines[i] = append(bytes.TrimRight(bytes.Clone(name), " "), " = ***\n"...)
		}
	}
	return bytes.Join(lines, nil)
}

// hidePasswords hides the values of a command line's secret options.
func hidePasswords(args []string) []string {
	shown := make([]string, len(args))
	for i, arg := range args {
		shown[i] = arg
		if name, _, ok := strings.Cut(arg, "="); ok && secretName(name) {
			shown[i] = name + "=***"
		} else if i > 0 && !strings.Contains(args[i-1], "=") && strings.HasPrefix(args[i-1], "-") && secretName(args[i-1]) {
			shown[i] = "***"
		}
	}
	return shown
}

// secretName says whether an option's name speaks of a secret.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"password", "passwd", "secret", "token", "sst_auth", "sst-auth"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
