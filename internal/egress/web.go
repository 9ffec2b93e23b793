package egress

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// web serves a client that speaks HTTP to the proxy.
func (s *Session) web(c *conn) {
	s.http(c, func(w http.ResponseWriter, r *http.Request) {
		if !s.admitted(w, r) {
			return
		}
		if r.Method == http.MethodConnect {
			s.connectRequest(w, r, c)
			return
		}
		s.forward(w, r, c)
	})
}

// fixed serves a client that speaks plain HTTP in a tunnel: every request must be for the
// target of the tunnel.
func (s *Session) fixed(c *conn, t target, g grant) {
	s.http(c, func(w http.ResponseWriter, r *http.Request) {
		host, err := readTarget(r.Host, t.port)
		if !strings.HasPrefix(r.RequestURI, "/") {
			err = errors.New("it is not a request for a path")
		}
		if err != nil {
			s.answer(w, &refused{t, "a request in the tunnel is not plain HTTP for this host: " + err.Error(), misused})
			return
		}
		if host != t {
			s.answer(w, &refused{t, "a request in the tunnel is for another host, " + host.String(), misused})
			return
		}
		s.pass(w, r, t, g)
	})
}

// http runs a server for one connection and returns when the connection is over and the
// handler has returned.
func (s *Session) http(c *conn, handler http.HandlerFunc) {
	l := &one{conn: c, over: make(chan struct{})}
	limits := s.proxy.config.Limits
	var handlers sync.WaitGroup
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handlers.Add(1)
			defer handlers.Done()
			handler(w, r)
		}),
		ReadHeaderTimeout: limits.Handshake, IdleTimeout: limits.Idle, MaxHeaderBytes: limits.Header,
		ErrorLog: log.New(io.Discard, "", 0), DisableGeneralOptionsHandler: true,
		Protocols: new(http.Protocols),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed || state == http.StateHijacked {
				_ = l.Close()
			}
		},
	}
	server.Protocols.SetHTTP1(true)
	_ = server.Serve(l)
	handlers.Wait()
}

// one is a listener that has one connection, and ends with it.
type one struct {
	conn  net.Conn
	once  sync.Once
	taken bool
	over  chan struct{}
}

// Accept is called by one goroutine.
func (o *one) Accept() (net.Conn, error) {
	if !o.taken {
		o.taken = true
		return o.conn, nil
	}
	<-o.over
	return nil, net.ErrClosed
}

// Close makes Accept fail; the connection is not touched.
func (o *one) Close() error {
	o.once.Do(func() { close(o.over) })
	return nil
}

// Addr is that of the connection.
func (o *one) Addr() net.Addr { return o.conn.LocalAddr() }

// admitted checks the token of a request, and takes it out.
func (s *Session) admitted(w http.ResponseWriter, r *http.Request) bool {
	list := r.Header.Values("Proxy-Authorization")
	delete(r.Header, "Proxy-Authorization")
	if s.config.Open || len(list) == 1 && s.authentic(password(list[0])) {
		return true
	}
	if len(list) == 0 {
		s.record(slog.LevelDebug, "egress: no token") // many programs send it only when they are asked
	} else {
		s.notice("egress: no valid token")
		w.Header().Set("Connection", "close") // who guesses has to connect again
	}
	w.Header().Set("Proxy-Authenticate", `Basic realm="hermes"`)
	http.Error(w, "This proxy needs the token of the session. Use the address in HTTPS_PROXY, with its user and password.", http.StatusProxyAuthRequired)
	return false
}

// password reads the token from the value of a header: Basic with any user, or Bearer.
func password(value string) string {
	scheme, rest, _ := strings.Cut(value, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(scheme) {
	case "bearer":
		return rest
	case "basic":
		raw, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return ""
		}
		_, token, _ := strings.Cut(string(raw), ":")
		return token
	}
	return ""
}

// connectRequest serves CONNECT. r.Host is not asked: the request line counts.
func (s *Session) connectRequest(w http.ResponseWriter, r *http.Request, c *conn) {
	t, err := readTarget(r.RequestURI, 0)
	if err != nil {
		s.answer(w, badTarget(r.RequestURI, err))
		return
	}
	if r.ContentLength != 0 || len(r.TransferEncoding) > 0 { // where the tunnel begins would be open to two readings
		s.answer(w, badTarget(r.RequestURI, errors.New("a CONNECT request has no body")))
		return
	}
	_, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Time{})
	rest, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	c.unread(rest)
	s.tunnel(c, t, func(err error) error { return connectReply(c, err) })
}

// connectReply answers CONNECT. What was refused is also in the status line, since programs
// show that and not the body.
func connectReply(c *conn, failed error) error {
	_ = c.SetWriteDeadline(time.Now().Add(10 * time.Second))
	defer func() { _ = c.SetWriteDeadline(time.Time{}) }()
	if failed == nil {
		_, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		return err
	}
	code, body := c.session.describe(failed)
	_, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		code, plainLine(failed), len(body), body)
	return err
}

// plainLine is an error as the text of a status line: short, printable ASCII.
func plainLine(err error) string {
	var b strings.Builder
	for _, r := range err.Error() {
		if r < ' ' || r > '~' {
			r = '?'
		}
		if b.WriteRune(r); b.Len() >= 400 {
			break
		}
	}
	return b.String()
}

// describe returns the status and the text for a failure.
func (s *Session) describe(err error) (int, string) {
	if r, ok := errors.AsType[*refused](err); ok {
		if s.config.Open { // it runs no commands
			return http.StatusForbidden, "Hermes refused the connection: " + r.Error() + ".\n"
		}
		return http.StatusForbidden, r.advice()
	}
	if u, ok := errors.AsType[*unreachable](err); ok {
		return http.StatusBadGateway, "Hermes allowed the connection, but " + u.Error() + ".\n"
	}
	return http.StatusBadGateway, "The connection failed.\n"
}

// answer refuses a request and records it.
func (s *Session) answer(w http.ResponseWriter, err error) {
	s.fail(err)
	code, body := s.describe(err)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close") // what follows on the connection is not read
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}
