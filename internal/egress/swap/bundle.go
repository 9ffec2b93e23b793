package swap

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hermes/internal/atomicfile"
)

// bundles are where systems keep the authorities that they trust, in one file.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch, Gentoo, NixOS
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora and RHEL, older
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/tls/cacert.pem",                           // OpenELEC
	"/etc/ssl/cert.pem",                                 // Alpine, macOS, the BSDs
	"/usr/local/etc/ssl/cert.pem",                       // FreeBSD
}

// The variables by which programs find their authorities: those that replace the system's, and
// those that add to them.
var (
	replacing = []string{
		"SSL_CERT_FILE", "NIX_SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
		"CARGO_HTTP_CAINFO", "PIP_CERT", "AWS_CA_BUNDLE", "HTTPLIB2_CA_CERTS", "HEX_CACERTS_PATH", "npm_config_cafile", "YARN_HTTPS_CA_FILE_PATH",
		"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "PERL_LWP_SSL_CA_FILE",
	}
	adding = []string{"NODE_EXTRA_CA_CERTS", "DENO_CERT"}
)

const bundleMode = 0o644 // children may run as another user; nothing in it is secret

// Environ writes what programs need to accept the authority into a folder, which it makes if it
// is missing, and returns the variables that name it. Children must be able to read the folder
// and must not be able to write to it. With no declared secret it does nothing.
func (s *Swap) Environ(dir string) ([]string, error) {
	if len(s.secrets) == 0 {
		return nil, nil
	}
	system, err := s.systemBundle()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of authorities: %w", err)
	}
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.issuer.cert.Raw})
	all, one := filepath.Join(dir, "authorities.pem"), filepath.Join(dir, "hermes.pem")
	if err := errors.Join(writeBundle(all, append(system, own...)), writeBundle(one, own)); err != nil {
		return nil, err
	}
	var out []string
	for _, name := range replacing {
		out = append(out, name+"="+all)
	}
	for _, name := range adding {
		out = append(out, name+"="+one)
	}
	if !s.config.Java {
		return out, nil
	}
	store := filepath.Join(dir, "authorities.p12")
	content, err := trustStore(append(readPEM(system), s.issuer.cert))
	if err != nil {
		return nil, fmt.Errorf("make the trust store of the JVM: %w", err)
	}
	return append(out, "JAVA_TOOL_OPTIONS="+javaOptions(store)), writeBundle(store, content)
}

func writeBundle(path string, content []byte) error {
	if err := atomicfile.Write(path, content, atomicfile.Options{Mode: bundleMode, Force: true}); err != nil {
		return fmt.Errorf("write authorities: %w", err)
	}
	return nil
}

// systemBundle returns the system's authorities as PEM, with a line break at the end.
func (s *Swap) systemBundle() ([]byte, error) {
	places := bundles
	if s.config.Bundle != "" {
		places = []string{s.config.Bundle}
	}
	for _, path := range places {
		content, err := os.ReadFile(path)
		if err == nil && len(readPEM(content)) > 0 {
			return append(content, '\n'), nil
		}
	}
	return nil, fmt.Errorf("found no list of the system's authorities (looked for %s and others): install ca-certificates", places[0])
}

// readPEM returns the certificates of a file; what cannot be read is passed over, as TLS
// libraries do.
func readPEM(content []byte) []*x509.Certificate {
	var out []*x509.Certificate
	for {
		block, rest := pem.Decode(content)
		if block == nil {
			return out
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			out = append(out, c)
		}
		content = rest
	}
}
