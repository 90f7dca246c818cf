package mysql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"insertbench/drivers"
	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// A transaction that changes a link has the original's statements, and goes to
// the server in one packet, COMMIT last: a server stops at the first statement
// that fails, and locks aren't held while the client thinks. What the original
// decides between two statements is left to the server, by @visibility and
// ROW_COUNT(). Results are checked one by one.

// updateLinks begins an update of one link. Without the hint, which the original
// doesn't have, an optimizer may scan id1_type, and so lock the id's other
// links: MariaDB does for MyRocks where an id has few of them, and two such
// transactions wait for each other.
const updateLinks = "UPDATE linktable FORCE INDEX (PRIMARY) SET "

// maxSwitches bounds how often a link that comes and goes is inserted and
// updated in turn before the server is given a rest.
const maxSwitches = 5

// transaction is a packet being built. It belongs to the connection for link
// writes, whose autocommit is off.
type transaction struct {
	*graphLink
	buf []byte
	// open is whether a failed statement left the server in a transaction.
	open bool
}

// begin empties the packet.
func (t *transaction) begin() {
	t.buf = t.buf[:0]
	if t.open {
		t.buf = append(t.buf, "ROLLBACK;"...)
	}
}

// commit sends the packet and gives the affected rows of each of n statements
// before the COMMIT. A duplicate key is errDuplicate, and the transaction stays
// open until the next packet; after another error it is rolled back.
func (t *transaction) commit(doing string, n int) ([]int64, error) {
	t.buf = append(t.buf, "COMMIT"...)
	if t.open {
		n++
	}
	result, err := t.session.exec.ExecContext(context.Background(), sqltext.Text(t.buf), nil)
	if isNumber(err, errDuplicateKey) {
		t.open = true
		return nil, errDuplicate
	}
	if err != nil {
		return nil, t.rollback(t.failed(err, doing, true))
	}
	all, ok := result.(mysql.Result)
	if !ok {
		return nil, t.unexpected(doing, "the MySQL driver doesn't tell the results of several statements")
	}
	rows := all.AllRowsAffected()
	if len(rows) != n+1 {
		return nil, t.unexpected(doing, fmt.Sprintf("%d results came where %d statements were sent", len(rows), n+1))
	}
	rows = rows[:n]
	if t.open {
		t.open, rows = false, rows[1:]
	}
	return rows, nil
}

// errDuplicate is a link that exists already.
var errDuplicate = errors.New("duplicate key")

func (t *transaction) unexpected(doing, what string) error {
	return &drivers.Error{Class: drivers.Unknown, Code: "affected rows", Err: fmt.Errorf("%s%s: %s", doing, t.tail, what)}
}

// rollback ends the transaction of a statement that the server refused, so that
// nothing of it is kept. Where that fails too nobody can say.
func (t *transaction) rollback(failure *drivers.Error) error {
	t.open = false
	if failure.Class == drivers.Unknown || failure.Code == "not connected" {
		return failure
	}
	if _, err := t.session.exec.ExecContext(context.Background(), "ROLLBACK", nil); err != nil {
		return &drivers.Error{Class: drivers.Unknown, Code: failure.Code,
			Err: fmt.Errorf("%w; rolling it back: %w", failure, t.session.cause(err))}
	}
	return failure
}

func (t *transaction) text(s string)  { t.buf = append(t.buf, s...) }
func (t *transaction) number(n int64) { t.buf = strconv.AppendInt(t.buf, n, 10) }

// pair appends a condition on the count row.
func (t *transaction) pair(id, linkType int64) {
	t.text(" WHERE id = ")
	t.number(id)
	t.text(" AND link_type = ")
	t.number(linkType)
}

// key appends a condition on the link.
func (t *transaction) key(id1, linkType, id2 int64) {
	t.text(" WHERE id1 = ")
	t.number(id1)
	t.text(" AND link_type = ")
	t.number(linkType)
	t.text(" AND id2 = ")
	t.number(id2)
}

// unlike appends a condition that leaves out a link which is as it should be.
// The number of changed rows isn't enough: MyRocks counts those found.
func (t *transaction) unlike(l *graph.Link) {
	t.text(" AND (time <> ")
	t.number(l.TimeMS)
	t.text(" OR version <> ")
	t.number(int64(l.Version))
	t.text(" OR visibility <> ")
	t.number(int64(l.Visibility))
	t.text(" OR data <> ")
	t.buf = sqltext.Backslashed(t.buf, l.Data)
	t.text(");")
}

func (t *transaction) lock(id1, linkType, id2 int64) {
	t.text("SELECT visibility INTO @visibility FROM linktable")
	t.key(id1, linkType, id2)
	t.text(" FOR UPDATE;")
}

// countUp appends the upsert that adds a visible link, where a condition holds.
func (t *transaction) countUp(id, linkType int64, condition string) {
	t.text("INSERT INTO counttable (id, link_type, count, time, version) ")
	open, end := "VALUES (", ")"
	if condition != "" {
		open, end = "SELECT ", " FROM DUAL WHERE "+condition
	}
	now := time.Now().UnixMilli()
	t.text(open)
	t.number(id)
	t.text(", ")
	t.number(linkType)
	t.text(", 1, ")
	t.number(now)
	t.text(", 0")
	t.text(end)
	t.text(" ON DUPLICATE KEY UPDATE count = count + 1, version = version + 1, time = ")
	t.number(now)
	t.text(";")
}

// countDown appends the update that takes a visible link away.
func (t *transaction) countDown(id, linkType int64, condition string) {
	t.text("UPDATE counttable SET count = count - 1, version = version + 1, time = ")
	t.number(time.Now().UnixMilli())
	t.pair(id, linkType)
	t.text(" AND " + condition + ";")
}

// put inserts and updates in turn until the link is missing or found as each
// needs it. Every change of mind is a packet more.
func (t *transaction) put(doing string, l *graph.Link) (linkbench.Effect, error) {
	for range maxSwitches {
		if effect, ok, err := t.insertLink(doing, l); err != nil || ok {
			return effect, err
		}
		if effect, ok, err := t.updateLink(doing, l); err != nil || ok {
			return effect, err
		}
	}
	return linkbench.Unchanged, &drivers.Error{Class: drivers.Retryable, Code: "link comes and goes",
		Err: fmt.Errorf("%s%s: the link was there when it was inserted and missing when it was updated, %d times over", doing, t.tail, maxSwitches)}
}

// insertLink is ADD_LINK; ok is false where the link exists.
func (t *transaction) insertLink(doing string, l *graph.Link) (e linkbench.Effect, ok bool, err error) {
	t.begin()
	t.text("INSERT INTO linktable (" + sqltext.LinkColumns + ") VALUES ")
	t.buf = sqltext.LinkValues(t.buf, l, sqltext.Backslashed)
	t.text(";")
	statements := 1
	if l.Visibility == graph.Visible {
		t.countUp(l.ID1, l.Type, "")
		statements = 2
	}
	rows, err := t.commit(doing, statements)
	switch {
	case errors.Is(err, errDuplicate):
		return linkbench.Unchanged, false, nil
	case err != nil:
		return linkbench.Unchanged, false, err
	case rows[0] != 1 || statements == 2 && rows[1] == 0:
		return linkbench.Unchanged, false, t.unexpected(doing, fmt.Sprintf("the server acknowledged %v rows of the link and its count", rows))
	}
	return linkbench.Inserted, true, nil
}

// updateLink is UPDATE_LINK; ok is false where the link doesn't exist.
func (t *transaction) updateLink(doing string, l *graph.Link) (e linkbench.Effect, ok bool, err error) {
	t.begin()
	t.lock(l.ID1, l.Type, l.ID2)
	t.text(updateLinks + "visibility = ")
	t.number(int64(l.Visibility))
	t.text(", data = ")
	t.buf = sqltext.Backslashed(t.buf, l.Data)
	t.text(", version = ")
	t.number(int64(l.Version))
	t.text(", time = ")
	t.number(l.TimeMS)
	t.key(l.ID1, l.Type, l.ID2)
	t.unlike(l)
	// A visibility that changed is a row that changed. ROW_COUNT() keeps what
	// @visibility is from before where there is no link.
	if l.Visibility == graph.Visible {
		t.countUp(l.ID1, l.Type, "@visibility <> 1 AND ROW_COUNT() = 1")
	} else {
		t.countDown(l.ID1, l.Type, "@visibility = 1 AND ROW_COUNT() = 1")
	}
	rows, err := t.commit(doing, 3)
	switch {
	case err != nil:
		return linkbench.Unchanged, false, err
	case rows[0] == 0:
		return linkbench.Unchanged, false, nil
	case rows[1] == 0:
		return linkbench.Unchanged, true, nil
	}
	return linkbench.Updated, true, nil
}

// deleteLink is DELETE_LINK.
func (t *transaction) deleteLink(id1, linkType, id2 int64) (linkbench.Effect, error) {
	const doing = "deleting a link"
	t.begin()
	t.lock(id1, linkType, id2)
	t.text(updateLinks + "visibility = 0")
	t.key(id1, linkType, id2)
	t.text(" AND visibility <> 0;")
	t.countDown(id1, linkType, "ROW_COUNT() = 1")
	rows, err := t.commit(doing, 3)
	switch {
	case err != nil:
		return linkbench.Unchanged, err
	case rows[1] == 0:
		return linkbench.Unchanged, nil
	case rows[2] != 1:
		return linkbench.Hidden, t.unexpected(doing, fmt.Sprintf("the link of id1 %d, type %d was hidden, and has no count row: the graph was damaged before, see verify", id1, linkType))
	}
	return linkbench.Hidden, nil
}
