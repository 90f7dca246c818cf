package server_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"insertbench/internal/server/servertest"
)

// The test binary itself stands in for a mongod when this variable is set: mongod can't be had
// everywhere. Its value says how it behaves.
const envStandin = "SERVER_TEST_STANDIN"

const (
	standinServes   = "serves"
	standinDies     = "dies"
	standinStubborn = "stubborn" // ignores SIGTERM
	standinSilent   = "silent"   // accepts and never answers
	standinForks    = "forks"    // ends with success at once, as a daemon's parent does
	standinVersion  = "SERVER_TEST_STANDIN_VERSION"
	standinRecord   = "SERVER_TEST_STANDIN_RECORD" // file that gets what it was called with
)

// called is what the stand-in records.
type called struct {
	Args   []string
	Config string
}

func TestMain(m *testing.M) {
	if how := os.Getenv(envStandin); how != "" {
		os.Exit(standin(how, os.Args[1:]))
	}
	servertest.Main(m)
}

func standin(how string, args []string) int {
	if len(args) == 1 && args[0] == "--version" {
		fmt.Printf("db version v%s\ngit version: 0\nallocator: tcmalloc\n", os.Getenv(standinVersion))
		return 0
	}
	if how == standinForks {
		return 0
	}
	opt := map[string]string{}
	for i := 0; i+1 < len(args); i++ {
		opt[args[i]] = args[i+1]
	}
	if how == standinDies {
		line := `{"t":{"$date":"2026-01-01T00:00:00.000+00:00"},"s":"E",  "c":"STORAGE",  "id":20557, "msg":"DBException in initAndListen, terminating","attr":{"error":"Unknown storage engine"}}`
		if err := os.WriteFile(opt["--logpath"], []byte(`{"s":"I","msg":"starting"}`+"\n"+line+"\n"), 0o600); err != nil {
			panic(err)
		}
		return 100
	}
	if err := record(args, opt["--config"]); err != nil {
		panic(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	l, err := net.Listen("tcp", opt["--bind_ip"]+":"+opt["--port"])
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(opt["--pidfilepath"], []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		panic(err)
	}
	go serve(l, how)
	for {
		<-stop
		if how != standinStubborn {
			return 0
		}
	}
}

func record(args []string, config string) error {
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	b, err := json.Marshal(called{Args: args, Config: string(text)})
	if err != nil {
		return err
	}
	if path := os.Getenv(standinRecord); path != "" {
		return os.WriteFile(path, b, 0o600)
	}
	return nil
}

// serve answers an OP_QUERY to admin.$cmd with an empty OP_REPLY.
func serve(l net.Listener, how string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = c.Close() }()
			r := bufio.NewReader(c)
			head := make([]byte, 16)
			if _, err := io.ReadFull(r, head); err != nil {
				return
			}
			body := make([]byte, binary.LittleEndian.Uint32(head)-16)
			if _, err := io.ReadFull(r, body); err != nil {
				return
			}
			const opQuery = 2004
			if binary.LittleEndian.Uint32(head[12:]) != opQuery || !strings.Contains(string(body), "\x10isMaster\x00\x01\x00\x00\x00\x00") {
				return
			}
			if how == standinSilent {
				_, _ = r.ReadByte() // until the other side gives up
				return
			}
			reply := make([]byte, 36)
			binary.LittleEndian.PutUint32(reply, 36)
			binary.LittleEndian.PutUint32(reply[12:], 1)
			_, _ = c.Write(reply)
		}()
	}
}

// useStandin makes a mongod of this test binary and returns its path and where it records its call.
func useStandin(t *testing.T, how, version string) (program, recordFile string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program = filepath.Join(dir, "database") // the name says nothing about the product
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	recordFile = filepath.Join(dir, "called.json")
	t.Setenv(envStandin, how)
	t.Setenv(standinVersion, version)
	t.Setenv(standinRecord, recordFile)
	return program, recordFile
}

func readRecord(t *testing.T, path string) called {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c called
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}
