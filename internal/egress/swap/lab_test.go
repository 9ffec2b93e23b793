package swap_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/egress/egresstest"
	"hermes/internal/egress/swap"
)

// canary is the secret of most tests. Nothing that a child can see may hold it.
const canary = "ghp_C4naryValue0123456789abcdefGHIJKLMN"

// api is the host of most tests.
const api = "api.example.test"

// lab is a world without network: real hosts with certificates of their own authority, and
// a proxy in front of them.
type lab struct {
	t       *testing.T
	swap    *swap.Swap
	proxy   string // its address
	dir     string // where the bundles are
	env     []string
	hosts   map[string]string // host to address
	lingers bool              // as in options

	mu       sync.Mutex
	refusals []swap.Refusal
	errs     []error
}

// options are what tests change.
type options struct {
	secrets []swap.Secret
	hosts   map[string]http.Handler
	config  swap.Config
	http1   bool // hosts speak HTTP/1.1 only
	lingers bool // connections to hosts are lingering
}

// token is a declared secret for everything on api.
func token() swap.Secret {
	return swap.Secret{Name: "TOKEN", Value: canary, Hosts: []string{api}, Methods: []string{"*"}, Paths: []string{"/"}}
}

func newLab(t *testing.T, o options) *lab {
	t.Helper()
	l := &lab{t: t, hosts: map[string]string{}, dir: t.TempDir(), lingers: o.lingers}
	authority := egresstest.NewAuthority(t)
	for host, handler := range o.hosts {
		server := httptest.NewUnstartedServer(handler)
		server.EnableHTTP2 = !o.http1
		server.Config.DisableGeneralOptionsHandler = true
		server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{authority.Certificate(t, host)}}
		server.StartTLS()
		t.Cleanup(server.Close)
		l.hosts[host] = server.Listener.Addr().String()
	}
	c := o.config
	c.Secrets, c.Roots = o.secrets, append(c.Roots, authority.Cert)
	c.Refused = func(r swap.Refusal) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refusals = append(l.refusals, r)
	}
	var err error
	if l.swap, err = swap.New(c); err != nil {
		t.Fatal(err)
	}
	if l.env, err = l.swap.Environ(l.dir); err != nil {
		t.Fatal(err)
	}
	l.serveProxy()
	return l
}

// serveProxy is a small CONNECT proxy in the place of package egress.
func (l *lab) serveProxy() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	l.proxy = listener.Addr().String()
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { l.connect(ctx, conn) })
		}
	})
	l.t.Cleanup(func() { cancel(); listener.Close(); running.Wait() })
}

func (l *lab) connect(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	reader := bufio.NewReader(conn)
	r, err := http.ReadRequest(reader)
	if err != nil || r.Method != http.MethodConnect || reader.Buffered() > 0 {
		return
	}
	host, port, _ := net.SplitHostPort(r.Host)
	n, _ := strconv.ParseUint(port, 10, 16)
	address, ok := l.hosts[host]
	if !ok {
		fmt.Fprint(conn, "HTTP/1.1 403 Forbidden\r\n\r\n")
		return
	}
	fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
	dial := func(ctx context.Context) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil && l.lingers {
			conn = lingering{conn}
		}
		return conn, err
	}
	if l.swap.Handles(host, uint16(n)) {
		err := l.swap.Serve(ctx, conn, host, uint16(n), dial)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.errs = append(l.errs, err)
		return
	}
	out, err := dial(ctx)
	if err != nil {
		return
	}
	defer out.Close()
	go func() { _, _ = io.Copy(out, conn); out.Close() }()
	_, _ = io.Copy(conn, out)
}

// lingering is a connection whose Close leaves time to read what the host sends when it sees the
// end of TLS. With less time a test could only miss a fault.
type lingering struct{ net.Conn }

func (c lingering) Close() error {
	<-time.After(50 * time.Millisecond)
	return c.Conn.Close()
}

// roots are what a child trusts: the bundle.
func (l *lab) roots() *x509.CertPool {
	l.t.Helper()
	content, err := os.ReadFile(l.variable("NODE_EXTRA_CA_CERTS"))
	if err != nil {
		l.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(content)
	return pool
}

func (l *lab) variable(name string) string {
	for _, v := range append(l.swap.Placeholders(), l.env...) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	l.t.Fatalf("no variable %s", name)
	return ""
}

func (l *lab) placeholder() string { return l.variable("TOKEN") }

// client is a child in Go.
func (l *lab) client(http2 bool) *http.Client {
	transport := &http.Transport{
		Proxy:              http.ProxyURL(&url.URL{Scheme: "http", Host: l.proxy}),
		TLSClientConfig:    &tls.Config{RootCAs: l.roots()},
		ForceAttemptHTTP2:  http2,
		DisableCompression: true,
	}
	l.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// tunnel is a raw TLS connection of a child.
func (l *lab) tunnel(host string) *tls.Conn {
	l.t.Helper()
	conn, err := net.Dial("tcp", l.proxy)
	if err != nil {
		l.t.Fatal(err)
	}
	fmt.Fprintf(conn, "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n", host, host)
	line := make([]byte, len("HTTP/1.1 200 OK\r\n\r\n"))
	if _, err := io.ReadFull(conn, line); err != nil || !strings.Contains(string(line), "200") {
		l.t.Fatalf("%q, %v", line, err)
	}
	secure := tls.Client(conn, &tls.Config{ServerName: host, RootCAs: l.roots(), NextProtos: []string{"http/1.1"}})
	l.t.Cleanup(func() { secure.Close() })
	_ = secure.SetDeadline(time.Now().Add(20 * time.Second))
	return secure
}

// send writes raw text into a tunnel and returns all that comes back until it is closed.
func (l *lab) send(host, text string) string {
	l.t.Helper()
	conn := l.tunnel(host)
	if _, err := io.WriteString(conn, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
		l.t.Fatal(err)
	}
	all, _ := io.ReadAll(conn)
	return string(all)
}

// begin sends the beginning of a request over HTTP/1.1, whose body never goes on. Unlike
// http.Client it does not wait for the body once the connection has ended.
func (l *lab) begin(path string) (*http.Response, error) {
	l.t.Helper()
	conn := l.tunnel(api)
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", path, api); err != nil {
		l.t.Fatal(err)
	}
	return http.ReadResponse(bufio.NewReader(conn), nil)
}

// answer is what a child got.
type answer struct {
	status  int
	body    string
	header  http.Header
	trailer http.Header
}

func (l *lab) do(r *http.Request) answer {
	l.t.Helper()
	return l.doWith(l.client(true), r)
}

func (l *lab) doWith(c *http.Client, r *http.Request) answer {
	l.t.Helper()
	reply, err := c.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	l.hidden(fmt.Sprint(string(body), reply.Header, reply.Trailer))
	return answer{reply.StatusCode, string(body), reply.Header, reply.Trailer}
}

// hidden fails if a text shows the canary.
func (l *lab) hidden(text string) {
	l.t.Helper()
	if strings.Contains(text, canary) {
		l.t.Errorf("a child sees the secret: %q", text)
	}
}

// refused returns the texts of all refusals so far.
func (l *lab) refused() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var texts []string
	for _, r := range l.refusals {
		texts = append(texts, r.Text)
	}
	l.hidden(strings.Join(texts, "\n"))
	return strings.Join(texts, "\n")
}

func (l *lab) request(method, path, body string, header ...string) *http.Request {
	l.t.Helper()
	r, err := http.NewRequestWithContext(l.t.Context(), method, "https://"+api+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// log is a host that remembers the requests that it got.
type log struct {
	mu       sync.Mutex
	requests []seen
	answer   http.HandlerFunc // nil answers "ok"
}

type seen struct {
	method, host, uri, body string
	proto                   string
	header, trailer         http.Header
}

func (l *log) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.requests = append(l.requests, seen{r.Method, r.Host, r.URL.RequestURI(), string(body), r.Proto, r.Header.Clone(), r.Trailer.Clone()})
	l.mu.Unlock()
	if l.answer != nil {
		l.answer(w, r)
		return
	}
	_, _ = io.WriteString(w, "ok")
}

func (l *log) all() []seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]seen(nil), l.requests...)
}

// last returns the last request; the zero one if there was none.
func (l *log) last() seen {
	if all := l.all(); len(all) > 0 {
		return all[len(all)-1]
	}
	return seen{}
}
