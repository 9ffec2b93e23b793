// Package egress is the way out for sandboxed processes: a proxy in this process that decides,
// for every connection, whether it may be made.
//
// One port speaks HTTP CONNECT, plain HTTP and SOCKS5. A session has its own listener, token,
// rules and record of refusals. A host is judged by its name in plain form before it is looked
// up, since a look-up already tells somebody something; its addresses are judged after, and the
// connection goes to an address that was judged. In TLS the name in the first message must be
// the host that was asked for. No one else resolves names for the processes inside.
//
// It must not know the sandbox, the configuration, or who is asked about an undecided host:
// Config.Decide and the rules come from outside. What it cannot see: which site behind an
// allowed host is meant inside TLS, and what is sent to an allowed host; every allowed host is
// a possible exit. Start reading at Proxy and Session; tunnel.go is what happens to a
// connection, verdict.go the decision, dial.go the look-up and the connection.
package egress

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/netguard"
)

// Config is what all sessions share. The zero value works: it allows what the rules of a
// session allow, and refuses the rest.
type Config struct {
	// Deny names the rule of the user that forbids a host for every session, as
	// hostlist.Source.Match does; nil forbids none. It wins over every rule.
	Deny func(host string, port uint16) (rule string, denied bool)
	// Decide is asked about a host that no rule covers, and may wait for a user; nil refuses.
	// It must return when its context ends, may be called concurrently, and is called once for
	// connections to the same host and port that arrive together.
	Decide func(context.Context, Request) Verdict
	// Resolve finds the addresses of a name; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Networks lists the addresses of this machine with their networks; nil asks the system.
	Networks func() []netip.Prefix
	// Connect opens a connection to an address that was judged, or to the upstream proxy; nil
	// uses the network.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
	// Upstream chooses the proxy that this machine itself needs, as http.Transport.Proxy does;
	// nil is none. Its credentials stay in this process. It resolves the names that go through
	// it; here they are judged by their names, and by their addresses if they resolve.
	Upstream func(*http.Request) (*url.URL, error)
	// IPv4 uses no other addresses.
	IPv4 bool
	// Log gets denials at level info and connections at level debug: host, port, bytes, verdict
	// and session, never a path or a body. Nil is slog.Default.
	Log *slog.Logger
	// Limits bound what processes can use up.
	Limits Limits
}

// Limits of a proxy. A zero field has the default that it names.
type Limits struct {
	Conns     int           // connections of one session at a time: 256
	All       int           // connections of all sessions: 1024
	Header    int           // bytes of a request's header: 64 KB
	Handshake time.Duration // until a request, or the first message of TLS, is complete: 10 s
	Dial      time.Duration // for one look-up, and for each address that is tried: 10 s
	Idle      time.Duration // without a byte in either direction: 10 min
	Total     time.Duration // life of a connection: 24 h
	Decide    time.Duration // for one undecided host: 10 min
	Asking    int           // undecided hosts of a session that wait at a time: 4
	Refusals  int           // different refusals that a session remembers: 256
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Conns: cmp.Or(l.Conns, 256), All: cmp.Or(l.All, 1024), Header: cmp.Or(l.Header, 64<<10),
		Handshake: cmp.Or(l.Handshake, 10*time.Second), Dial: cmp.Or(l.Dial, 10*time.Second),
		Idle: cmp.Or(l.Idle, 10*time.Minute), Total: cmp.Or(l.Total, 24*time.Hour),
		Decide: cmp.Or(l.Decide, 10*time.Minute), Asking: cmp.Or(l.Asking, 4), Refusals: cmp.Or(l.Refusals, 256),
	}
}

// Proxy makes the connections of all sessions. It may be used concurrently.
type Proxy struct {
	config Config
	slots  chan struct{} // one for each connection

	mu       sync.Mutex
	sessions map[*Session]struct{}
	closed   bool
}

// New returns a proxy without sessions. It starts nothing.
func New(c Config) *Proxy {
	c.Limits = c.Limits.withDefaults()
	c.Log = cmp.Or(c.Log, slog.Default())
	if c.Networks == nil {
		c.Networks = netguard.Networks
	}
	return &Proxy{config: c, slots: make(chan struct{}, c.Limits.All), sessions: map[*Session]struct{}{}}
}

// Session returns a new session with its own token. The caller closes it. If the proxy is
// closed, so is the session.
func (p *Proxy) Session(c SessionConfig) *Session {
	c.Deny = slices.Clone(c.Deny)
	ctx, cancel := context.WithCancel(context.Background())
	s := &Session{
		proxy: p, config: c, token: hermes.Secret(rand.Text()), ctx: ctx, cancel: cancel,
		allow: slices.Clone(c.Allow),
		conns: map[*conn]struct{}{}, listeners: map[net.Listener]struct{}{}, asking: map[target]*question{}, live: map[target]int{}, ruled: map[*conn]held{},
		refusals: refusals{most: p.config.Limits.Refusals},
	}
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.sessions[s] = struct{}{}
	}
	p.mu.Unlock()
	if closed {
		s.Close()
	}
	return s
}

// Close closes all sessions and waits for their connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	list := make([]*Session, 0, len(p.sessions))
	for s := range p.sessions {
		list = append(list, s)
	}
	p.mu.Unlock()
	for _, s := range list {
		s.Close()
	}
}

func (p *Proxy) forget(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, s)
}
