package server

import (
	"context"
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

func mongodArgs(in instance) []string {
	args := []string{"--config", in.config, "--dbpath", in.home.data, "--bind_ip", "127.0.0.1", "--port", strconv.Itoa(in.port),
		"--unixSocketPrefix", in.home.socketDir, "--pidfilepath", in.home.pidFile, "--logpath", in.home.log, "--logappend"}
	return append(args, in.extra...)
}

func tcpAccepts(ctx context.Context, in instance) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(in.port)))
	if err != nil {
		return false
	}
	return c.Close() == nil
}
