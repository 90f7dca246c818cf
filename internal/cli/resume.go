package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// Recorded reads a part of a record into the type that it was written from.
func Recorded(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// recordedFlag is a flag and where the record has its value, below "database".
type recordedFlag struct{ flag, key string }

var (
	// wayFlags say how to reach the database. One of the first six names
	// another way, and then nothing of the old one counts.
	wayFlags = []recordedFlag{
		{"dbms", "dbms"}, {"dsn", ""}, {"uri", "mongo.uri"}, {"socket", "socket"}, {"host", "host"}, {"server", "private_server.program"},
		{"user", "user"}, {"tls", "tls"}, {"path", "path"}, {"port", "port"}, {"database", "database"},
	}
	// serverFlags are those of a private server, whoever named it.
	serverFlags = []recordedFlag{
		{"data-dir", "private_server.data_dir"}, {"cache", "private_server.cache_bytes"}, {"server-config", "private_server.config_file"},
	}
	// shapingFlags shape the tables and what a write is; steps of one
	// run have them alike, however the database is reached.
	shapingFlags = []recordedFlag{
		{"engine", "engine"}, {"engine-options", "engine_options"}, {"mongo-id", "mongo.id"}, {"short-names", "mongo.short_names"},
		{"mongo-w", "mongo.w"}, {"mongo-j", "mongo.j"}, {"mongo-read-concern", "mongo.read_concern"},
		{"mongo-transactions", "mongo.transactions"}, {"mongo-unordered", "mongo.unordered"},
	}
)

// ConnectAsBefore sets the flags that say which database to open, and how it
// keeps and acknowledges rows, to what the record has of them, where the user
// gave none. A flag that the command doesn't have is left out.
func ConnectAsBefore(c *cli.Context, recorded map[string]any) error {
	flags := slices.Clone(shapingFlags)
	if !slices.ContainsFunc(wayFlags[:6], func(f recordedFlag) bool { return c.IsSet(f.flag) }) {
		flags = append(flags, wayFlags...)
	}
	if c.IsSet("server") || RecordedText(recorded, "private_server.program") != "" && len(flags) > len(shapingFlags) {
		flags = append(flags, serverFlags...)
	}
	for _, f := range flags {
		text := RecordedText(recorded, f.key)
		// A private server has no passwords, and refuses a user.
		if text == "" || c.Value(f.flag) == nil || c.IsSet(f.flag) || f.flag == "user" && RecordedText(recorded, "private_server.program") != "" {
			continue
		}
		if f.flag == "uri" && strings.Contains(text, "***") {
			return Usagef("the record has %s without its password; give --uri again", text)
		}
		if err := c.Set(f.flag, text); err != nil {
			return Usagef("the record's %s: %w", f.flag, err)
		}
	}
	return nil
}

// RecordedText is a value of a record's connection as a flag has it; empty where there is
// none, or none but a flag's own default. That of mongo.j has no default.
func RecordedText(recorded map[string]any, key string) string {
	group, name, nested := strings.Cut(key, ".")
	if nested {
		recorded, _ = recorded[group].(map[string]any)
		key = name
	}
	switch v := recorded[key].(type) {
	case nil:
		return ""
	case bool:
		if !v && key != "j" {
			return ""
		}
		return strconv.FormatBool(v)
	case float64:
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}
