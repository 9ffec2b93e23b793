package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
)

// TLS is how the server and the client prove who they are, as the settings of a server have it.
type TLS struct {
	// Cert and Key are files of the client's certificate (client_cert, client_key); the key may
	// be in the file of the certificate.
	Cert, Key string
	// CA is a file with the authorities to accept (ssl_verify); "" is the system's.
	CA string
	// Insecure accepts any certificate of the server (ssl_verify: false).
	Insecure bool
}

// certificates are the rules for the three kinds of hosts.
type certificates struct {
	server *tls.Config // the server itself
	own    *tls.Config // its host, without the client's certificate
	others *tls.Config // the authorities of the user in addition to those of the system
}

func (t TLS) load() (certificates, error) {
	c := certificates{server: &tls.Config{InsecureSkipVerify: t.Insecure}, own: &tls.Config{InsecureSkipVerify: t.Insecure}, others: &tls.Config{}}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return c, fmt.Errorf("ssl_verify: %w", plain(t.CA, err))
		}
		only := x509.NewCertPool()
		if !only.AppendCertsFromPEM(pem) {
			return c, fmt.Errorf("ssl_verify names %s, which has no certificate in the form PEM", t.CA)
		}
		more, err := x509.SystemCertPool()
		if err != nil {
			more = x509.NewCertPool()
		}
		more.AppendCertsFromPEM(pem)
		c.server.RootCAs, c.own.RootCAs, c.others.RootCAs = only, only, more
	}
	if t.Cert == "" {
		return c, nil
	}
	key, setting := t.Key, "client_key"
	if key == "" {
		key, setting = t.Cert, "client_cert"
	}
	cert, err := os.ReadFile(t.Cert)
	if err != nil {
		return c, fmt.Errorf("client_cert: %w", plain(t.Cert, err))
	}
	secret, err := os.ReadFile(key)
	if err != nil {
		return c, fmt.Errorf("%s: %w", setting, plain(key, err))
	}
	pair, err := tls.X509KeyPair(cert, secret)
	if err != nil {
		return c, fmt.Errorf("client_cert and client_key are not a certificate and its key in the form PEM: %w", err)
	}
	c.server.Certificates = []tls.Certificate{pair}
	return c, nil
}

// plain words an error of reading a file.
func plain(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s", path)
	}
	return fmt.Errorf("cannot read %s: %w", path, err)
}

// readable names the setting that helps with a certificate.
func readable(host string, err error) error {
	switch {
	case err == nil:
		return nil
	case is[*tls.CertificateVerificationError](err):
		return fmt.Errorf("the certificate of %s is not accepted: %w; if it is from an authority of your own, set ssl_verify to the file with that authority", host, err)
	case alert(err):
		return fmt.Errorf("%s refused the connection: %w; if it asks for a certificate, set client_cert and client_key", host, err)
	case is[tls.RecordHeaderError](err):
		return fmt.Errorf("%s does not speak TLS there; check https:// in the url", host)
	}
	return err
}

// alert reports whether the other side ended the handshake.
func alert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
