package egress_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"hermes/internal/egress"
	"hermes/internal/egress/egresstest"
)

// world is the network of a test, and what starts a proxy in it.
type world struct{ *egresstest.World }

func newWorld() *world { return &world{egresstest.New()} }

// plain serves a handler as http (port 80) under names.
func (w *world) plain(t *testing.T, h http.Handler, names ...string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w.At("80", s.Listener.Addr().String(), names...)
	return s
}

// listen serves each connection of a port with f.
func (w *world) listen(t *testing.T, port string, f func(net.Conn), names ...string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	w.At(port, l.Addr().String(), names...)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); f(c) }()
		}
	}()
}

// child is a session as a process inside sees it.
type child struct {
	*egress.Session
	proxy *egress.Proxy
	port  int
	url   *url.URL // of the proxy, with the token
}

func rules(t *testing.T, texts ...string) []egress.Rule {
	t.Helper()
	var out []egress.Rule
	for _, text := range texts {
		r, err := egress.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func (w *world) config() egress.Config {
	return egress.Config{Resolve: w.Resolve, Connect: w.Connect, Log: slog.New(slog.DiscardHandler)}
}

func start(t *testing.T, c egress.Config, sc egress.SessionConfig) *child {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := egress.New(c)
	ch := &child{Session: p.Session(sc), proxy: p, port: l.Addr().(*net.TCPAddr).Port}
	done := make(chan struct{})
	go func() { defer close(done); _ = ch.Serve(l) }()
	t.Cleanup(func() { p.Close(); <-done })
	for _, v := range ch.Environ(ch.port) {
		if value, ok := strings.CutPrefix(v, "HTTPS_PROXY="); ok {
			if ch.url, err = url.Parse(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	return ch
}

// allowed starts a session with rules that allow.
func (w *world) allowed(t *testing.T, texts ...string) *child {
	t.Helper()
	return start(t, w.config(), egress.SessionConfig{Name: "s1", Allow: rules(t, texts...)})
}

func (c *child) token() string { p, _ := c.url.User.Password(); return p }

// client is an HTTP client inside.
func (c *child) client(t *testing.T, a *egresstest.Authority) *http.Client {
	t.Helper()
	tr := &http.Transport{Proxy: http.ProxyURL(c.url), DisableKeepAlives: true}
	if a != nil {
		tr.TLSClientConfig = &tls.Config{RootCAs: a.Pool}
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

// raw is a connection to the proxy on which a test writes bytes.
type raw struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func (c *child) raw(t *testing.T) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &raw{conn, t, bufio.NewReader(conn)}
}

func (r *raw) send(text string) *raw {
	r.t.Helper()
	_, _ = io.WriteString(r.Conn, text)
	return r
}

// answer reads one response and its body.
func (r *raw) answer(method string) (int, string) {
	r.t.Helper()
	resp, err := http.ReadResponse(r.r, &http.Request{Method: method})
	if err != nil {
		return 0, err.Error()
	}
	if method == "CONNECT" && resp.StatusCode == 200 {
		return 200, ""
	}
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// auth is the header with the token.
func (c *child) auth() string { return "Proxy-Authorization: Bearer " + c.token() + "\r\n" }

// tunnel opens one by CONNECT.
func (c *child) tunnel(t *testing.T, to string) (*raw, int, string) {
	t.Helper()
	r := c.raw(t).send("CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n" + c.auth() + "\r\n")
	code, body := r.answer("CONNECT")
	return r, code, body
}

// through is the connection of a tunnel with what was read ahead.
func (r *raw) Read(p []byte) (int, error) { return r.r.Read(p) }

func (c *child) lastRefusal(t *testing.T) egress.Refusal {
	t.Helper()
	list := c.Refused(time.Time{})
	if len(list) == 0 {
		t.Fatal("nothing was refused")
	}
	return list[len(list)-1]
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text) }
}

func fetch(c *http.Client, address string) (int, string, error) {
	resp, err := c.Get(address)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}
