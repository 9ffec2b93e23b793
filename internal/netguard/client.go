package netguard

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Limits of one fetch.
type Limits struct {
	// Time bounds the whole fetch, including redirects and body; 0 is 30 s.
	Time time.Duration
	// Bytes bounds the body after decompression; 0 is 5 MB. Reading on past it
	// fails with ErrTooLarge.
	Bytes int64
	// Redirect decides whether a redirect is followed, as CheckRedirect of
	// http.Client does; nil follows none. The guard judges the new address too.
	Redirect func(*http.Request, []*http.Request) error
	// UserAgent is sent if a request names none.
	UserAgent string
	// TLS is how hosts, and this client, prove who they are; nil is the system's way. It is not
	// changed.
	TLS *tls.Config
	// Streams leaves time and size to the caller: Time and Bytes have no effect, and an answer
	// may take as long as the context of its request lasts.
	Streams bool
}

// ErrTooLarge is the read error of a response body that is longer than
// Limits.Bytes.
var ErrTooLarge = errors.New("the page is too large")

// Client returns a client that fetches only what the guard allows. It keeps
// idle connections; CloseIdleConnections frees them. If the guard refuses, the
// error wraps a *Refused.
func (g *Guard) Client(l Limits) *http.Client {
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	if l.Bytes <= 0 {
		l.Bytes = 5 << 20
	}
	if l.Redirect == nil {
		l.Redirect = func(*http.Request, []*http.Request) error { return errors.New("it redirects to another address") }
	}
	direct := network(l)
	direct.DialContext = g.dial
	through := network(l)
	through.Proxy, through.DialContext = g.Proxy, g.connect
	if l.Streams {
		l.Time = 0
	}
	return &http.Client{
		Timeout:       l.Time,
		Transport:     &gate{guard: g, limits: l, direct: direct, through: through},
		CheckRedirect: l.Redirect,
	}
}

func network(l Limits) *http.Transport {
	t := &http.Transport{
		ForceAttemptHTTP2: true, MaxIdleConns: 8, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 20 * time.Second, MaxResponseHeaderBytes: 256 << 10,
		TLSClientConfig: l.TLS.Clone(),
	}
	if l.Streams {
		t.ResponseHeaderTimeout = 0
	}
	return t
}

// gate is the RoundTripper that checks every request, including redirects.
type gate struct {
	guard           *Guard
	limits          Limits
	direct, through *http.Transport
}

// RoundTrip checks a request and sends it.
func (t *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if err := clean(req.URL); err != nil {
		return nil, &Refused{Why: err.Error()}
	}
	if err := t.guard.forbidden(req.URL); err != nil {
		return nil, err
	}
	if req.Header.Get("User-Agent") == "" && t.limits.UserAgent != "" {
		req.Header.Set("User-Agent", t.limits.UserAgent)
	}
	proxied, err := t.guard.proxied(req)
	if err != nil {
		return nil, err
	}
	var resp *http.Response
	if proxied {
		if err := t.guard.byName(req.Context(), req.URL.Hostname()); err != nil {
			return nil, err
		}
		resp, err = t.through.RoundTrip(req)
	} else {
		resp, err = t.direct.RoundTrip(req)
	}
	if err != nil {
		return nil, err
	}
	if !t.limits.Streams {
		resp.Body = &bounded{ReadCloser: resp.Body, left: t.limits.Bytes}
	}
	return resp, nil
}

// CloseIdleConnections lets http.Client close the connections kept for reuse.
func (t *gate) CloseIdleConnections() {
	t.direct.CloseIdleConnections()
	t.through.CloseIdleConnections()
}

// dial resolves a name once, checks its addresses, and connects to one of them.
// So a DNS server cannot return another address in between.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	list, err := g.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, a := range InTurn(list) {
		conn, err := g.connect(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// maxTried is how many addresses of a name are tried.
const maxTried = 4

// InTurn returns at most four of the addresses of a name in the order in which they are
// tried: IPv4 and IPv6 by turns, since one family may not work. The list is not changed.
// An IPv4 address that is written as IPv6 counts as IPv6.
func InTurn(list []netip.Addr) []netip.Addr {
	var four, six, out []netip.Addr
	for _, a := range list {
		if a.Is4() {
			four = append(four, a)
		} else {
			six = append(six, a)
		}
	}
	for i := range max(len(four), len(six)) {
		if i < len(four) {
			out = append(out, four[i])
		}
		if i < len(six) {
			out = append(out, six[i])
		}
	}
	return out[:min(len(out), maxTried)]
}

func (g *Guard) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if g.Connect != nil {
		return g.Connect(ctx, network, address)
	}
	if g.IPv4 {
		network = "tcp4"
	}
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return d.DialContext(ctx, network, address)
}

// bounded fails with an error if a body is too long; io.LimitReader would report
// a clean end.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n, b.left = int(b.left), 0
		return n, ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}
