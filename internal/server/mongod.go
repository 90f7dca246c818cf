package server

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

func mongodSocket(dir string, port int) string {
	return filepath.Join(dir, "mongodb-"+strconv.Itoa(port)+".sock")
}

// mongodInitialise makes the directory; mongod fills it when it starts.
func mongodInitialise(_ context.Context, in instance) error {
	return os.Mkdir(in.home.data, 0o700)
}

// mongodArgs are what overrides any configuration. A replica-less master, which has an oplog, is only to be had
// on the command line, and only with our configuration: the user's may make it a replica set.
func mongodArgs(in instance) []string {
	args := []string{"--config", in.config, "--dbpath", in.home.data, "--bind_ip", "127.0.0.1", "--port", strconv.Itoa(in.port),
		"--unixSocketPrefix", in.home.socketDir, "--pidfilepath", in.home.pidFile, "--logpath", in.home.log, "--logappend"}
	if in.ourConfig && in.id.hasMaster() {
		args = append(args, "--master")
	}
	return append(args, in.extra...)
}

// isMasterQuery is {isMaster: 1} to admin.$cmd as an OP_QUERY, which every version answers with an OP_REPLY before
// login (MongoDB wire protocol, "Legacy opcodes").
var isMasterQuery = []byte("\x3a\x00\x00\x00" + "\x01\x00\x00\x00" + "\x00\x00\x00\x00" + "\xd4\x07\x00\x00" + // length 58, id 1, opcode 2004
	"\x00\x00\x00\x00" + "admin.$cmd\x00" + "\x00\x00\x00\x00" + "\xff\xff\xff\xff" + // flags, collection, skip 0, return -1
	"\x13\x00\x00\x00" + "\x10isMaster\x00" + "\x01\x00\x00\x00" + "\x00")

const opReply = 1

// mongodAnswers reports whether the server replies to isMaster.
func mongodAnswers(ctx context.Context, in instance) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(in.port)))
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	if _, err := c.Write(isMasterQuery); err != nil {
		return false
	}
	var header [16]byte // length, id, answer to, opcode; each 4 bytes, little-endian
	_, err = io.ReadFull(c, header[:])
	return err == nil && binary.LittleEndian.Uint32(header[12:]) == opReply
}
