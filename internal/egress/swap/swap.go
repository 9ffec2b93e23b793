// Package swap keeps the secrets of sandboxed children in this process. A child sees a
// placeholder; where it talks to a declared host through the egress proxy, Swap ends the TLS
// connection under an authority of its own and puts the real value into the request that
// goes on to the real host.
//
// The proxy knows it by three methods:
//
//	Handles(host string, port uint16) bool
//	Serve(ctx context.Context, client net.Conn, host string, port uint16,
//		dial func(context.Context) (net.Conn, error)) error
//	Environ(dir string) ([]string, error)
//
// It must not know sessions, prompts or settings. A swap protects the value, not what can be
// done with it: that is what the methods and paths of a Secret are for. What cannot be swapped:
// signatures made with the key (SigV4, HMAC, Digest), SSH, GPG, client certificates; and it
// never changes the body of a request. docs/egress-swap.md says what replies are searched for.
// Start reading at New and Serve; the rules for one request are in request.go.
package swap

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"

	"hermes"
)

// Config is what a Swap is made from.
type Config struct {
	// Secrets are the declared secrets. With none, nothing is handled.
	Secrets []Secret
	// MayWrite is asked before a value goes out with a request that may change
	// something: each method but GET, HEAD and OPTIONS, and each WebSocket. Its error
	// refuses the request and is shown to the child. Nil allows all. The context is
	// that of Serve and ends with the request. It may be called concurrently.
	MayWrite func(context.Context, Request) error
	// Refused is told each refusal; nil is allowed. It may be called concurrently and
	// must not block.
	Refused func(Refusal)
	// Roots are authorities that real hosts may have besides those of the system.
	Roots []*x509.Certificate
	// Bundle is the file with the system's authorities that children get as well. When
	// empty, the usual places are tried.
	Bundle string
	// Java adds a trust store for the JVM, and the option that names it.
	Java bool
	// Limits bound what processes can use up.
	Limits Limits
}

// Secret is one declared secret: what it is, and where its value may go.
type Secret struct {
	// Name is the variable in which a child sees the placeholder, such as GITHUB_TOKEN.
	Name string
	// Value is the real secret, of at least 8 bytes.
	Value hermes.Secret
	// Hosts are names, or "*.example.org" for all names below one, each with ":port"
	// where it is not 443.
	Hosts []string
	// Methods are the HTTP methods; "*" is every method.
	Methods []string
	// Paths are what the value may be used for. "/me/repo" is that path and all below;
	// "/" is everything. A path with "*" (anything within one segment) or "**" (anything)
	// must match as a whole.
	Paths []string
	// Headers are where the placeholder is looked for. When nil: Authorization and the
	// usual headers for keys. Cookie counts only if it is named here.
	Headers []string
	// Query are parameters of the URL in which the placeholder is replaced.
	Query []string
	// Placeholder is what the child sees. New makes one; only tests set it.
	Placeholder string
}

// Request is a write for which a value would be used. It holds no secret.
type Request struct {
	Host    string
	Port    uint16
	Method  string
	Path    string
	Secrets []string // the names, sorted
}

// Refusal is one request or connection that was not let through. Method and Path are empty
// for a connection. It holds no secret.
type Refusal struct {
	Host   string
	Port   uint16
	Method string
	Path   string
	Text   string // for the user and the model: what was refused, and what to do
}

// Swap is made by New. All methods may be called concurrently.
type Swap struct {
	config   Config
	secrets  []*secret
	values   *patterns
	issuer   *issuer
	roots    func() (*x509.CertPool, error)
	sessions tls.ClientSessionCache
	requests chan struct{} // one for each request in flight
	conns    chan struct{} // one for each connection to a host
}

// New checks the declarations, makes the placeholders and the authority. The key of the
// authority stays in memory.
func New(c Config) (*Swap, error) {
	c.Limits = c.Limits.withDefaults()
	s := &Swap{
		config: c, sessions: tls.NewLRUClientSessionCache(0),
		requests: make(chan struct{}, c.Limits.Requests), conns: make(chan struct{}, c.Limits.Conns),
	}
	s.roots = sync.OnceValues(s.readRoots)
	if len(c.Secrets) == 0 {
		return s, nil
	}
	var forms []pattern
	seen := map[string]bool{}
	for _, d := range c.Secrets {
		one, err := declare(d)
		if err != nil {
			return nil, fmt.Errorf("secret %s: %w", d.Name, err)
		}
		if seen[one.name] {
			return nil, fmt.Errorf("secret %s: declared twice; put its hosts into one declaration", one.name)
		}
		seen[one.name] = true
		s.secrets = append(s.secrets, one)
		forms = append(forms, formsOf(one.value, one.placeholder)...)
	}
	s.values = newPatterns(forms)
	issuer, err := newIssuer(s.domains())
	s.issuer = issuer
	return s, err
}

// Handles reports whether connections to a host go through Serve. The host is in lower case,
// in ASCII, without a final dot.
func (s *Swap) Handles(host string, port uint16) bool {
	for _, one := range s.secrets {
		if one.forHost(host, port) {
			return true
		}
	}
	return false
}

// Placeholders returns NAME=placeholder for the environment of children.
func (s *Swap) Placeholders() []string {
	var out []string
	for _, one := range s.secrets {
		out = append(out, one.name+"="+one.placeholder)
	}
	return out
}

// domains are the names that the authority is limited to.
func (s *Swap) domains() []string {
	var out []string
	for _, one := range s.secrets {
		for _, h := range one.hosts {
			out = append(out, h.name)
		}
	}
	return out
}

func (s *Swap) readRoots() (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's authorities: %w", err)
	}
	if len(s.config.Roots) > 0 {
		pool = pool.Clone()
	}
	for _, c := range s.config.Roots {
		pool.AddCert(c)
	}
	return pool, nil
}

// refuse records a refusal.
func (s *Swap) refuse(r Refusal) {
	if s.config.Refused != nil {
		s.config.Refused(r)
	}
}

var errNotDeclared = errors.New("no secret is declared for this host")
