package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Product names, as Identity has them.
const (
	MariaDB      = "MariaDB"
	MySQL        = "MySQL"
	PerconaMySQL = "Percona Server"
	Mongod       = "mongod"
	PerconaMongo = "Percona Server for MongoDB"
)

// Identity is what a server program says it is.
type Identity struct {
	Product string // one of the product names above
	Version string // 10.11.19-MariaDB, 9.4.0, 7.0.5
}

func (id Identity) String() string { return id.Product + " " + id.Version }

// Identify runs the program with --version (below the wrapper, if there is one) and reads from its answer what it is: on
// many systems mysqld is MariaDB's.
func Identify(ctx context.Context, program string, wrapper []string) (Identity, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, errors.New("no answer within 30 s"))
	defer cancel()
	path, err := findProgram(program)
	if err != nil {
		return Identity{}, err
	}
	argv := append(append([]string{}, wrapper...), path, "--version")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second // a child that holds the pipe open doesn't hold us
	out, err := cmd.CombinedOutput()
	if id, ok := parseVersion(string(out)); ok {
		return id, nil
	}
	said := firstLine(out)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return Identity{}, fmt.Errorf("no %s in PATH: install it or give its path", argv[0])
	case ctx.Err() != nil:
		return Identity{}, fmt.Errorf("ask %s for its --version: %w", program, context.Cause(ctx))
	case err != nil && said == "":
		return Identity{}, fmt.Errorf("ask %s for its --version: %w", strings.Join(argv[:len(argv)-1], " "), err)
	case err != nil:
		return Identity{}, fmt.Errorf("ask %s for its --version: %w; it said %q", strings.Join(argv[:len(argv)-1], " "), err, said)
	}
	return Identity{}, fmt.Errorf("%s is no MariaDB, MySQL or mongod server: for --version it said %q", program, said)
}

var (
	// "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)"
	mysqlVersion = regexp.MustCompile(`(?m)^\S.*?\bVer (\d+\.\d+\.\d+\S*) for .*$`)
	// MySQL's clients answer like the server, but for their name.
	mysqlClient = regexp.MustCompile(`^(mysql|mariadb)(sh|[-_]?(admin|binlog|check|dump|import|pump|router|show|slap|test|upgrade).*)?(\.exe)?$`)
	// "db version v3.4.24"
	mongodVersion = regexp.MustCompile(`(?m)^db version v(\d+\.\d+\.\d+\S*)\s*$`)
	// Percona numbers its builds: 6.0.4-3. A release candidate is 7.0.0-rc1.
	perconaMongoVersion = regexp.MustCompile(`^\d+\.\d+\.\d+-\d+$`)
)

// parseVersion reads a server's answer to --version.
func parseVersion(out string) (Identity, bool) {
	if m := mongodVersion.FindStringSubmatch(out); m != nil {
		id := Identity{Product: Mongod, Version: m[1]}
		if perconaMongoVersion.MatchString(m[1]) || strings.Contains(out, "psmdbVersion") {
			id.Product = PerconaMongo
		}
		return id, true
	}
	m := mysqlVersion.FindStringSubmatch(out)
	if m == nil {
		return Identity{}, false
	}
	name, _, _ := strings.Cut(m[0], " ")
	if mysqlClient.MatchString(filepath.Base(name)) {
		return Identity{}, false
	}
	id := Identity{Product: MySQL, Version: m[1]}
	switch {
	case strings.Contains(m[1], "MariaDB"):
		id.Product = MariaDB
	case strings.Contains(m[0], "Percona"):
		id.Product = PerconaMySQL
	}
	return id, true
}

func (id Identity) isMongo() bool { return id.Product == Mongod || id.Product == PerconaMongo }

// atLeast reports whether the version is major.minor.patch or later.
func (id Identity) atLeast(major, minor, patch int) bool {
	var a, b, c int
	if _, err := fmt.Sscanf(id.Version, "%d.%d.%d", &a, &b, &c); err != nil {
		return false
	}
	if a != major {
		return a > major
	}
	if b != minor {
		return b > minor
	}
	return c >= patch
}

// findProgram resolves a name through PATH and the directories that servers are installed in, which an
// ordinary user's PATH often lacks.
func findProgram(name string) (string, error) {
	if name == "" {
		return "", errors.New("no server program named: mariadbd, mysqld, mongod or a path to one")
	}
	path, err := exec.LookPath(name)
	if err == nil {
		return filepath.Abs(path)
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return "", fmt.Errorf("the server program can't be run: %w", err)
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/bin", "/usr/local/mysql/bin", "/opt/homebrew/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no %s in PATH: install it or give its path", name)
}

func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	if len(line) > 200 {
		line = line[:200]
	}
	return string(line)
}
