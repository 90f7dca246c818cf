package mysql

import (
	"bytes"
	"errors"
	"testing"
)

// greeting98 is the greeting of a MySQL 8.0 as MySQL's "Protocol::HandshakeV10"
// lays it out: version, thread 8, salt, capabilities, utf8mb4, autocommit, salt, plugin.
const greeting98 = "\x4a\x00\x00\x00\x0a8.0.36\x00\x08\x00\x00\x00abcdefgh\x00\xff\xff\xff\x02\x00\xff\xdf\x15" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00abcdefghijkl\x00caching_sha2_password\x00"

func TestReadGreeting(t *testing.T) {
	got, err := readGreeting(bytes.NewReader([]byte(greeting98 + "more")))
	if err != nil || string(got) != greeting98 {
		t.Errorf("got %q and error %v, want the greeting and nothing of what follows", got, err)
	}
	g := greeted{greeting: got}
	var whole []byte
	for p := make([]byte, 7); len(whole) < len(greeting98); {
		n, err := g.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, p[:n]...)
	}
	if string(whole) != greeting98 {
		t.Errorf("read again it is %q", whole)
	}
}

// FuzzReadGreeting: whatever answers, it is a greeting or an error that says
// that this isn't MySQL.
func FuzzReadGreeting(f *testing.F) {
	for _, seed := range []string{greeting98, "", "SSH-2.0-OpenSSH_9.2\r\n", "\x02\x00\x00\x00\x0a\x00", "\x0a\x00\x00\x00\xff\x10\x04enough!", "\x13\x00\x00\x00\x0a9.7\x00aaaabbbbbbbb\x00cc"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		got, err := readGreeting(bytes.NewReader(answer))
		switch {
		case err != nil && !errors.Is(err, errNotMySQL):
			t.Errorf("%q gave error %v", answer, err)
		case err == nil && !bytes.HasPrefix(answer, got):
			t.Errorf("%q gave greeting %q", answer, got)
		}
	})
}
