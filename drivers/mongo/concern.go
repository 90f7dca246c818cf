package mongo

import (
	"strconv"
	"strings"
	"time"

	"insertbench/drivers"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// writeConcern is the write concern as it is sent. What isn't set isn't sent.
type writeConcern struct {
	w        any // int32, string, or nil where it isn't sent
	journal  *bool
	wtimeout time.Duration
}

// newWriteConcern lays the flags over the URI's write concern.
func newWriteConcern(c Config, o *options.ClientOptions) (writeConcern, error) {
	var wc writeConcern
	if uri := o.WriteConcern; uri != nil {
		wc.journal, wc.wtimeout = uri.Journal, uri.WTimeout
		switch w := uri.W.(type) {
		case int:
			wc.w = int32(w)
		case string:
			wc.w = w
		}
	}
	if c.Journal != nil {
		wc.journal = c.Journal
	}
	if c.WTimeout != 0 {
		wc.wtimeout = c.WTimeout
	}
	if c.W != "" {
		wc.w = c.W
		if n, err := strconv.ParseInt(c.W, 10, 32); err == nil {
			wc.w = int32(n)
		}
	}
	if n, ok := wc.w.(int32); ok && n < 1 {
		return writeConcern{}, drivers.Configf("write concern w=%d: nothing would be acknowledged, so nothing could be counted; ask for w=1 or more, or \"majority\"", n)
	}
	return wc, nil
}

func (wc writeConcern) isSet() bool {
	return wc.w != nil || wc.journal != nil || wc.wtimeout != 0
}

// document is the command's writeConcern field.
func (wc writeConcern) document() bson.D {
	d := bson.D{}
	if wc.w != nil {
		d = append(d, bson.E{Key: "w", Value: wc.w})
	}
	if wc.journal != nil {
		d = append(d, bson.E{Key: "j", Value: *wc.journal})
	}
	if wc.wtimeout != 0 {
		// Rounded up: a wtimeout of 0 ms would mean no timeout at all.
		ms := (wc.wtimeout + time.Millisecond - 1) / time.Millisecond
		d = append(d, bson.E{Key: "wtimeout", Value: int64(ms)})
	}
	return d
}

// String gives "w=majority j=true wtimeout=5s", of what is set.
func (wc writeConcern) String() string {
	var parts []string
	switch w := wc.w.(type) {
	case int32:
		parts = append(parts, "w="+strconv.Itoa(int(w)))
	case string:
		parts = append(parts, "w="+w)
	}
	if wc.journal != nil {
		parts = append(parts, "j="+strconv.FormatBool(*wc.journal))
	}
	if wc.wtimeout != 0 {
		parts = append(parts, "wtimeout="+wc.wtimeout.String())
	}
	return strings.Join(parts, " ")
}

// needsReplicas says whether a server on its own can't honour it.
func (wc writeConcern) needsReplicas() bool {
	switch w := wc.w.(type) {
	case int32:
		return w > 1
	case string:
		return w != "majority"
	default:
		return false
	}
}

// readConcernLevel is the level that reads ask for; empty sends none.
func readConcernLevel(c Config, o *options.ClientOptions) string {
	if c.ReadConcern == "" && o.ReadConcern != nil {
		return o.ReadConcern.Level
	}
	return c.ReadConcern
}
