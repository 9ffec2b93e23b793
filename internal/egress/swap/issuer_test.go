package swap

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/atomicfile"
)

func mustIssuer(t *testing.T) *issuer {
	t.Helper()
	i, err := newIssuer([]string{"api.example.test", "wild.example.test"})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func mustSign(t *testing.T, i *issuer, host string) *x509.Certificate {
	t.Helper()
	c, err := i.certificate(host)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// TestAuthorityIsGoodForDeclaredHostsOnly: were its key to leak, it could speak for no other.
func TestAuthorityIsGoodForDeclaredHostsOnly(t *testing.T) {
	t.Parallel()
	i := mustIssuer(t)
	pool := x509.NewCertPool()
	pool.AddCert(i.cert)
	for host, want := range map[string]bool{
		"api.example.test": true, "a.wild.example.test": true, "example.test": false, "other.test": false, "xapi.example.test": false, "127.0.0.1": false,
	} {
		_, err := mustSign(t, i, host).Verify(x509.VerifyOptions{DNSName: host, Roots: pool})
		if (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
	address := net.ParseIP("127.0.0.1")
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: i.cert.NotAfter, IPAddresses: []net.IP{address}, DNSNames: []string{"api.example.test"}}
	der, err := x509.CreateCertificate(rand.Reader, template, i.cert, i.leaf.Public(), i.key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: "127.0.0.1", Roots: pool}); err == nil {
		t.Error("it can sign for addresses")
	}
	if !i.cert.PermittedDNSDomainsCritical || i.cert.KeyUsage != x509.KeyUsageCertSign || !i.cert.MaxPathLenZero {
		t.Errorf("%+v", i.cert)
	}
}

func TestOpenSSLObeysTheLimits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is missing")
	}
	i, dir := mustIssuer(t), t.TempDir()
	write := func(name string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := atomicfile.Write(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), atomicfile.Options{}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	root := write("root", i.cert.Raw)
	for host, want := range map[string]bool{"api.example.test": true, "other.test": false} {
		out, err := exec.Command("openssl", "verify", "-x509_strict", "-verify_hostname", host, "-CAfile", root, write("leaf", mustSign(t, i, host).Raw)).CombinedOutput()
		if (err == nil) != want || !want && !strings.Contains(string(out), "permitted subtree") {
			t.Errorf("%s: %v %s", host, err, out)
		}
	}
}

func TestLeavesAreKeptAndBounded(t *testing.T) {
	t.Parallel()
	i := mustIssuer(t)
	first, _ := i.certificate("api.example.test")
	if again, _ := i.certificate("api.example.test"); again != first {
		t.Error("a certificate was made twice")
	}
	for n := range maxLeaves + 10 {
		if _, err := i.certificate(strings.Repeat("a", n%50+1) + "." + strings.Repeat("b", n/50+1) + ".wild.example.test"); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := i.certificate("api.example.test"); again == first {
		t.Error("the certificates are not bounded")
	}
}

func TestBundleNeedsTheSystemsAuthorities(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := New(Config{Bundle: filepath.Join(dir, "none"), Secrets: []Secret{{Name: "A", Value: realKey, Hosts: []string{"a.test"}, Methods: []string{"*"}, Paths: []string{"/"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if env, err := s.Environ(filepath.Join(dir, "out")); err == nil || env != nil {
		t.Errorf("%v, %v", env, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a folder was made")
	}
}

func TestSystemsAuthoritiesRemainInTheBundle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	system := mustIssuer(t)
	// Without a line break at the end, and with a note in between, as some systems have them.
	text := "# a note\n" + strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: system.cert.Raw})))
	if err := os.WriteFile(filepath.Join(dir, "system.pem"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Bundle: filepath.Join(dir, "system.pem"), Secrets: []Secret{{Name: "A", Value: realKey, Hosts: []string{"a.test"}, Methods: []string{"*"}, Paths: []string{"/"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Environ(dir); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "authorities.pem"))
	if got := readPEM(content); err != nil || len(got) != 2 || !got[0].Equal(system.cert) || !got[1].Equal(s.issuer.cert) {
		t.Errorf("%d certificates, %v", len(got), err)
	}
}
