// Package remote reaches MCP servers over the network. A [Link] has two clients: Server sends
// to the server only, with the headers, keys and certificates that the user set for it; Others
// reaches what the server names, such as its login service, with none of them.
//
// What a server says cannot make this program reach this machine, its network or the metadata
// service of a cloud: [netguard.Guard] checks every connection, and only the server's own host
// may be private. Answers have a bounded size (limits.go), and errors of certificates name the
// setting that helps (tls.go).
//
// The package knows neither the protocol nor logins. Start at New.
package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"hermes/internal/httpc"
	"hermes/internal/netguard"
)

// Config says how one server is reached.
type Config struct {
	// URL is the address of the server, as the user wrote it.
	URL string
	// Headers go to the server with every request, and nowhere else.
	Headers map[string]string
	TLS     TLS
	// Guard has the proxies and rules of the program. Own is replaced.
	Guard     netguard.Guard
	UserAgent string
	// MaxMessage bounds one message of the server in bytes; 0 is 16 MiB.
	MaxMessage int64
}

// Link reaches one server. Its clients have no time limit of their own for the server, and 30
// seconds for others. They may be used concurrently.
type Link struct {
	Server, Others *http.Client

	cfg       Config
	origin    string
	guard     *netguard.Guard
	transport http.RoundTripper // to the server
	idle      []*http.Client    // those with connections
}

const maxMessage = 16 << 20

// New makes the clients of a server. It connects to nothing. An error is about a setting, and
// names it.
func New(c Config) (*Link, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New("its url is not valid")
	}
	if c.MaxMessage <= 0 {
		c.MaxMessage = maxMessage
	}
	certificates, err := c.TLS.load()
	if err != nil {
		return nil, err
	}
	l := &Link{cfg: c, origin: httpc.Origin(u), guard: &c.Guard}
	l.guard.Own = own(u.Hostname())
	server := l.guard.Client(netguard.Limits{Streams: true, TLS: certificates.server, Redirect: sameServer, UserAgent: c.UserAgent})
	toServer := *server
	toServer.Transport = l
	l.Server = &toServer
	limits := netguard.Limits{Bytes: maxDocument, Redirect: sameServer, UserAgent: c.UserAgent, TLS: certificates.others}
	others := l.guard.Client(limits)
	limits.TLS = certificates.own
	host := l.guard.Client(limits)
	l.transport, l.idle = server.Transport, []*http.Client{server, others, host}
	l.Others = httpc.Through(others, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if strings.EqualFold(req.URL.Hostname(), u.Hostname()) {
			next = host.Transport
		}
		resp, err := next.RoundTrip(req)
		return resp, readable(req.URL.Hostname(), err)
	})
	return l, nil
}

// maxDocument bounds a document about logins, in bytes.
const maxDocument = 1 << 20

// own lists the names of the server's host. A server of this machine may have its login
// service on this machine, too.
func own(host string) []string {
	list := []string{host}
	if plain, err := netguard.Canonical(host); err == nil {
		list = append(list, plain)
	}
	if Loopback(host) {
		list = append(list, "localhost", "127.0.0.1", "::1")
	}
	return list
}

// Loopback reports whether a host is this machine by its name alone.
func Loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && a.Unmap().IsLoopback()
}

// Judge returns why an address that the server names must not be reached or opened, nil if it
// may.
func (l *Link) Judge(ctx context.Context, address string) error {
	_, err := l.guard.Judge(ctx, address)
	return err
}

// CloseIdleConnections frees the connections that are kept for reuse, of both clients.
func (l *Link) CloseIdleConnections() {
	for _, c := range l.idle {
		c.CloseIdleConnections()
	}
}

// keyed reports whether the settings have the key for the server.
func (l *Link) keyed() bool {
	for name := range l.cfg.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// sameServer follows redirects of a server to itself only: the keys, and what tools are called
// with, are for no other one, and no other one says how to log in at this one.
func sameServer(req *http.Request, via []*http.Request) error {
	if httpc.Origin(req.URL) == httpc.Origin(via[0].URL) && req.Method == via[0].Method && req.URL.User == nil && len(via) <= 5 {
		req.Header.Del("Referer") // it repeats the query, where a key may be
		return nil
	}
	return httpc.WithinOrigin.Check(req, via)
}

// RoundTrip sends a request to the server, and to no other one.
func (l *Link) RoundTrip(req *http.Request) (*http.Response, error) {
	if httpc.Origin(req.URL) != l.origin {
		return nil, fmt.Errorf("it names %s for its messages, which is another server and gets none of them", req.URL.Host)
	}
	req = req.Clone(req.Context())
	for _, name := range slices.Sorted(maps.Keys(l.cfg.Headers)) {
		req.Header.Set(name, l.cfg.Headers[name])
	}
	resp, err := l.transport.RoundTrip(req)
	if err != nil {
		return nil, readable(req.URL.Hostname(), err)
	}
	if resp.StatusCode == http.StatusUnauthorized && l.keyed() {
		resp.Body.Close()
		return nil, errors.New("it refuses the Authorization header of its settings (status 401); check headers of the server")
	}
	resp.Body = l.limit(req.Context(), resp)
	return resp, nil
}
