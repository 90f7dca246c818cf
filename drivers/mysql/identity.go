package mysql

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"insertbench/drivers"
)

// engine is a storage engine as the server lists it.
type engine struct {
	// name is in the server's spelling.
	name          string
	transactional bool
}

func (e engine) is(name string) bool { return strings.EqualFold(e.name, name) }

// keepsNothing is whether rows are acknowledged and thrown away.
func (e engine) keepsNothing() bool { return e.is(blackhole) }

const (
	blackhole = "BLACKHOLE"
	rocksdb   = "ROCKSDB"
	innodb    = "InnoDB"
	memory    = "MEMORY"
)

// identify finds the engine and reads who answered and where it runs.
func (s *Server) identify(ctx context.Context, engineName string) error {
	vars, err := s.pairs(ctx, "SHOW VARIABLES")
	if err != nil {
		return drivers.Connectf("%w", err)
	}
	if engineName == "" {
		engineName = vars["default_storage_engine"]
	}
	if s.engine, err = s.findEngine(ctx, engineName); err != nil {
		return err
	}
	status, err := s.pairs(ctx, "SHOW SESSION STATUS LIKE 'Ssl_version'")
	if err != nil {
		return drivers.Connectf("%w", err)
	}
	s.identity = drivers.Identity{
		DBMS: "mysql", Product: product(vars), Version: vars["version"], Engine: s.engine.name,
		Durability: durability(s.engine, vars), Transport: transport(s.cfg.Net, s.cfg.Addr, status["ssl_version"]),
	}
	s.place = drivers.Place{
		Network: s.cfg.Net, Address: s.cfg.Addr,
		DataDir: path.Clean(vars["datadir"]), LogDirs: logDirs(vars),
	}
	return nil
}

func (s *Server) findEngine(ctx context.Context, name string) (engine, error) {
	ctx, cancel := s.short(ctx)
	defer cancel()
	rows, err := s.db.QueryContext(ctx, "SELECT ENGINE, SUPPORT, COALESCE(TRANSACTIONS, 'NO') FROM information_schema.ENGINES ORDER BY ENGINE")
	if err != nil {
		return engine{}, drivers.Connectf("listing the storage engines of the server at %s: %w", s.where, err)
	}
	defer rows.Close()
	var has []string
	var found engine
	disabled := false
	for rows.Next() {
		var listed, support, transactions string
		if err := rows.Scan(&listed, &support, &transactions); err != nil {
			return engine{}, drivers.Connectf("listing the storage engines of the server at %s: %w", s.where, err)
		}
		usable := support == "YES" || support == "DEFAULT"
		if usable {
			has = append(has, listed)
		}
		if strings.EqualFold(listed, name) {
			found = engine{name: listed, transactional: transactions == "YES"}
			disabled = !usable
		}
	}
	if err := rows.Err(); err != nil {
		return engine{}, drivers.Connectf("listing the storage engines of the server at %s: %w", s.where, err)
	}
	switch {
	case found.name == "":
		return engine{}, &drivers.EngineError{Engine: name,
			Err: fmt.Errorf("the server at %s has no storage engine %q; it has %s", s.where, name, strings.Join(has, ", "))}
	case disabled:
		return engine{}, &drivers.EngineError{Engine: name,
			Err: fmt.Errorf("the server at %s has storage engine %s disabled; it offers %s", s.where, found.name, strings.Join(has, ", "))}
	}
	return found, nil
}

// products are looked for in version and version_comment, in this order:
// forks keep the name of what they were forked from in one of the two.
var products = []struct{ mark, name string }{
	{"mariadb", "MariaDB"}, {"percona", "Percona Server"}, {"tidb", "TiDB"}, {"vitess", "Vitess"}, {"aurora", "Aurora MySQL"},
	{"facebook", "MySQL (Facebook)"}, {"mysql", "MySQL"},
}

func product(vars map[string]string) string {
	text := strings.ToLower(vars["version"] + " " + vars["version_comment"])
	for _, p := range products {
		if strings.Contains(text, p.mark) {
			return p.name
		}
	}
	// Builds from source and distributions' packages say "Source distribution"
	// or "(Debian)" and no name. server_uuid is a variable of MySQL's own.
	if vars["server_uuid"] != "" {
		return "MySQL"
	}
	return "MySQL-compatible"
}

func durability(e engine, vars map[string]string) string {
	flush := "flush at commit unknown"
	switch {
	case e.keepsNothing():
		return "keeps nothing"
	case e.is(memory):
		return "in memory only"
	case e.is(innodb):
		flush = flushPhrase(vars, "innodb_flush_log_at_trx_commit")
	case e.is(rocksdb):
		flush = flushPhrase(vars, "rocksdb_flush_log_at_trx_commit")
		if isOn(vars["rocksdb_write_disable_wal"]) {
			flush = "write-ahead log off"
		}
	}
	switch {
	case !isOn(vars["log_bin"]):
		return flush + ", binlog off"
	case !isOn(vars["sql_log_bin"]):
		return flush + ", binlog off for this session"
	default:
		return fmt.Sprintf("%s, binlog on with sync_binlog %s", flush, vars["sync_binlog"])
	}
}

func flushPhrase(vars map[string]string, name string) string {
	if value, ok := vars[name]; ok {
		return "flush at commit " + value
	}
	return "flush at commit unknown"
}

func isOn(value string) bool { return strings.EqualFold(value, "ON") || value == "1" }

func transport(network, address, tlsVersion string) string {
	out := "tcp " + address
	if network == "unix" {
		out = "unix socket " + address
	}
	if tlsVersion != "" {
		out += ", " + tlsVersion
	}
	return out
}

// logDirVariables name directories that a server may keep outside its data
// directory; log_bin_basename is a file's name without its number.
var logDirVariables = []string{
	"innodb_log_group_home_dir", "innodb_data_home_dir", "innodb_undo_directory", "innodb_doublewrite_dir",
	"rocksdb_datadir", "rocksdb_wal_dir", "aria_log_dir_path", "log_bin_basename",
}

// logDirs are the directories outside the data directory. The paths are the
// server's, which may run on another system than this program, so they are
// handled as slash paths.
func logDirs(vars map[string]string) []string {
	data := path.Clean(vars["datadir"])
	var out []string
	for _, name := range logDirVariables {
		dir := vars[name]
		if dir == "" {
			continue
		}
		if name == "log_bin_basename" {
			dir = path.Dir(dir)
		}
		if !path.IsAbs(dir) {
			dir = path.Join(data, dir)
		}
		dir = path.Clean(dir)
		if dir != data && !strings.HasPrefix(dir, strings.TrimSuffix(data, "/")+"/") && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}
