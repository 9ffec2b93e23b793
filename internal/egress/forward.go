package egress

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// forward serves a request for a whole URL. The URL counts, not the Host header.
func (s *Session) forward(w http.ResponseWriter, r *http.Request, c *conn) {
	t, err := readTarget(r.URL.Host, 80)
	switch {
	case !r.URL.IsAbs() || r.URL.Opaque != "" || r.URL.Host == "":
		err = errors.New("a request to this proxy names a whole http:// URL, or is a CONNECT")
	case r.URL.Scheme != "http":
		err = errors.New("only http:// URLs are fetched; use CONNECT for others")
	case r.URL.User != nil:
		err = errors.New("a URL with a user is not fetched")
	}
	if err != nil {
		s.answer(w, badTarget(r.URL.Host, err))
		return
	}
	g, err := s.judge(r.Context(), t)
	if err == nil && g.protocol != HTTP && g.protocol != ByPort && g.protocol != Any {
		err = &refused{t, "the rule for it is not for plain HTTP", misused}
	}
	over := func() {}
	if err == nil {
		over, err = s.hold(c, t, g)
	}
	if err != nil {
		s.answer(w, err)
		return
	}
	defer over()
	s.pass(w, r, t, g)
}

// pass sends a request to its target over a connection of its own. Headers that are for the
// next hop only are taken out, and Host is that of the target.
func (s *Session) pass(w http.ResponseWriter, r *http.Request, t target, g grant) {
	idle, failed := s.proxy.config.Limits.Idle, false
	r.Header.Del("Upgrade") // another protocol could not be judged; ReverseProxy refuses a switch that was not asked for
	control := http.NewResponseController(w)
	request := &bodyIn{ReadCloser: r.Body, control: control, idle: idle}
	r.Body = request
	response := &bodyOut{ResponseWriter: w, control: control, idle: idle}
	carrier := s.carrier(t, g)
	defer carrier.CloseIdleConnections()
	(&httputil.ReverseProxy{
		Transport: carrier, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			in, host := p.In.URL, strings.TrimSuffix(t.String(), ":80")
			p.Out.URL = &url.URL{Scheme: "http", Host: host, Path: in.Path, RawPath: in.RawPath, RawQuery: in.RawQuery, ForceQuery: in.ForceQuery}
			p.Out.Host = host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			failed = true
			if r, ok := errors.AsType[*refused](err); ok {
				err = r
			} else if u, ok := errors.AsType[*unreachable](err); ok {
				err = u
			} else {
				err = &unreachable{t, "it did not answer as HTTP"}
			}
			s.answer(w, err)
		},
	}).ServeHTTP(response, r)
	if !failed {
		s.passed(t, response.size, request.size)
	}
}

// carrier makes one connection for one request, so that nothing is left on it for another.
func (s *Session) carrier(t target, g grant) *http.Transport {
	limits := s.proxy.config.Limits
	return &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		MaxResponseHeaderBytes: int64(limits.Header), ResponseHeaderTimeout: limits.Idle,
		Proxy: func(*http.Request) (*url.URL, error) { return s.proxy.upstream(t, "http") },
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			conn, err := s.dialPlain(ctx, t, g, address)
			if err != nil {
				return nil, err
			}
			return &idleConn{conn, limits.Idle}, nil
		},
	}
}

// dialPlain connects for a request of plain HTTP: to the target, or to this machine's own
// proxy, whose address the transport gives.
func (s *Session) dialPlain(ctx context.Context, t target, g grant, address string) (net.Conn, error) {
	up, err := s.proxy.upstream(t, "http")
	if err != nil {
		return nil, err
	}
	if up == nil {
		return s.straight(ctx, t, g)
	}
	if err := s.namedOnly(ctx, t, g); err != nil {
		return nil, err
	}
	conn, err := s.proxy.connect(ctx, address)
	if err != nil {
		return nil, &unreachable{t, "this machine's own proxy does not answer"}
	}
	return conn, nil
}

// bodyIn is the body of a request; it must not stand still for long.
type bodyIn struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	size    int64
}

func (b *bodyIn) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(b.idle))
	defer func() { _ = b.control.SetReadDeadline(time.Time{}) }() // the server goes on to watch for the client's end
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	return n, err
}

// bodyOut is the response; the client must take it.
type bodyOut struct {
	http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	size    int64
}

func (b *bodyOut) Write(p []byte) (int, error) {
	_ = b.control.SetWriteDeadline(time.Now().Add(b.idle))
	n, err := b.ResponseWriter.Write(p)
	b.size += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (b *bodyOut) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// idleConn is a connection that fails if nothing passes for the idle time.
type idleConn struct {
	net.Conn
	idle time.Duration
}

func (c *idleConn) Read(p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.idle))
	return c.Conn.Read(p)
}

func (c *idleConn) Write(p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.idle))
	return c.Conn.Write(p)
}
