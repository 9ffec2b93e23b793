package fault

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// maxChain is longer than any real chain of wrapped errors.
const maxChain = 100

// chainOf lists an error and all that it wraps, outermost first. It also ends
// if an error wraps itself.
func chainOf(err error) []error {
	var chain []error
	open := []error{err}
	for len(open) > 0 && len(chain) < maxChain {
		err, open = open[0], open[1:]
		if err == nil {
			continue
		}
		chain = append(chain, err)
		switch w := err.(type) {
		case interface{ Unwrap() error }:
			open = append(open, w.Unwrap())
		case interface{ Unwrap() []error }:
			open = append(open, w.Unwrap()...)
		}
	}
	return chain
}

// find is errors.AsType on a finite chain.
func find[T any](chain []error) (T, bool) {
	for _, err := range chain {
		if t, ok := err.(T); ok {
			return t, true
		}
	}
	var none T
	return none, false
}

// is is errors.Is on the chain. Comparing errors of an incomparable type would
// panic, but the targets are pointers and numbers.
func (f *facts) is(targets ...error) bool {
	for _, err := range f.chain {
		for _, t := range targets {
			if e, ok := err.(interface{ Is(error) bool }); ok && e.Is(t) || err == t {
				return true
			}
		}
	}
	return false
}

// own classifies what our transports found wrong without an error from the
// service.
func (f *facts) own() *Verdict {
	switch {
	case f.failure != nil:
	case f.is(ErrNotAPI), f.tooLarge():
		return &format
	case f.is(ErrEmpty, ErrGarbage):
		return &serverError
	}
	return nil
}

// tooLarge reports an answer that exceeded a limit of its reader. A retry would
// fail the same way.
func (f *facts) tooLarge() bool {
	e, ok := find[interface{ TooLarge() bool }](f.chain)
	return ok && e.TooLarge()
}

// byTLS separates certificate and handshake errors from errors about size, so
// that they never lead to compression.
func (f *facts) byTLS() *Verdict {
	switch {
	case f.untrusted():
		return &certificate
	case f.handshake():
		return &timeout
	}
	return nil
}

func (f *facts) untrusted() bool {
	for _, err := range f.chain {
		switch err.(type) {
		case x509.UnknownAuthorityError, x509.HostnameError, x509.CertificateInvalidError, *tls.CertificateVerificationError:
			return true
		}
	}
	return f.has("x509:|certificate_verify_failed|certificate verify failed|self-signed certificate|self signed certificate|" +
		"unable to get local issuer|certificate has expired|hostname mismatch")
}

func (f *facts) handshake() bool {
	for _, err := range f.chain {
		switch err.(type) {
		case tls.RecordHeaderError, *tls.RecordHeaderError, tls.AlertError:
			return true
		}
	}
	return f.failure == nil && f.has("tls:|tls handshake|ssl|bad record mac|handshake|http response to https client|http request to an https server")
}

// byDrop classifies a connection that the service dropped. For a large request,
// its size is the most likely cause.
func (f *facts) byDrop() *Verdict {
	if f.never() || !f.dropped() {
		return nil
	}
	if f.large(60, 120_000, 200) {
		return &likelyOverflow
	}
	return &timeout
}

// never reports a connection that was never established.
func (f *facts) never() bool {
	if _, ok := find[*net.DNSError](f.chain); ok {
		return true
	}
	if op, ok := find[*net.OpError](f.chain); ok && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect") {
		return true
	}
	return f.is(syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH) ||
		f.failure == nil && f.has("connection refused|no such host|no route to host|network is unreachable|name resolution|proxyconnect")
}

func (f *facts) dropped() bool {
	return f.is(ErrCut, io.ErrUnexpectedEOF, io.EOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed) ||
		f.failure == nil && f.has("connection reset|broken pipe|server closed|server disconnected|connection was closed|connection closed|"+
			"peer closed|unexpected eof|incomplete chunked|forcibly closed|stream error|goaway|connection lost")
}

// byKind classifies a failure below HTTP.
func (f *facts) byKind() *Verdict {
	if f.never() || f.timedOut() {
		return &timeout
	}
	return nil
}

func (f *facts) timedOut() bool {
	for _, err := range f.chain {
		if t, ok := err.(interface{ Timeout() bool }); ok && t.Timeout() {
			return true
		}
	}
	return f.is(context.DeadlineExceeded, os.ErrDeadlineExceeded) || f.failure == nil && f.has("timed out|deadline exceeded|timeout")
}

// describe returns the service's error text, or our own description.
func (f *facts) describe() string {
	if f.failure == nil {
		return cmp.Or(shorten(f.connection()), "the call failed for an unknown reason")
	}
	if f.message != "" {
		return f.message
	}
	if text := strings.TrimSpace(string(f.failure.Body)); len(text) > 2 && (text[0] == '{' || text[0] == '[') {
		return shorten(text)
	}
	if text := http.StatusText(f.status); text != "" {
		return "the service gave no reason (" + text + ")"
	}
	return "the service gave no reason"
}

// connection says in plain words why a call got no answer.
func (f *facts) connection() string {
	if f.Err == nil {
		return ""
	}
	if lookup, ok := find[*net.DNSError](f.chain); ok {
		return fmt.Sprintf("host %s not found; check the network and the base URL", lookup.Name)
	}
	if op, ok := find[*net.OpError](f.chain); ok && op.Op == "dial" && op.Addr != nil {
		return fmt.Sprintf("cannot connect to %s (%v); check that the server is running and the base URL is right", op.Addr, f.chain[len(f.chain)-1])
	}
	if f.untrusted() {
		return "the service's certificate is not trusted: " + plain(f.Err)
	}
	return plain(f.Err)
}

// plain returns the text of an error without the request it belongs to.
func plain(err error) string {
	if u, ok := find[*url.Error](chainOf(err)); ok && u.Err != error(u) {
		err = u.Err
	}
	chain := chainOf(err)
	if op, ok := find[*net.OpError](chain); ok && op.Op == "proxyconnect" {
		return "cannot connect to the proxy: " + chain[len(chain)-1].Error()
	}
	switch last(chain) {
	case io.ErrUnexpectedEOF:
		return "the connection was cut off in the middle of the answer"
	case io.EOF:
		return "the service closed the connection without an answer"
	}
	return err.Error()
}

func last(chain []error) error {
	if len(chain) == 0 {
		return nil
	}
	return chain[len(chain)-1]
}
