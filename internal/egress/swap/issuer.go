package swap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"

	"hermes/internal/lru"
)

const (
	authorityLife = 365 * 24 * time.Hour
	// clockSkew is by how much the clock of a child may be behind.
	clockSkew = time.Hour
	maxLeaves = 256
)

// issuer signs certificates for declared hosts. Its keys are in memory only, and its own
// certificate says that it may sign for nothing else.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	leaf *ecdsa.PrivateKey // one key for all certificates: they are all ours

	mu   sync.Mutex
	made *lru.Map[string, *tls.Certificate]
}

func newIssuer(domains []string) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of the authority: %w", err)
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of certificates: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:                serial(),
		Subject:                     pkix.Name{CommonName: "Hermes credential swap " + now.UTC().Format("2006-01-02 15:04:05")},
		NotBefore:                   now.Add(-clockSkew),
		NotAfter:                    now.Add(authorityLife),
		KeyUsage:                    x509.KeyUsageCertSign,
		BasicConstraintsValid:       true,
		IsCA:                        true,
		MaxPathLenZero:              true,
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         domains,
		// Limits count for each kind of name apart: without these, it could sign for addresses.
		ExcludedIPRanges: []*net.IPNet{
			{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)},
			{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
		},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	return &issuer{cert: cert, key: key, leaf: leaf, made: lru.New[string, *tls.Certificate](maxLeaves)}, err
}

// certificate returns the certificate of a host. The caller has checked that the host is
// declared.
func (i *issuer) certificate(host string) (*tls.Certificate, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if c, ok := i.made.Get(host); ok {
		return c, nil
	}
	c, err := i.sign(host)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for %s: %w", host, err)
	}
	i.made.Put(host, c)
	return c, nil
}

func (i *issuer) sign(host string) (*tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: serial(),
		NotBefore:    i.cert.NotBefore,
		NotAfter:     i.cert.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{host},
	}
	if len(host) <= 64 { // the limit of a common name
		template.Subject.CommonName = host
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.cert, i.leaf.Public(), i.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: i.leaf}, nil
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return big.NewInt(time.Now().UnixNano()) // crypto/rand never fails: it ends the program instead
	}
	return n.Add(n, big.NewInt(1))
}
