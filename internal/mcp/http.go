package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/internal/httpc"
	"hermes/internal/mcp/login"
	"hermes/internal/mcp/message"
)

// way is how a server is reached.
type way struct {
	transport mcp.Transport
	end       func() error // ends all of it
	// silent gets a value when a service has ended the stream of changes; it is nil for programs.
	silent <-chan struct{}
	// refused is why a message could not be sent; it is nil where the SDK itself says so.
	refused *refusal
}

// refusal keeps the first error of requests.
type refusal struct{ first atomic.Pointer[error] }

func (r *refusal) keep(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	resp, err := next.RoundTrip(req)
	if err != nil && req.Context().Err() == nil {
		r.first.CompareAndSwap(nil, &err)
	}
	return resp, err
}

// or returns what was kept, or err if nothing was.
func (r *refusal) or(err error) error {
	if r != nil && err != nil {
		if first := r.first.Load(); first != nil {
			return *first
		}
	}
	return err
}

// remote returns how a service is reached.
func (o *Server) remote() (way, error) {
	if o.cfg.Client == nil {
		return way{}, errors.New("MCP servers cannot be reached over the network here")
	}
	client, err := o.cfg.Client(o.set)
	if err != nil {
		return way{}, err
	}
	silent := make(chan struct{}, 1)
	client = new(message.Bounds).Answers(subscribing(httpc.Through(client, sendOnce), func() { signal(silent) }))
	end := func() error { client.CloseIdleConnections(); return nil }
	if o.set.Remote.SSE {
		r := &refusal{} // the SDK may say only that the connection has ended
		t := &sse{inner: mcp.SSEClientTransport{Endpoint: o.set.Remote.URL, HTTPClient: httpc.Through(client, r.keep), MaxEventSize: maxMessage}}
		return way{transport: t, end: func() error { t.end(); return end() }, refused: r}, nil
	}
	return way{transport: &mcp.StreamableClientTransport{Endpoint: o.set.Remote.URL, HTTPClient: client, MaxEventSize: maxMessage}, end: end, silent: silent}, nil
}

// subscribing returns a client that says when the answer to a subscription has ended: the SDK makes one when
// it connects, and no other one.
func subscribing(c *http.Client, ended func()) *http.Client {
	return httpc.Through(c, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil && req.Header.Get("Mcp-Method") == "subscriptions/listen" && resp.StatusCode == http.StatusOK &&
			strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			resp.Body = &ending{resp.Body, ended}
		}
		return resp, err
	})
}

// ending is a body that says when it has ended.
type ending struct {
	io.ReadCloser
	ended func()
}

// Read reads on.
func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil {
		e.ended()
	}
	return n, err
}

// attempt is that of making a connection. The SDK takes every error of its first request for a
// server of an older protocol, and tries that: a login that is needed must not be hidden by what the
// server says to the second request.
type attempt struct {
	mu     sync.Mutex
	over   bool
	needed *login.NeededError
}

type attemptKey struct{}

func (a *attempt) done() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
}

// sendOnce sends the requests of an attempt until one needs a login, which is then the error of all
// that follow. Others are sent.
func sendOnce(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	a, _ := req.Context().Value(attemptKey{}).(*attempt)
	if a == nil {
		return next.RoundTrip(req)
	}
	a.mu.Lock()
	needed := a.needed
	if a.over {
		needed = nil
	}
	a.mu.Unlock()
	if needed != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as a RoundTripper must
		}
		return nil, needed
	}
	resp, err := next.RoundTrip(req)
	if n, ok := errors.AsType[*login.NeededError](err); ok {
		a.mu.Lock()
		a.needed = n
		a.mu.Unlock()
	}
	return resp, err
}

// sse is the transport of the protocol 2024-11-05. The SDK's ends the stream with the context of
// Connect, which is that of the time to connect.
type sse struct {
	inner mcp.SSEClientTransport

	mu  sync.Mutex
	cut context.CancelFunc // of the stream
}

// Connect connects within the time of ctx. The stream lasts until end.
func (s *sse) Connect(ctx context.Context) (mcp.Connection, error) {
	life, cut := context.WithCancel(context.WithoutCancel(ctx))
	s.mu.Lock()
	s.cut = cut
	s.mu.Unlock()
	late := context.AfterFunc(ctx, cut)
	c, err := s.inner.Connect(life)
	if !late() && err == nil {
		err = errors.Join(context.Cause(ctx), c.Close())
	}
	if err != nil {
		cut()
		return nil, err
	}
	return c, nil
}

func (s *sse) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut != nil {
		s.cut()
	}
}

// reached words an error of a connection: that the user has to log in, if that is it, and never
// with the query of the address, where a key may be.
func (o *Server) reached(err error) error {
	if n, ok := errors.AsType[*login.NeededError](err); ok {
		return n
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if err == nil || o.set.Remote == nil {
		return err
	}
	u, bad := url.Parse(o.set.Remote.URL)
	if bad != nil || u.RawQuery == "" || !strings.Contains(err.Error(), u.RawQuery) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), u.RawQuery, "…"))
}

// pulse ticks when the list of tools is to be read: a service of the stateless protocol has no
// connection, so neither its end nor a change of its tools is always noticed. The func ends it.
func (o *Server) pulse(c *connection) (tick <-chan time.Time, stop func()) {
	if o.set.Remote == nil || o.set.Times.KeepAlive <= 0 || version(c.session) < firstStateless {
		return nil, func() {}
	}
	t := time.NewTicker(o.set.Times.KeepAlive)
	return t.C, t.Stop
}
