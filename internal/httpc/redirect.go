package httpc

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Redirects says which redirects a client follows. A redirect is the word of a
// server: it must not choose who receives a key, or turn a request into another
// one. The zero value is the most careful policy that services with keys need.
type Redirects int

// The policies.
const (
	// WithinOrigin is for requests that may carry keys, in a header, a query or
	// the body. It follows a redirect only to the same scheme, host and port,
	// with the same method and body, and without TLS only on this machine.
	WithinOrigin Redirects = iota
	// Downloads is for public files that services keep on other hosts. GET and
	// HEAD may go to another https origin, without what identifies the user.
	// Anything else is treated as WithinOrigin does.
	Downloads
	// Pages is for web pages, which have no keys: as Downloads, and pages
	// without TLS may be read too.
	Pages
)

// mostRedirects is how many redirects of one request are followed.
const mostRedirects = 5

// Client returns a copy of a client that follows the policy, whatever its own
// was. Nil is a client with Go's usual transport.
func (r Redirects) Client(c *http.Client) *http.Client {
	own := http.Client{}
	if c != nil {
		own = *c
	}
	own.CheckRedirect = r.Check
	return &own
}

// Check is the CheckRedirect of http.Client. It returns nil or a *RedirectError.
func (r Redirects) Check(req *http.Request, via []*http.Request) error {
	return r.UpTo(mostRedirects)(req, via)
}

// UpTo is Check with another number of redirects to follow.
func (r Redirects) UpTo(most int) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		why := r.refuses(req, via)
		if len(via) > most {
			why = fmt.Sprintf("it redirects more than %d times", most)
		}
		if why != "" {
			return newRedirectError(req, via[len(via)-1], why)
		}
		req.Header.Del("Referer") // it repeats the query, where a key may be
		if !sameOrigin(req, via) {
			anonymous(req.Header)
		}
		return nil
	}
}

// refuses returns why a redirect is not followed, or "".
func (r Redirects) refuses(req *http.Request, via []*http.Request) string {
	first, to := via[0], req.URL
	same := Origin(to) == Origin(first.URL)
	reads := first.Method == http.MethodGet || first.Method == http.MethodHead
	switch {
	case to.User != nil:
		return "the new address has a user name"
	case to.Scheme != "https" && to.Scheme != "http":
		return fmt.Sprintf("the new address begins with %s:", to.Scheme)
	case to.Scheme == "http" && !(same && loopback(to.Hostname())) && !(r == Pages && reads):
		return "the new address is not encrypted"
	case !same && (r == WithinOrigin || !reads):
		return "the new address is another server, which must not get your keys and messages"
	case req.Method != first.Method:
		return fmt.Sprintf("it would turn the %s into a %s and lose its content", first.Method, req.Method)
	}
	return ""
}

// Origin identifies the server that keys belong to: scheme, host and port.
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// sameOrigin reports whether a chain of requests never left its origin.
func sameOrigin(req *http.Request, via []*http.Request) bool {
	for _, v := range via {
		if Origin(v.URL) != Origin(req.URL) {
			return false
		}
	}
	return true
}

// anonymous removes all headers but those that every browser sends to everyone.
// So a header is safe without being known here.
func anonymous(h http.Header) {
	for name := range h {
		switch name {
		case "Accept", "Accept-Language", "User-Agent":
		default:
			delete(h, name)
		}
	}
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// RedirectError says that a redirect was not followed. Its addresses have no
// query and no user part, where keys could be.
type RedirectError struct {
	From, To *url.URL
	Status   int
	Why      string
}

func newRedirectError(req, last *http.Request, why string) *RedirectError {
	e := &RedirectError{From: bare(last.URL), To: bare(req.URL), Why: why}
	if req.Response != nil {
		e.Status = req.Response.StatusCode
	}
	return e
}

func bare(u *url.URL) *url.URL { return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path} }

// Error says who redirects where, and why that is not followed.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("%s redirects to %s, which is not followed: %s", e.From.Host, e.To, e.Why)
}

// StatusCode returns the status of the answer, by which callers classify the error:
// the same request meets the same redirect again.
func (e *RedirectError) StatusCode() int { return e.Status }

// NewBase returns the base URL to set if the user wants the new address: base,
// moved as the request was. It is "" if that is not encrypted or not clear.
func (e *RedirectError) NewBase(base string) string {
	u, err := url.Parse(base)
	if err != nil || e.To.Scheme != "https" {
		return ""
	}
	if e.From.Path == e.To.Path { // only the server changed
		return (&url.URL{Scheme: e.To.Scheme, Host: e.To.Host, Path: u.Path}).String()
	}
	below, ok := strings.CutPrefix(e.From.Path, strings.TrimRight(u.Path, "/"))
	root, moved := strings.CutSuffix(e.To.Path, below)
	if !ok || !moved || below == "" {
		return ""
	}
	return (&url.URL{Scheme: e.To.Scheme, Host: e.To.Host, Path: root}).String()
}
