// Package httpc makes the program's HTTP clients: one factory, so that proxy,
// user agent, TLS, time limits and response limits are the same everywhere.
//
// It reads no environment: proxy settings come in as a value (Proxies) or as a
// func. It opens no connection when a client is made. It also owns the clocks
// for answers that stream (Clocks: first byte, idle, whole), because a single
// timeout cannot distinguish a slow model from a dead connection, and the rules
// for redirects (Redirects), so that no key follows one to another server.
//
// It must not know what is requested or answered. Start reading at New.
package httpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Options configures a client. The zero value is a direct client with the
// system's certificates.
type Options struct {
	// Proxy chooses the proxy of a request, as http.Transport.Proxy does; see
	// Proxies.Func. Nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	// UserAgent is sent if a request names none.
	UserAgent string
	// RootCAs holds PEM certificates that are trusted in addition to the system's.
	RootCAs []byte
	// Insecure skips the check of certificates.
	Insecure bool
	// DialTimeout bounds name lookup and connection together; 0 is 15 s.
	DialTimeout time.Duration
	// ForceIPv4 never dials an IPv6 address.
	ForceIPv4 bool
	// Redirects says which redirects are followed; the zero value is WithinOrigin.
	Redirects Redirects
	// MaxResponse bounds every response body in bytes; 0 means no bound.
	// Reading on past it fails with ErrResponseTooLarge.
	MaxResponse int64
	// Transport replaces the network, for tests. Proxy, TLS and dial options
	// then have no effect.
	Transport http.RoundTripper
}

// ErrResponseTooLarge is returned (wrapped) by the body of a response that is
// longer than Options.MaxResponse.
var ErrResponseTooLarge = errors.New("the response is too large")

// New returns a client that keeps its connections for reuse. It has no overall
// timeout: give requests a context, and streams Clocks. It fails only if RootCAs
// holds no certificate.
func New(o Options) (*http.Client, error) {
	base := o.Transport
	if base == nil {
		t, err := network(o)
		if err != nil {
			return nil, err
		}
		base = t
	}
	return o.Redirects.Client(&http.Client{Transport: &edge{base: base, userAgent: o.UserAgent, max: o.MaxResponse}}), nil
}

func network(o Options) (*http.Transport, error) {
	dialTimeout := o.DialTimeout
	if dialTimeout <= 0 {
		dialTimeout = 15 * time.Second
	}
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy:                 o.Proxy,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          64,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	if o.ForceIPv4 {
		t.DialContext = onlyIPv4(dialer)
	}
	if len(o.RootCAs) == 0 && !o.Insecure {
		return t, nil
	}
	t.TLSClientConfig = &tls.Config{InsecureSkipVerify: o.Insecure}
	if len(o.RootCAs) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(o.RootCAs) {
			return nil, errors.New("the file of extra certificates contains no PEM certificate")
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return t, nil
}

// edge is the RoundTripper that every request and response passes through.
type edge struct {
	base      http.RoundTripper
	userAgent string
	max       int64
}

func (e *edge) RoundTrip(req *http.Request) (*http.Response, error) {
	if e.userAgent != "" && req.Header.Get("User-Agent") == "" {
		req = req.Clone(req.Context()) // a RoundTripper must not change its request
		req.Header.Set("User-Agent", e.userAgent)
	}
	resp, err := e.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if e.max > 0 && resp.Body != nil {
		resp.Body = &bounded{ReadCloser: resp.Body, left: e.max, max: e.max}
	}
	return resp, nil
}

// CloseIdleConnections lets http.Client close the connections kept for reuse.
func (e *edge) CloseIdleConnections() {
	if c, ok := e.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// bounded fails at its limit; io.LimitedReader would report a clean end.
type bounded struct {
	io.ReadCloser
	left, max int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		return int(b.left), fmt.Errorf("%w: over %d bytes", ErrResponseTooLarge, b.max)
	}
	b.left -= int64(n)
	return n, err
}

func onlyIPv4(d *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if network == "tcp" {
			network = "tcp4"
		}
		return d.DialContext(ctx, network, addr)
	}
}
