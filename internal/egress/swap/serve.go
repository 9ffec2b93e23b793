package swap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	handshakeTime = 15 * time.Second
	headerTime    = 30 * time.Second
	idleTime      = 5 * time.Minute
	// soon is how quickly a client that checks the certificate itself closes a connection
	// without a request.
	soon = 2 * time.Second
)

// Serve ends the TLS connection that a child opens through the proxy to a declared host, and
// passes its requests on to the host, which dial connects to. It returns when the connection
// has ended, and closes client. The error says why it could not serve; a refusal of one
// request is none.
func (s *Swap) Serve(ctx context.Context, client net.Conn, host string, port uint16, dial func(context.Context) (net.Conn, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := &closing{Conn: client, ended: cancel}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { client.Close() })()
	if host = canonical(host); !s.Handles(host, port) {
		return fmt.Errorf("%s: %w", host, errNotDeclared)
	}
	roots, err := s.roots()
	if err != nil {
		return err
	}
	greeted := &greeting{swap: s, host: host}
	secure := tls.Server(conn, greeted.config())
	if err := s.greet(ctx, secure); err != nil {
		return s.notGreeted(ctx, greeted, port, err)
	}
	hosts := &upstream{dial: dial, slots: s.conns, open: map[*counted]struct{}{}}
	defer hosts.close()
	t := &tunnel{swap: s, host: host, port: port, transport: &http.Transport{
		DialContext:            hosts.connect,
		TLSClientConfig:        &tls.Config{ServerName: host, RootCAs: roots, ClientSessionCache: s.sessions},
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: maxAheadOfHost},
		DisableCompression:     true, // replies are decoded here
		TLSHandshakeTimeout:    handshakeTime,
		IdleConnTimeout:        idleTime,
		ExpectContinueTimeout:  time.Second,
		MaxIdleConnsPerHost:    2,
		MaxConnsPerHost:        maxStreams,
		MaxResponseHeaderBytes: maxHeader,
	}}
	started := time.Now()
	t.serve(ctx, secure)
	if t.requests.Load() == 0 && time.Since(started) < soon {
		s.refuse(Refusal{Host: host, Port: port, Text: "a client closed its connection to " + host +
			" before its first request; " + pinned(host)})
	}
	return nil
}

func (s *Swap) greet(ctx context.Context, secure *tls.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	return secure.HandshakeContext(ctx)
}

// greeting is the handshake with one child.
type greeting struct {
	swap  *Swap
	host  string
	shown atomic.Bool // our certificate was used
}

var errName = errors.New("the connection asks for another host than the one that it was opened to")

func (g *greeting) config() *tls.Config {
	return &tls.Config{
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if name := canonical(hello.ServerName); name != "" && name != g.host {
				return nil, errName
			}
			g.shown.Store(true)
			return g.swap.issuer.certificate(g.host)
		},
	}
}

// notGreeted explains why a handshake failed, and records what the child cannot see itself.
// After the certificate was shown, every failure is the client's doing. Its kind says little:
// OpenSSL, for one, sends its alert unencrypted, which looks like a broken record here.
func (s *Swap) notGreeted(ctx context.Context, g *greeting, port uint16, err error) error {
	text := ""
	var wait net.Error
	switch {
	case errors.Is(err, errName):
		text = "a connection to " + g.host + " named another host in its handshake"
	case g.shown.Load() && ctx.Err() == nil && !(errors.As(err, &wait) && wait.Timeout()):
		text = pinned(g.host)
	default:
		return fmt.Errorf("TLS with a client for %s: %w", g.host, err)
	}
	s.refuse(Refusal{Host: g.host, Port: port, Text: text})
	return fmt.Errorf("%s: %w", text, err)
}

func pinned(host string) string {
	return "this client does not accept Hermes' authority for " + host +
		" (it pins certificates or has its own list of authorities); grant it the key itself, or use another tool"
}

// tunnel is one connection of a child to one declared host.
type tunnel struct {
	swap      *Swap
	host      string
	port      uint16
	transport *http.Transport
	requests  atomic.Int64
	running   sync.WaitGroup
}

// serve answers the requests of a connection until it ends and all are answered.
func (t *tunnel) serve(ctx context.Context, secure *tls.Conn) {
	server := &http.Server{
		Handler:                      t,
		TLSConfig:                    &tls.Config{NextProtos: []string{"h2", "http/1.1"}}, // makes the server ready for HTTP/2
		ReadHeaderTimeout:            headerTime,
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerStream: maxAhead},
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is for the host
		BaseContext:                  func(net.Listener) context.Context { return ctx },
		ErrorLog:                     log.New(io.Discard, "", 0), // faults of clients; they see them themselves
	}
	// It ends with the error of the listener, that is, with the connection.
	_ = server.Serve(&oneConn{conn: secure, ctx: ctx})
	t.running.Wait()
}

// address is the host as a URL or a Host header names it.
func (t *tunnel) address() string {
	if t.port == 443 {
		return t.host
	}
	return net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))
}

// closing is a connection that tells when it is closed.
type closing struct {
	net.Conn
	ended func()
}

func (c *closing) Close() error {
	err := c.Conn.Close()
	c.ended()
	return err
}

// oneConn is a listener with a single connection. It ends with the context.
type oneConn struct {
	conn net.Conn
	ctx  context.Context
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.ctx.Done()
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
