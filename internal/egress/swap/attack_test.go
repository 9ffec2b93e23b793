package swap_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/egress/swap"
)

func hermesSecret(s string) hermes.Secret { return hermes.Secret(s) }

func pipe(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	a, b := net.Pipe()
	return a, b
}

// narrow is a secret for one path and method only.
func narrow() swap.Secret {
	s := token()
	s.Methods, s.Paths = []string{"GET"}, []string{"/allowed/"}
	return s
}

func TestPathTricksGetNoValue(t *testing.T) {
	t.Parallel()
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{narrow()}, hosts: map[string]http.Handler{api: host}})
	for _, path := range []string{
		"/allowed/../denied", "/allowed/..", "/allowed/.", "/allowed/./x", "/allowed//x", "//allowed/x", "/./allowed/x",
		"/allowed/%2e%2e/denied", "/allowed/%2E./denied", "/allowed/..%2fdenied", "/allowed%2f..%2fdenied", "/allowed%2fx",
		"/allowed/%252e%252e/denied", "/allowed/%25252e%25252e/denied", `/allowed/..\denied`, "/allowed/%5c../denied", "/allowed/..;/denied",
		"/allowed/..%3b/denied", "/allowed/x;y", "/allowed/%00", "/allowed/%0d%0a", "/Allowed/x", "/allowed", "/allowedx", "/denied?/allowed/", "/denied#/allowed/",
		"/allowed/%3f", "/allowed/%23", "*",
		"/allowed/%25zz/%252e%252e/denied", "/allowed/%2525/%25252e%25252e/denied", "/allowed/%25zz/..%252f..%252fdenied", "/allowed/%25/%252e%252e/",
		"/allowed/%C0%AE%C0%AE/denied", "/allowed/%25u002e%25u002e/denied", "/allowed/%25%32%65%25%32%65/denied",
	} {
		got := l.send(api, "GET "+path+" HTTP/1.1\nHost: "+api+"\nAuthorization: Bearer "+l.placeholder()+"\nConnection: close\n\n")
		if len(host.all()) > 0 || !strings.HasPrefix(got, "HTTP/1.1 403") && !strings.HasPrefix(got, "HTTP/1.1 400") {
			t.Errorf("%s: %v, %q", path, host.all(), got)
		}
	}
	for _, path := range []string{"/allowed/", "/allowed/x", "/allowed/x%20y/", "/allowed/100%25", "/allowed/100%25%20zz", "/allowed/a%2fb", "/allowed/..x/...", "/allowed/%C3%A9?a=../.."} {
		before := len(host.all())
		l.send(api, "GET "+path+" HTTP/1.1\nHost: "+api+"\nAuthorization: Bearer "+l.placeholder()+"\nConnection: close\n\n")
		if got := host.last(); len(host.all()) != before+1 || got.uri != path || got.header.Get("Authorization") != "Bearer "+canary {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestAnotherHostInsideTheTunnelIsRefused(t *testing.T) {
	t.Parallel()
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	auth := "Authorization: Bearer " + l.placeholder() + "\nConnection: close\n\n"
	for _, c := range []struct{ request, status string }{
		{"GET / HTTP/1.1\nHost: evil.test\n", "421"},
		{"GET / HTTP/1.1\nHost: " + api + ":80\n", "421"},
		{"GET / HTTP/1.1\nHost: " + api + ".evil.test\n", "421"},
		{"GET / HTTP/1.1\nHost: " + api + "@evil.test\n", "400"},
		{"GET https://evil.test/ HTTP/1.1\nHost: " + api + "\n", "421"},
		{"GET / HTTP/1.1\nHost: " + api + "\nHost: evil.test\n", "400"},
		{"GET / HTTP/1.1\n", "400"},
		{"GET / HTTP/1.0\n", "421"},
		{"CONNECT evil.test:443 HTTP/1.1\nHost: evil.test:443\n", "405"},
		{"TRACE / HTTP/1.1\nHost: " + api + "\n", "405"},
	} {
		if got := l.send(api, c.request+auth); !strings.HasPrefix(got, "HTTP/1.1 "+c.status) && !strings.HasPrefix(got, "HTTP/1.0 "+c.status) {
			t.Errorf("%q: %q", c.request, got)
		}
	}
	r := l.request("GET", "/", "", "Authorization", "Bearer "+l.placeholder())
	r.Host = "evil.test" // the :authority of HTTP/2
	if got := l.do(r); got.status != http.StatusMisdirectedRequest {
		t.Errorf("h2: %d %s", got.status, got.body)
	}
	if len(host.all()) > 0 {
		t.Errorf("the host got %v", host.all())
	}
	for _, same := range []string{api, api + ":443", strings.ToUpper(api), api + "."} {
		l.send(api, "GET / HTTP/1.1\nHost: "+same+"\n"+auth)
		if got := host.last(); got.host != api {
			t.Errorf("%s: the host got %q", same, got.host)
		}
	}
}

func TestAnotherNameInTheHandshakeIsRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: &log{}}})
	conn := l.tunnel(api).NetConn()
	secure := tls.Client(conn, &tls.Config{ServerName: "evil.example.test", InsecureSkipVerify: true})
	if err := secure.Handshake(); err == nil {
		t.Error("a certificate was given")
	}
	waitFor(t, func() bool { return strings.Contains(l.refused(), "named another host") })
}

func TestSmuggledRequestsAreNotSent(t *testing.T) {
	t.Parallel()
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{narrow()}, hosts: map[string]http.Handler{api: host}})
	inner := "GET /denied HTTP/1.1\nHost: " + api + "\nAuthorization: Bearer " + l.placeholder() + "\n\n"
	head := "GET /allowed/x HTTP/1.1\nHost: " + api + "\nAuthorization: Bearer " + l.placeholder() + "\n"
	for _, text := range []string{
		head + "Content-Length: 6\nTransfer-Encoding: chunked\n\n0\n\n" + inner,
		head + fmt.Sprintf("Content-Length: %d\nTransfer-Encoding: chunked\n\n0\n\n", len(inner)+8) + inner,
		head + "Transfer-Encoding: chunked, identity\n\n0\n\n" + inner,
		head + "Transfer-Encoding: xchunked\nContent-Length: 0\n\n" + inner,
		head + "Content-Length: 0\nContent-Length: 5\n\n" + inner,
		head + "Content-Length: +0\n\n" + inner,
		head + " folded: 1\nContent-Length : 0\n\n" + inner,
		head + "Transfer-Encoding:\x0bchunked\nContent-Length: 0\n\n" + inner,
	} {
		l.send(api, text+"GET /allowed/end HTTP/1.1\nHost: "+api+"\nConnection: close\n\n")
	}
	for _, r := range host.all() {
		if !strings.HasPrefix(r.uri, "/allowed/") || strings.Contains(r.body, canary) {
			t.Errorf("the host got %v", r)
		}
	}
}

func TestBodyAndTrailersAreNeverSwapped(t *testing.T) {
	t.Parallel()
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	for _, http2 := range []bool{true, false} {
		r := l.request("POST", "/", "key="+l.placeholder(), "Authorization", "Bearer "+l.placeholder())
		r.ContentLength = -1
		r.Trailer = http.Header{"X-Api-Key": {l.placeholder()}}
		l.doWith(l.client(http2), r)
		got := host.last()
		if got.body != "key="+l.placeholder() || got.header.Get("Authorization") != "Bearer "+canary {
			t.Errorf("the host got %v", got)
		}
		if got := got.trailer.Get("X-Api-Key"); got != l.placeholder() {
			t.Errorf("the trailer is %q", got)
		}
	}
}

func TestRedirectsArePassedOn(t *testing.T) {
	t.Parallel()
	evil := &log{}
	host := &log{answer: func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://evil.test/?t="+r.Header.Get("X-Api-Key"), http.StatusTemporaryRedirect)
	}}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host, "evil.test": evil}})
	got := l.do(l.request("GET", "/", "", "X-Api-Key", l.placeholder()))
	if want := "https://evil.test/?t=" + l.placeholder(); got.status != 307 || got.header.Get("Location") != want {
		t.Errorf("%d, to %q, want %q", got.status, got.header.Get("Location"), want)
	}
	if len(evil.all()) > 0 {
		t.Error("the redirect was followed")
	}
}

func TestPinningClientIsExplained(t *testing.T) {
	t.Parallel()
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: &log{}}})
	for name, check := range map[string]func(net.Conn){
		"own list": func(c net.Conn) { _ = tls.Client(c, &tls.Config{ServerName: api}).Handshake() },
		"own list, 1.2": func(c net.Conn) {
			_ = tls.Client(c, &tls.Config{ServerName: api, MaxVersion: tls.VersionTLS12}).Handshake()
		},
		"pins, and closes": func(c net.Conn) {
			secure := tls.Client(c, &tls.Config{ServerName: api, RootCAs: l.roots()})
			_ = secure.Handshake()
			secure.Close()
		},
	} {
		l.mu.Lock()
		l.refusals = nil
		l.mu.Unlock()
		conn := l.tunnel(api).NetConn()
		check(conn)
		conn.Close()
		deadline := time.Now().Add(5 * time.Second)
		for !strings.Contains(l.refused(), "does not accept Hermes' authority for "+api) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: recorded is %q", name, l.refused())
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestHostWithAFalseCertificateGetsNothing(t *testing.T) {
	t.Parallel()
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host, "other.test": host}})
	l.hosts[api] = l.hosts["other.test"] // its address now belongs to another
	got := l.do(l.request("GET", "/", "", "X-Api-Key", l.placeholder()))
	if got.status != http.StatusBadGateway || !strings.Contains(got.body, "certificate") || len(host.all()) > 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestPlainHTTPInTheTunnelGetsNothing(t *testing.T) {
	t.Parallel()
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	conn := l.tunnel(api).NetConn()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nX-Api-Key: %s\r\n\r\n", api, l.placeholder())
	all, _ := io.ReadAll(conn)
	if l.hidden(string(all)); len(host.all()) > 0 {
		t.Error("it was passed on")
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}
