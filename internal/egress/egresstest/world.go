// Package egresstest is a network for tests that needs no network: names that exist only
// in a [World] lead to servers on loopback, under certificates of an [Authority] of the
// test. Packages for Python, Node, Go and Rust are served as their registries do.
//
// The package does not know the proxy: World.Resolve and World.Connect are what a test
// hands to it. Start at World.
package egresstest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// Public is the address of the first server of a World.
const Public = "93.184.216.34"

// World is a network of names that exist only here: each leads to an address, and each
// address and port to a server on loopback. It may be used concurrently.
type World struct {
	mu       sync.Mutex
	names    map[string][]string // the answers to the look-ups of a name, one after the other; the last stays
	servers  map[string]string   // address:port to the address of a server
	next     netip.Addr          // of the next server
	lookedUp []string
	dialled  []string
}

// New returns an empty world.
func New() *World {
	return &World{names: map[string][]string{}, servers: map[string]string{}, next: netip.MustParseAddr(Public)}
}

// Name makes a name lead to addresses, separated by blanks: each text answers one look-up,
// and the last all later ones. Without answers the name leads nowhere.
func (w *World) Name(host string, answers ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[host] = answers
}

// Resolve looks a name up.
func (w *World) Resolve(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookedUp = append(w.lookedUp, host)
	list := w.names[host]
	if len(list) == 0 {
		return nil, errors.New("no such host")
	}
	now := list[0]
	if len(list) > 1 {
		w.names[host] = list[1:]
	}
	var out []netip.Addr
	for a := range strings.FieldsSeq(now) {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

// Connect connects to the server of an address and port.
func (w *World) Connect(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, address)
	to, ok := w.servers[address]
	w.mu.Unlock()
	if !ok {
		return nil, errors.New("connection refused")
	}
	var d net.Dialer
	return d.DialContext(ctx, network, to)
}

// Asked lists the names that were looked up and the addresses that were connected to.
func (w *World) Asked() (lookedUp, dialled []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lookedUp...), append([]string(nil), w.dialled...)
}

// Site serves a handler as https (port 443) under names until the test ends.
func (w *World) Site(t testing.TB, a *Authority, h http.Handler, names ...string) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{a.Certificate(t, names...)}, MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	w.At("443", s.Listener.Addr().String(), names...)
	return s
}

// At makes names lead to one address, and a port there to a server on loopback. Names that
// lead nowhere yet get an address of their own.
func (w *World) At(port, server string, names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at string
	for _, n := range names {
		if list := w.names[n]; list != nil {
			at = list[0]
		}
	}
	if at == "" {
		at, w.next = w.next.String(), w.next.Next()
	}
	w.servers[net.JoinHostPort(at, port)] = server
	for _, n := range names {
		if w.names[n] == nil {
			w.names[n] = []string{at}
		}
	}
}
