package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"insertbench/drivers"
	"insertbench/ibench"
)

// restoreTimeout bounds putting variables back once the rest has ended.
const restoreTimeout = 30 * time.Second

// Settle analyzes the tables, writes back what InnoDB has in memory, and for
// MyRocks flushes the memtables and compacts level 0. The order is that of the
// original's scripts (np.sh vac_my, mdcallag/mytools).
func (s *Server) Settle(ctx context.Context, tables []string, limit time.Duration) (ibench.Settled, error) {
	t := &settling{Server: s, deadline: time.Now().Add(limit)}
	var err error
	if t.vars, err = s.pairs(ctx, "SHOW GLOBAL VARIABLES"); err != nil {
		return t.out, err
	}
	for _, table := range tables {
		if err := ibench.CheckTableName(table); err != nil {
			return t.out, err
		}
		err := t.within(ctx, "analyzing "+table, func(ctx context.Context) error { return t.analyze(ctx, table) })
		if err != nil || t.late {
			return t.out, err
		}
	}
	switch {
	case s.engine.is(innodb):
		err = t.flushInnoDB(ctx)
	case s.engine.is(rocksdb):
		err = t.compactRocksDB(ctx, tables)
	default:
		t.unverifiedf("nothing is known of how engine %s comes to rest", s.engine.name)
	}
	return t.out, err
}

// settling is one Settle under way.
type settling struct {
	*Server
	vars     map[string]string
	deadline time.Time
	out      ibench.Settled
	// late is set once the deadline has cut something off.
	late bool
}

// within does what the deadline may cut off, which isn't an error: the server
// may go on with it. So it may when ctx ends, and then what was under way is
// noted, too.
func (t *settling) within(ctx context.Context, doing string, do func(context.Context) error) error {
	bounded, cancel := context.WithDeadline(ctx, t.deadline)
	defer cancel()
	drivers.WaitingFor(ctx, "%s", doing)
	err := do(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		t.late = true
		t.unverifiedf("%s had not ended when the time was up", doing)
		return nil
	}
	if err != nil && ctx.Err() != nil {
		t.unverifiedf("%s had not ended when it was interrupted", doing)
	}
	return err
}

func (t *settling) didf(format string, args ...any) {
	t.out.Actions = append(t.out.Actions, fmt.Sprintf(format, args...))
}

func (t *settling) unverifiedf(format string, args ...any) {
	t.out.Unverified = append(t.out.Unverified, fmt.Sprintf(format, args...))
}

// analyze refreshes the statistics of a table.
func (t *settling) analyze(ctx context.Context, table string) error {
	rows, err := t.db.QueryContext(ctx, "ANALYZE TABLE "+table)
	if err != nil {
		return fmt.Errorf("analyzing table %s: %w", t.table(table), err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, op, kind, text string
		if err := rows.Scan(&name, &op, &kind, &text); err != nil {
			return fmt.Errorf("analyzing table %s: %w", t.table(table), err)
		}
		if kind == "Error" {
			t.unverifiedf("statistics of %s: %s", table, text)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("analyzing table %s: %w", t.table(table), err)
	}
	t.didf("analyzed %s", table)
	return nil
}

// set sets a global variable.
func (t *settling) set(ctx context.Context, name, value string) error {
	if _, err := t.db.ExecContext(ctx, "SET GLOBAL "+name+" = "+value); err != nil {
		return fmt.Errorf("setting %s to %s on the server at %s: %w", name, value, t.where, err)
	}
	return nil
}

// flushSettings make InnoDB write its dirty pages as fast as it can; those
// that a server doesn't have are left out. The order is that in which they are
// put back: the low-water mark can't be above the maximum.
var flushSettings = []struct{ name, value string }{
	{"innodb_idle_flush_pct", "100"}, {"innodb_max_dirty_pages_pct", "0"}, {"innodb_max_dirty_pages_pct_lwm", "0"},
}

// flushInnoDB has the dirty pages written, waits until there are next to
// none, and puts the variables back whatever happened.
func (t *settling) flushInnoDB(ctx context.Context) (err error) {
	defer drivers.Undoing(ctx, t.byHand())()
	defer func() {
		left := t.restore(ctx)
		if left != nil && ctx.Err() != nil {
			t.unverifiedf("%v", left) // an interrupted step tells no error but the interruption
		}
		err = errors.Join(err, left)
	}()
	for _, v := range flushSettings {
		if _, has := t.vars[v.name]; !has {
			continue
		}
		if err := t.set(ctx, v.name, v.value); err != nil && !isRefusal(err) {
			return err
		} else if err != nil {
			t.unverifiedf("dirty pages may be left: %v", withAdvice(err))
			return nil
		}
	}
	t.didf("had InnoDB write back its dirty pages")
	dirty := int64(-1)
	reached, err := t.until(ctx, func() (bool, error) {
		status, err := t.pairs(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'")
		if err != nil {
			return false, err
		}
		_, err = fmt.Sscan(status["innodb_buffer_pool_pages_dirty"], &dirty)
		drivers.WaitingFor(ctx, "%d dirty pages in InnoDB's buffer pool", dirty)
		return dirty <= maxDirtyPages, err
	})
	t.end(reached, err, fmt.Sprintf("%d dirty pages in InnoDB's buffer pool", dirty))
	return err
}

// isRefusal says whether a server that is there and stays refused a statement:
// not where the connection was lost, killed, or ended by a shutdown.
func isRefusal(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && !unknownOutcome[server.Number]
}

// withAdvice adds what to grant where a privilege is what is missing.
func withAdvice(err error) error {
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == errNoPrivilege {
		return fmt.Errorf("%w; grant the user SUPER or SYSTEM_VARIABLES_ADMIN", err)
	}
	return err
}

// maxDirtyPages is what counts as none: the server itself writes a few all the time.
const maxDirtyPages = 16

// restore puts back what flushInnoDB has changed, and else says how to.
func (t *settling) restore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	var first error
	var left []string
	for _, v := range flushSettings {
		old, has := t.vars[v.name]
		if !has {
			continue
		}
		if err := t.putBack(ctx, v.name, old); err != nil {
			left = append(left, v.name)
			first = cmp.Or(first, err)
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("InnoDB's variables could not be put back; if the server wasn't restarted since, do it by hand: %s (%w)", t.byHand(left...), first)
}

// byHand are the statements that put variables back, all of them for none named.
func (t *settling) byHand(names ...string) string {
	var statements []string
	for _, v := range flushSettings {
		if old, has := t.vars[v.name]; has && (len(names) == 0 || slices.Contains(names, v.name)) {
			statements = append(statements, "SET GLOBAL "+v.name+" = "+old)
		}
	}
	return strings.Join(statements, "; ")
}

// putBack sets a variable to what it was. What made Settle fail may be over
// in a moment (too many connections, a connection killed), so it tries again;
// but not where nobody listens: that server has lost its variables anyway.
func (t *settling) putBack(ctx context.Context, name, old string) error {
	for {
		now, err := t.pairs(ctx, "SHOW GLOBAL VARIABLES LIKE '"+name+"'")
		if err == nil && now[name] != old {
			err = t.set(ctx, name, old)
		}
		var gone *net.OpError
		if err == nil || errors.As(err, &gone) {
			return err
		}
		drivers.WaitingFor(ctx, "InnoDB's variables to be put back")
		if !sleep(ctx, pollEvery) {
			return err
		}
	}
}

// sleep is false if the context ended first.
func sleep(ctx context.Context, long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// compactRocksDB flushes the memtables, lets compactions end, and compacts
// level 0. The variable that does both at once isn't used: with it servers
// were seen to wait without an end.
func (t *settling) compactRocksDB(ctx context.Context, tables []string) error {
	families, err := t.families(ctx, tables)
	if err != nil {
		return err
	}
	err = t.within(ctx, "flushing the memtables", func(ctx context.Context) error { return t.set(ctx, "rocksdb_force_flush_memtable_now", "1") })
	if err != nil && isRefusal(err) && ctx.Err() == nil {
		t.unverifiedf("memtables weren't flushed: %v", withAdvice(err))
		return nil
	}
	if err != nil || t.late {
		return err
	}
	t.didf("flushed the memtables")
	idle := func() (bool, error) {
		n, err := t.rocksPending(ctx, families)
		drivers.WaitingFor(ctx, "%d flushes and compactions pending", n)
		return n == 0, err
	}
	if reached, err := t.until(ctx, idle); err != nil || !reached {
		t.end(reached, err, "flushes and compactions pending")
		return err
	}
	if _, has := t.vars["rocksdb_compact_lzero_now"]; has {
		err := t.within(ctx, "compacting level 0", func(ctx context.Context) error { return t.set(ctx, "rocksdb_compact_lzero_now", "1") })
		if err != nil || t.late {
			return err
		}
		t.didf("compacted level 0")
	} else {
		for _, family := range families {
			err := t.within(ctx, "compacting column family "+family, func(ctx context.Context) error { return t.set(ctx, "rocksdb_compact_cf", "'"+family+"'") })
			if err != nil || t.late {
				return err
			}
		}
		t.didf("compacted all levels of column families %s, more than level 0: this server has no rocksdb_compact_lzero_now", strings.Join(families, ", "))
	}
	files := int64(-1)
	reached, err := t.until(ctx, func() (bool, error) {
		if done, err := idle(); err != nil || !done {
			return false, err
		}
		var err error
		files, err = t.rocksSum(ctx, "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_COMPACTION_STATS WHERE LEVEL = 'L0' AND TYPE = 'NumFiles' AND CF_NAME IN ", families)
		drivers.WaitingFor(ctx, "%d files in level 0", files)
		return files == 0, err
	})
	t.end(reached, err, fmt.Sprintf("%d files in level 0, no flush or compaction pending", files))
	return err
}

// families are the column families that the tables are in.
func (t *settling) families(ctx context.Context, tables []string) ([]string, error) {
	rows, err := t.db.QueryContext(ctx, "SELECT DISTINCT TABLE_NAME, CF FROM information_schema.ROCKSDB_DDL WHERE TABLE_SCHEMA = DATABASE()")
	if err != nil {
		return nil, fmt.Errorf("reading the column families of the tables at %s: %w", t.where, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var table, family string
		if err := rows.Scan(&table, &family); err != nil {
			return nil, fmt.Errorf("reading the column families of the tables at %s: %w", t.where, err)
		}
		if slices.Contains(tables, table) && !slices.Contains(out, family) && !strings.ContainsAny(family, `'\`) {
			out = append(out, family)
		}
	}
	slices.Sort(out)
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the column families of the tables at %s: %w", t.where, err)
	}
	if len(out) == 0 {
		return nil, drivers.Configf("settling the tables at %s: RocksDB knows none of %s", t.where, strings.Join(tables, ", "))
	}
	return out, nil
}

// rocksPending counts flushes and compactions that are due or running.
func (t *settling) rocksPending(ctx context.Context, families []string) (int64, error) {
	return t.rocksSum(ctx, "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_CFSTATS WHERE STAT_TYPE IN ('NUM_IMMUTABLE_MEM_TABLE', 'MEM_TABLE_FLUSH_PENDING', 'COMPACTION_PENDING') AND CF_NAME IN ", families)
}

func (t *settling) rocksSum(ctx context.Context, query string, families []string) (n int64, err error) {
	ctx, cancel := t.short(ctx)
	defer cancel()
	var sum float64
	if err := t.db.QueryRowContext(ctx, query+"('"+strings.Join(families, "', '")+"')").Scan(&sum); err != nil {
		return 0, fmt.Errorf("reading RocksDB's state at %s: %w", t.where, err)
	}
	return int64(sum), nil
}

// until asks again and again until done, or the deadline, which isn't an error.
func (t *settling) until(ctx context.Context, done func() (bool, error)) (bool, error) {
	for {
		ok, err := done()
		if ok || err != nil {
			return ok, err
		}
		left := time.Until(t.deadline)
		if left <= 0 {
			return false, nil
		}
		if !sleep(ctx, min(left, pollEvery)) {
			return false, ctx.Err()
		}
	}
}

const pollEvery = 500 * time.Millisecond

// end notes what was found at the end of a wait.
func (t *settling) end(reached bool, err error, found string) {
	switch {
	case errors.Is(err, context.Canceled):
		t.unverifiedf("not at rest when it was interrupted: %s", found)
	case err != nil:
	case reached:
		t.out.Verified = append(t.out.Verified, found)
	default:
		t.unverifiedf("not at rest when the time was up: %s", found)
	}
}
