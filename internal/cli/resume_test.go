package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

// What the tables are made of goes on with the run, whichever way it is
// reached; the way itself only where the user names no other.
func TestConnectAsBefore(t *testing.T) {
	const own = `{"dbms":"mysql","user":"root","database":"ib","engine":"rocksdb","private_server":{"program":"mariadbd","data_dir":"/d","cache_bytes":67108864},"mongo":{"j":null}}`
	const mongo = `{"dbms":"mongo","database":"ib","mongo":{"uri":"mongodb://h/","id":"int64","short_names":true,"transactions":false,"j":false}}`
	for _, c := range []struct {
		name, record string
		given        []string
		want         string
	}{
		{"its own server", own, nil, "cache=67108864 data-dir=/d database=ib dbms=mysql engine=rocksdb server=mariadbd"},
		{"its own server, another program", own, []string{"--server=/bin/mariadbd"}, "cache=67108864 data-dir=/d engine=rocksdb server=/bin/mariadbd"},
		{"another way", own, []string{"--socket=/s"}, "engine=rocksdb socket=/s"},
		{"another engine", own, []string{"--socket=/s", "--engine=innodb"}, "engine=innodb socket=/s"},
		{"documents", mongo, nil, "database=ib dbms=mongo mongo-id=int64 mongo-j=false short-names=true uri=mongodb://h/"},
		{"flags that the command lacks", mongo, nil, "database=ib dbms=mongo mongo-j=false uri=mongodb://h/"},
		{"documents elsewhere", mongo, []string{"--uri=mongodb://i/"}, "mongo-id=int64 mongo-j=false short-names=true uri=mongodb://i/"},
		{"a password is not in the record", `{"mongo":{"uri":"mongodb://u:***@h/"}}`, nil, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var recorded map[string]any
			if err := json.Unmarshal([]byte(c.record), &recorded); err != nil {
				t.Fatal(err)
			}
			var got []string
			flags := ConnectionFlags()
			if c.name == "flags that the command lacks" {
				flags = Defaults{Without: []string{"mongo-id", "short-names"}}.Flags()
			}
			app := &cli.App{Flags: flags, Writer: io.Discard, Action: func(ctx *cli.Context) error {
				if err := ConnectAsBefore(ctx, recorded); err != nil {
					return err
				}
				for _, f := range ctx.App.Flags {
					if name := f.Names()[0]; ctx.IsSet(name) {
						got = append(got, fmt.Sprintf("%s=%v", name, ctx.Value(name)))
					}
				}
				return nil
			}}
			err := app.Run(append([]string{"ibench"}, c.given...))
			slices.Sort(got)
			if c.want == "-" {
				if err == nil || !strings.Contains(err.Error(), "give --uri again") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}
