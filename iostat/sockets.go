package iostat

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Endpoint is what a client connects to.
type Endpoint struct {
	Network string // "tcp" or "unix"
	Address string // host:port, or the path of a socket
}

// listener is a listening socket of this network namespace.
type listener struct {
	addr  netip.AddrPort // tcp
	path  string         // unix; an abstract name starts with @
	inode string
}

// tcpListen is the state LISTEN in /proc/net/tcp (include/net/tcp_states.h).
const tcpListen = "0A"

// parseTCP reads the listening sockets of /proc/net/tcp or tcp6
// (Documentation/networking/proc_net_tcp.rst).
func parseTCP(b []byte) []listener {
	var out []listener
	for {
		line, rest, ok := nextLine(b)
		if !ok {
			return out
		}
		b = rest
		f := strings.Fields(string(line))
		if len(f) < 10 || f[3] != tcpListen {
			continue
		}
		if addr, ok := parseHexAddr(f[1]); ok && decimal(f[9]) {
			out = append(out, listener{addr: addr, inode: f[9]})
		}
	}
}

func decimal(s string) bool {
	_, ok := parseInt([]byte(s))
	return ok
}

// parseHexAddr reads "0100007F:0CEA": 32-bit words as this machine stores the bytes of the address,
// and the port.
func parseHexAddr(s string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(s, ":")
	words, err := hex.DecodeString(host)
	if err != nil || len(words) != 4 && len(words) != 16 {
		return netip.AddrPort{}, false
	}
	p, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(words); i += 4 {
		binary.NativeEndian.PutUint32(words[i:], binary.BigEndian.Uint32(words[i:]))
	}
	addr, _ := netip.AddrFromSlice(words)
	return netip.AddrPortFrom(addr.Unmap(), uint16(p)), true
}

// acceptConn marks a listening socket in the flags of /proc/net/unix: __SO_ACCEPTCON (man 5 proc).
const acceptConn = 1 << 16

// parseUnix reads the listening sockets of /proc/net/unix that have a name. The name is the rest of
// the line, blanks and all.
func parseUnix(b []byte) []listener {
	var out []listener
	for {
		line, rest, ok := nextLine(b)
		if !ok {
			return out
		}
		b = rest
		var f [7][]byte // Num RefCount Protocol Flags Type St Inode
		for i := range f {
			f[i], line = nextField(line)
		}
		flags, err := strconv.ParseUint(string(f[3]), 16, 32)
		name := bytes.TrimPrefix(line, []byte(" "))
		if err != nil || flags&acceptConn == 0 || len(name) == 0 || !decimal(string(f[6])) {
			continue
		}
		out = append(out, listener{path: string(name), inode: string(f[6])})
	}
}

// listeners finds the sockets that take connections to ep, and says what was looked for where there
// are none.
func (r Root) listeners(ep Endpoint) ([]listener, error) {
	switch ep.Network {
	case "unix":
		return r.unixListeners(ep.Address)
	case "tcp", "tcp4", "tcp6":
		return r.tcpListeners(ep.Address)
	default:
		return nil, fmt.Errorf("the network %q is neither tcp nor unix", ep.Network)
	}
}

func (r Root) unixListeners(address string) ([]listener, error) {
	b, err := readFile(r.proc("net/unix"))
	if err != nil {
		return nil, err
	}
	want := []string{address}
	if !strings.HasPrefix(address, "@") {
		want = []string{path.Clean(address)}
		if real, err := filepath.EvalSymlinks(address); r.live() && err == nil {
			want = append(want, real)
		}
	}
	var out []listener
	for _, l := range parseUnix(b) {
		if slices.Contains(want, l.path) || !strings.HasPrefix(l.path, "@") && slices.Contains(want, path.Clean(l.path)) {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no process of this host listens on a socket of that name")
	}
	return out, nil
}

func (r Root) tcpListeners(address string) ([]listener, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the port %.20q is not a number from 1 to 65535", portText)
	}
	addrs, err := lookup(host)
	if err != nil {
		return nil, err
	}
	local := r.localAddrs()
	for _, a := range addrs {
		if !a.IsLoopback() && !slices.Contains(local, a) {
			return nil, fmt.Errorf("%s is not an address of this host", a)
		}
	}
	var all []listener
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		if b, err := readFile(r.proc(name)); err == nil {
			all = append(all, parseTCP(b)...)
		}
	}
	// Which address of a name a client gets is up to its resolver, so the listeners of all of them
	// are wanted; one process must own them.
	var out []listener
	for _, a := range addrs {
		for _, l := range bestMatch(all, a, uint16(port)) {
			if !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, fmt.Errorf("no process listens on port %d in this network namespace; a forwarded "+
		"port, as of a container, leads elsewhere", port)
}

// bestMatch picks the sockets that get a connection to addr: those bound to it, else those bound to
// any address of its family, else those of IPv6 that take IPv4 too.
func bestMatch(all []listener, addr netip.Addr, port uint16) []listener {
	any4, any6 := netip.IPv4Unspecified(), netip.IPv6Unspecified()
	order := []netip.Addr{addr, any6}
	if addr.Is4() {
		order = []netip.Addr{addr, any4, any6}
	}
	for _, want := range order {
		var out []listener
		for _, l := range all {
			if l.addr == netip.AddrPortFrom(want, port) {
				out = append(out, l)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// lookupTimeout bounds asking for the addresses of a host name.
const lookupTimeout = 2 * time.Second

func lookup(host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.WithZone("").Unmap()}, nil
	}
	if host == "" || strings.EqualFold(host, "localhost") {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for i := range addrs {
		addrs[i] = addrs[i].WithZone("").Unmap()
	}
	return addrs, err
}

// localAddrs are the addresses of this host, from /proc/net/fib_trie and /proc/net/if_inet6.
func (r Root) localAddrs() []netip.Addr {
	var out []netip.Addr
	if b, err := readFile(r.proc("net/fib_trie")); err == nil {
		out = parseFibTrie(b)
	}
	if b, err := readFile(r.proc("net/if_inet6")); err == nil {
		out = append(out, parseInet6(b)...)
	}
	return out
}

// parseFibTrie reads the local addresses of IPv4: a leaf "|-- 10.0.0.5" followed by "/32 host
// LOCAL" (net/ipv4/fib_trie.c).
func parseFibTrie(b []byte) []netip.Addr {
	var out []netip.Addr
	var leaf netip.Addr
	for {
		line, rest, ok := nextLine(b)
		if !ok {
			return out
		}
		b = rest
		text := strings.TrimSpace(string(line))
		if a, ok := strings.CutPrefix(text, "|-- "); ok {
			leaf, _ = netip.ParseAddr(a)
		} else if text == "/32 host LOCAL" && leaf.IsValid() && !slices.Contains(out, leaf) {
			out = append(out, leaf)
		}
	}
}

// parseInet6 reads the addresses of IPv6: 32 hexadecimal digits start each line.
func parseInet6(b []byte) []netip.Addr {
	var out []netip.Addr
	for {
		line, rest, ok := nextLine(b)
		if !ok {
			return out
		}
		b = rest
		field, _ := nextField(line)
		if raw, err := hex.DecodeString(string(field)); err == nil && len(raw) == 16 {
			out = append(out, netip.AddrFrom16([16]byte(raw)))
		}
	}
}
