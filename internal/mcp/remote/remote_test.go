package remote_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/mcp/remote"
	"hermes/internal/netguard"
)

func mustLink(t *testing.T, c remote.Config) *remote.Link {
	t.Helper()
	l, err := remote.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.CloseIdleConnections)
	return l
}

// get reads an answer to its end.
func get(t *testing.T, c *http.Client, address string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

func TestHeadersGoToTheServerOnly(t *testing.T) {
	t.Parallel()
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("X-Key")) })
	server, other := httptest.NewServer(echo), httptest.NewServer(echo)
	defer server.Close()
	defer other.Close()
	l := mustLink(t, remote.Config{URL: server.URL + "/mcp", Headers: map[string]string{"x-key": "canary"}})
	if got, err := get(t, l.Server, server.URL+"/mcp"); got != "canary" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := get(t, l.Server, other.URL); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("another server: %q, %v", got, err)
	}
	if got, err := get(t, l.Others, other.URL); got != "" || err != nil {
		t.Errorf("what the server names: %q, %v", got, err)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/mcp":
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
		case "/mcp/":
			fmt.Fprint(w, r.Method, r.Header.Get("X-Key"))
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusTemporaryRedirect)
		case "/weaker":
			http.Redirect(w, r, "/mcp/", http.StatusFound) // a POST would become a GET
		}
	}))
	defer server.Close()
	l := mustLink(t, remote.Config{URL: server.URL, Headers: map[string]string{"X-Key": " canary"}})
	for path, want := range map[string]string{"/mcp": "POST", "/away": "", "/metadata": "", "/weaker": ""} {
		resp, err := l.Server.Post(server.URL+path, "text/plain", strings.NewReader("hello"))
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "not followed") {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		raw, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(raw) != want+"canary" && string(raw) != want+" canary" {
			t.Errorf("%s: %q", path, raw)
		}
	}
	if reached > 0 {
		t.Error("the other server was reached")
	}
}

// TestTheServerMayBePrivateAndOthersMayNot reaches a server of this machine by a public name, too.
func TestTheServerMayBePrivateAndOthersMayNot(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") }))
	defer server.Close()
	local := mustLink(t, remote.Config{URL: server.URL})
	if got, err := get(t, local.Others, server.URL); got != "here" {
		t.Errorf("of this machine: %q, %v", got, err)
	}
	public := mustLink(t, remote.Config{URL: "https://docs.example/mcp"})
	for _, address := range []string{server.URL, "http://localhost:1", "http://10.0.0.1", "http://[::1]:1", "http://169.254.169.254"} {
		_, err := get(t, public.Others, address)
		if _, refused := errors.AsType[*netguard.Refused](err); !refused {
			t.Errorf("%s: %v", address, err)
		}
		if err := public.Judge(t.Context(), address); err == nil {
			t.Errorf("%s may be opened", address)
		}
	}
	if _, err := get(t, local.Others, "http://169.254.169.254"); err == nil || !strings.Contains(err.Error(), "metadata") {
		t.Error(err)
	}
}

func TestAForbiddenServerIsNotReached(t *testing.T) {
	t.Parallel()
	l := mustLink(t, remote.Config{URL: "https://docs.example/mcp", Guard: netguard.Guard{
		Blocked: func(host string, _ uint16) (string, bool) { return "docs.example", host == "docs.example" },
	}})
	if _, err := get(t, l.Server, "https://docs.example/mcp"); err == nil || !strings.Contains(err.Error(), "forbids") {
		t.Error(err)
	}
}

func TestLargeMessages(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	part := strings.Repeat("x", limit/2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("stream") {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		switch r.URL.Path {
		case "/fits":
			for range 4 {
				fmt.Fprintf(w, "data: %s\r\n\r\n", part)
			}
		case "/one":
			fmt.Fprint(w, part+part)
		case "/endless", "/returns":
			more := "data: " + part + "\n"
			if r.URL.Path == "/returns" {
				more = strings.Repeat("\r", limit/2)
			}
			for sent := 0; sent < 100*limit && r.Context().Err() == nil; sent += len(more) {
				if _, err := io.WriteString(w, more); err != nil {
					return
				}
			}
		}
	}))
	defer server.Close()
	l := mustLink(t, remote.Config{URL: server.URL, MaxMessage: limit})
	for path, fits := range map[string]bool{"/fits?stream": true, "/one": true, "/fits": false, "/endless": false, "/endless?stream": false, "/returns?stream": false, "/one?stream": true} {
		got, err := get(t, l.Server, server.URL+path)
		_, large := errors.AsType[*remote.TooLargeError](err)
		if large == fits || len(got) > 3*limit {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
	}
}

// TestAFloodOfEventsIsSlowed reads events until the reading waits, then ends the request.
func TestAFloodOfEventsIsSlowed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, "data: 1\n\n"); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	l := mustLink(t, remote.Config{URL: server.URL})
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	resp, err := l.Server.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil || n > 10<<20 { // without a bound it is a gigabyte
		t.Errorf("%d bytes, %v", n, err)
	}
	if n > 400<<10 {
		t.Errorf("%d bytes in less than 2 s", n)
	}
}

// authority makes a certificate of an authority and one for this machine, as files.
func authority(t *testing.T) (ca, cert, key string, pair tls.Certificate, pool *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	must := func(der []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	rootKey, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootDER := must(x509.CreateCertificate(rand.Reader, root, root, &rootKey.PublicKey, rootKey))
	leafKey, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	leafDER := must(x509.CreateCertificate(rand.Reader, leaf, root, &leafKey.PublicKey, rootKey))
	keyDER := must(x509.MarshalECPrivateKey(leafKey))
	pool = x509.NewCertPool()
	parsed, _ := x509.ParseCertificate(rootDER)
	pool.AddCert(parsed)
	return write("ca.pem", "CERTIFICATE", rootDER), write("cert.pem", "CERTIFICATE", leafDER), write("key.pem", "EC PRIVATE KEY", keyDER),
		tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: leafKey}, pool
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	ca, cert, key, pair, pool := authority(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "in") }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MaxVersion: tls.VersionTLS12}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug) // handshakes that fail are wanted
	server.StartTLS()
	defer server.Close()
	for _, row := range []struct {
		name string
		tls  remote.TLS
		want string
	}{
		{"both", remote.TLS{CA: ca, Cert: cert, Key: key}, ""},
		{"any certificate of the server", remote.TLS{Insecure: true, Cert: cert, Key: key}, ""},
		{"no authority", remote.TLS{Cert: cert, Key: key}, "ssl_verify"},
		{"no certificate of the client", remote.TLS{CA: ca}, "client_cert"},
	} {
		l := mustLink(t, remote.Config{URL: server.URL, TLS: row.tls})
		got, err := get(t, l.Server, server.URL)
		if row.want == "" && got != "in" || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %q, %v", row.name, got, err)
		}
		if row.name != "both" {
			continue
		}
		if got, err := get(t, l.Others, server.URL); got != "" { // the certificate is for the server's own address
			t.Errorf("the login service got the certificate: %q, %v", got, err)
		}
	}
}

func TestCertificatesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	ca, cert, key, _, _ := authority(t)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		tls  remote.TLS
		want string
	}{
		{remote.TLS{CA: "/nothing/ca.pem"}, "ssl_verify: there is no file /nothing/ca.pem"},
		{remote.TLS{CA: empty}, "ssl_verify names"},
		{remote.TLS{Cert: "/nothing/c.pem"}, "client_cert: there is no file"},
		{remote.TLS{Cert: cert, Key: "/nothing/k.pem"}, "client_key: there is no file"},
		{remote.TLS{Cert: ca, Key: key}, "client_cert and client_key"},
		{remote.TLS{Cert: cert}, "client_cert and client_key"},
	} {
		if _, err := remote.New(remote.Config{URL: "https://docs.example", TLS: row.tls}); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v", row.tls, err)
		}
	}
}

func TestARefusedKeyNamesTheSetting(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	l := mustLink(t, remote.Config{URL: server.URL, Headers: map[string]string{"authorization": "Bearer canary"}})
	if _, err := get(t, l.Server, server.URL); err == nil || !strings.Contains(err.Error(), "check headers") || strings.Contains(err.Error(), "canary") {
		t.Error(err)
	}
}
