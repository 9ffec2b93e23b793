package egress_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/egress"
)

// world is a network of names that exist only here: each leads to an address, and each address
// and port to a server on loopback.
type world struct {
	mu       sync.Mutex
	names    map[string][]string // the answers to the look-ups of a name, one after the other; the last stays
	servers  map[string]string   // address:port to the address of a server
	lookedUp []string
	dialled  []string
}

func newWorld() *world {
	return &world{names: map[string][]string{}, servers: map[string]string{}}
}

func (w *world) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookedUp = append(w.lookedUp, host)
	list := w.names[host]
	if len(list) == 0 {
		return nil, errors.New("no such host")
	}
	now := list[0]
	if len(list) > 1 {
		w.names[host] = list[1:]
	}
	var out []netip.Addr
	for _, a := range strings.Fields(now) {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

func (w *world) connect(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, address)
	to, ok := w.servers[address]
	w.mu.Unlock()
	if !ok {
		return nil, errors.New("connection refused")
	}
	var d net.Dialer
	return d.DialContext(ctx, network, to)
}

func (w *world) asked() (lookedUp, dialled []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lookedUp...), append([]string(nil), w.dialled...)
}

// public is the address of every server of the tests.
const public = "93.184.216.34"

// authority is a certificate authority for the tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, file: filepath.Join(t.TempDir(), "ca.pem"), pool: x509.NewCertPool()}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	if err := os.WriteFile(a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *authority) certificate(t *testing.T, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names, IPAddresses: []net.IP{net.ParseIP(public)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// site serves a handler as https (port 443) under names.
func (w *world) site(t *testing.T, a *authority, h http.Handler, names ...string) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{a.certificate(t, names...)}, MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	w.at("443", s.Listener.Addr().String(), names...)
	return s
}

// plain serves a handler as http (port 80) under names.
func (w *world) plain(t *testing.T, h http.Handler, names ...string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w.at("80", s.Listener.Addr().String(), names...)
	return s
}

func (w *world) at(port, server string, names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers[public+":"+port] = server
	for _, n := range names {
		if w.names[n] == nil {
			w.names[n] = []string{public}
		}
	}
}

// listen serves each connection of a port with f.
func (w *world) listen(t *testing.T, port string, f func(net.Conn), names ...string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	w.at(port, l.Addr().String(), names...)
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
	return egress.Config{Resolve: w.resolve, Connect: w.connect, Log: slog.New(slog.DiscardHandler)}
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
func (c *child) client(t *testing.T, a *authority) *http.Client {
	t.Helper()
	tr := &http.Transport{Proxy: http.ProxyURL(c.url), DisableKeepAlives: true}
	if a != nil {
		tr.TLSClientConfig = &tls.Config{RootCAs: a.pool}
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
