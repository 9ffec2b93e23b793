package mcpserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/internal/mcpserver"
)

// mustCertificate writes a certificate for 127.0.0.1 and its key, and returns it.
func mustCertificate(t *testing.T, cert, key string, number int64) *x509.CertPool {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for file, data := range map[string][]byte{cert: text, key: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(number) * time.Second) // another time, however coarse the clock of files is
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

// bearer adds the token.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.RoundTripper.RoundTrip(r)
}

// TestAClientConnectsOverTLS, calls a tool, and goes on after the certificate was renewed. Without
// TLS it is told what is wrong.
func TestAClientConnectsOverTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := mustCertificate(t, cert, key, 1)
	r := newRig(t, nil)
	addr := r.endpoint(mcpserver.HTTP{Cert: cert, Key: key})
	connect := func(roots *x509.CertPool) error {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
		defer transport.CloseIdleConnections()
		s, err := mcp.NewClient(&mcp.Implementation{Name: "far", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: "https://" + addr + "/mcp", HTTPClient: &http.Client{Transport: bearer{transport}}, MaxRetries: -1,
		}, nil)
		if err != nil {
			return err
		}
		defer s.Close()
		tools, err := s.ListTools(t.Context(), nil)
		if err == nil && len(tools.Tools) == 0 {
			t.Error("no tools are listed")
		}
		if err != nil {
			return err
		}
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "conversations_list", Arguments: map[string]any{}})
		if err == nil && res.IsError {
			t.Errorf("the tool failed: %+v", res.Content)
		}
		return err
	}
	if err := connect(first); err != nil {
		t.Fatal(err)
	}
	if status, body := post(t, addr, "/mcp", ping, nil); status != http.StatusBadRequest || !strings.Contains(body, "HTTPS") {
		t.Errorf("without TLS the answer is %d %q", status, body)
	}
	second := mustCertificate(t, cert, key, 2)
	if err := connect(second); err != nil {
		t.Errorf("after the renewal: %v", err)
	}
	if err := connect(first); err == nil {
		t.Error("the old certificate is still used")
	}
	if err := os.WriteFile(cert, []byte("half of"), 0o600); err != nil { // in the middle of the next renewal
		t.Fatal(err)
	}
	if err := connect(second); err != nil {
		t.Errorf("a certificate that cannot be read ended the last one: %v", err)
	}
}

// TestAKeyThatEveryoneMayReadIsLoggedOnce, however often clients connect, and is used when that is repaired; a missing
// certificate is logged once, too.
func TestAKeyThatEveryoneMayReadIsLoggedOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := mustCertificate(t, cert, key, 1)
	var log lockedBuffer
	r := newRig(t, func(c *mcpserver.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	addr := r.endpoint(mcpserver.HTTP{Cert: cert, Key: key})
	connect := func(roots *x509.CertPool) {
		t.Helper()
		for range 5 {
			c, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: roots})
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
	}
	connect(first)
	second := mustCertificate(t, cert, key, 2)
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	connect(first)
	if n := strings.Count(log.String(), "chmod 600"); n != 1 {
		t.Errorf("%d lines in the log, want 1:\n%s", n, log.String())
	}
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	connect(second)
	if err := errors.Join(os.Remove(cert), os.Chmod(key, 0o400)); err != nil { // one is missing, the other has changed
		t.Fatal(err)
	}
	connect(second)
	if n := strings.Count(log.String(), "--tls-cert"); n != 1 {
		t.Errorf("%d lines on a missing file, want 1:\n%s", n, log.String())
	}
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestACertificateThatCannotBeUsedIsRefused before the address is opened.
func TestACertificateThatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, other := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "other.pem")
	mustCertificate(t, filepath.Join(dir, "unused.pem"), other, 1)
	mustCertificate(t, cert, key, 1)
	open := filepath.Join(dir, "open.pem")
	b, err := os.ReadFile(key)
	if err == nil {
		err = os.WriteFile(open, b, 0o600)
	}
	if err == nil {
		err = os.Chmod(open, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for want, file := range map[string]string{"--tls-key": filepath.Join(dir, "missing.pem"), "belong together": other, "chmod 600": open} {
		if file == open && runtime.GOOS == "windows" {
			continue
		}
		h := mcpserver.HTTP{Addr: "127.0.0.1:0", Cert: cert, Key: file, Valid: func(string) bool { return true }}
		l, err := h.Listen(t.Context())
		if err == nil {
			_ = l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
