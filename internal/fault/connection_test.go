package fault_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/fault"
)

// flags spells a verdict's flags as a word: r(etry) c(ompress) k(ey) f(all back).
func flags(v fault.Verdict) string {
	var b strings.Builder
	for _, f := range []struct {
		on bool
		as byte
	}{{v.Retry, 'r'}, {v.Compress, 'c'}, {v.Rotate, 'k'}, {v.Fallback, 'f'}} {
		if f.on {
			b.WriteByte(f.as)
		}
	}
	return b.String()
}

func TestSizeDecidesWhereWordsAreMissing(t *testing.T) {
	t.Parallel()
	bare := &fault.Failure{Status: 400, Body: []byte(`{"error":{"message":"Error"}}`)}
	tests := []struct {
		q    fault.Question
		want string
	}{
		{fault.Question{Err: bare, Tokens: 500}, "format_error"},
		{fault.Question{Err: bare, Tokens: 81_000}, "context_overflow"},
		{fault.Question{Err: bare, Messages: 81}, "context_overflow"},
		{fault.Question{Err: bare, Tokens: 4000, Window: 8192}, "context_overflow"},
		{fault.Question{Err: bare, Tokens: 81_000, Messages: 99, Window: 1_000_000}, "format_error"},
		{fault.Question{Err: fault.ErrCut, Tokens: 500}, "timeout"},
		{fault.Question{Err: fault.ErrCut, Tokens: 121_000}, "context_overflow"},
		{fault.Question{Err: fmt.Errorf("read: %w", io.ErrUnexpectedEOF), Messages: 201}, "context_overflow"},
	}
	for _, tt := range tests {
		got := fault.Classify(tt.q)
		if got.Class != tt.want {
			t.Errorf("%+v: got %s, want %s", tt.q, got.Class, tt.want)
		}
		if got.Class == "context_overflow" && flags(got) != "rc" { // a guess may be wrong
			t.Errorf("%+v: got %q", tt.q, flags(got))
		}
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err         error
		class, help string
	}{
		{context.DeadlineExceeded, "timeout", "rf"},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, "timeout", "rf"},
		{&net.DNSError{Err: "no such host"}, "timeout", "rf"},
		{x509.UnknownAuthorityError{}, "ssl_cert_verification", "f"},
		{fault.ErrEmpty, "server_error", "rf"},
		{fmt.Errorf("%w: nonsense", fault.ErrGarbage), "server_error", "rf"},
		{fault.ErrNotAPI, "format_error", "f"},
		{errors.New("remote error: tls: handshake failure"), "timeout", "rf"},
	}
	for _, tt := range tests {
		got := fault.Classify(fault.Question{Err: fmt.Errorf("ask: %w", tt.err), Messages: 500})
		if got.Class != tt.class || flags(got) != tt.help {
			t.Errorf("%v: got %s %q, want %s %q", tt.err, got.Class, flags(got), tt.class, tt.help)
		}
	}
}

// circle is an error that wraps itself.
type circle struct{}

func (c *circle) Error() string { return "circle" }
func (c *circle) Unwrap() error { return c }

func TestCircleDoesNotHang(t *testing.T) {
	t.Parallel()
	if got := fault.Classify(fault.Question{Err: &circle{}}); got.Class != "unknown" || !got.Retry {
		t.Errorf("%+v", got)
	}
}

func TestConnectionsAreReportedInPlainWords(t *testing.T) {
	t.Parallel()
	_, refused := http.Get("http://127.0.0.1:1/v1/models")
	post := func(err error) error { return &url.Error{Op: "Post", URL: "http://h/v1", Err: err} }
	tests := []struct {
		err  error
		want string
	}{
		{refused, "cannot connect to 127.0.0.1:1 (connection refused); check that the server is running and the base URL is right"},
		{post(&net.OpError{Op: "dial", Err: &net.DNSError{Name: "nowhere.invalid"}}), "host nowhere.invalid not found; check the network and the base URL"},
		{post(io.ErrUnexpectedEOF), "the connection was cut off in the middle of the answer"},
		{post(io.EOF), "the service closed the connection without an answer"},
	}
	for _, tt := range tests {
		got := fault.Classify(fault.Question{Err: tt.err})
		if got.Message != tt.want || got.Class != "timeout" || !got.Retry {
			t.Errorf("%v: %+v, want %q", tt.err, got, tt.want)
		}
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{"error":{"message":"nested"}}`:           "nested",
		`{"message":"flat"}`:                       "flat",
		`{"error":"text"}`:                         "text",
		`[{"error":{"message":"list"}}]`:           "list",
		`"a string"`:                               "a string",
		`plain words`:                              "plain words",
		`{"errorMessage":"other","errorCode":"X"}`: "other",
		`{"detail":[{"msg":"field required"}]}`:    "field required",
		`{"error":{"message":"outer","metadata":{"raw":"{\"error\":{\"message\":\"in\"}}"}}}`: "in",
		`{"error":{"message":"{\"error\":{\"message\":\"wrapped\"}}"}}`:                       "wrapped",
		"":                                "the service gave no reason (Bad Request)",
		`<html><body>nginx</body></html>`: "the service gave no reason (Bad Request)",
	}
	for body, want := range tests {
		got := fault.Classify(fault.Question{Err: &fault.Failure{Status: 400, Body: []byte(body)}})
		if got.Message != want || got.Status != 400 {
			t.Errorf("%s: got %q, want %q", body, got.Message, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		in   string
		want time.Duration
		ok   bool
	}{
		{"30", 30 * time.Second, true},
		{" 1.5 ", 1500 * time.Millisecond, true},
		{"0", 0, true},
		{"-5", 0, true},
		{"1e300", 0, true}, // absurd
		{"Fri, 01 May 2026 12:01:00 GMT", time.Minute, true},
		{"Fri, 01 May 2026 11:00:00 GMT", 0, true},
		{"soon", 0, false},
		{"", 0, false},
		{"NaN", 0, false},
	}
	for _, tt := range tests {
		if got, ok := fault.RetryAfter(tt.in, now); got != tt.want || ok != tt.ok {
			t.Errorf("%q: got %v, %v", tt.in, got, ok)
		}
	}
	f := &fault.Failure{Status: 429, Header: http.Header{"Retry-After": {"7"}}}
	if got := fault.Classify(fault.Question{Err: f, Now: now}); got.RetryAfter != 7*time.Second {
		t.Errorf("header: %v", got.RetryAfter)
	}
}

// TestNeverCompresses holds what never compresses, however large the session.
func TestNeverCompresses(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		&net.OpError{Op: "proxyconnect", Err: syscall.ECONNRESET},
		&net.DNSError{Err: "no such host", Name: "x"},
		syscall.EHOSTUNREACH,
		&net.OpError{Op: "remote error", Err: errors.New("tls: bad record MAC")},
		tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"},
		errors.New("net/http: TLS handshake timeout"),
		errors.New("http: server gave HTTP response to HTTPS client"),
		os.ErrDeadlineExceeded,
		&fault.Failure{Status: 408},
	} {
		got := fault.Classify(fault.Question{Err: fmt.Errorf("ask: %w", err), Tokens: 1 << 20, Messages: 999})
		if got.Class != "timeout" || flags(got) != "rf" {
			t.Errorf("%v: got %s %q", err, got.Class, flags(got))
		}
	}
}

func TestDropsAreWeighed(t *testing.T) {
	t.Parallel()
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, errors.New("http2: server sent GOAWAY and closed the connection"), fault.ErrCut} {
		for _, tt := range []struct {
			q    fault.Question
			want string
		}{
			{fault.Question{Tokens: 100_000, Window: 200_000}, "timeout"},
			{fault.Question{Tokens: 121_000, Window: 200_000}, "context_overflow"},
			{fault.Question{Tokens: 5_000, Window: 8_192}, "context_overflow"},
			{fault.Question{Messages: 201}, "context_overflow"},
			{fault.Question{Tokens: 130_000, Messages: 300, Window: 1_000_000}, "timeout"},
			{fault.Question{Tokens: 610_000, Window: 1_000_000}, "context_overflow"},
		} {
			tt.q.Err = &url.Error{Op: "Post", URL: "http://h", Err: err}
			if got := fault.Classify(tt.q); got.Class != tt.want {
				t.Errorf("%v with %+v: got %s, want %s", err, tt.q, got.Class, tt.want)
			}
		}
	}
}

// coded is an error of another library.
type coded struct {
	error
	status int
	code   string
}

func (c coded) HTTPStatusCode() int { return c.status }
func (c coded) ErrorCode() string   { return c.code }

func TestErrorsOfOtherLibraries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  coded
		want string
	}{
		{coded{errors.New("x"), 429, "ThrottlingException"}, "rate_limit"},
		{coded{errors.New("Input is too long for requested model."), 400, "ValidationException"}, "context_overflow"},
		{coded{errors.New("x"), 0, "AccessDeniedException"}, "auth"},
		{coded{errors.New("x"), 503, ""}, "overloaded"},
	}
	for _, tt := range tests {
		got := fault.Classify(fault.Question{Err: fmt.Errorf("ask: %w", tt.err)})
		if got.Class != tt.want || got.Status != tt.err.status {
			t.Errorf("%+v: got %+v", tt.err, got)
		}
	}
}

func TestACircleHoldsItsFailure(t *testing.T) {
	t.Parallel()
	loop := &looped{}
	loop.errs = []error{loop, &fault.Failure{Status: 429}}
	if got := fault.Classify(fault.Question{Err: loop}); got.Class != "rate_limit" {
		t.Errorf("got %+v", got)
	}
}

type looped struct{ errs []error }

func (l *looped) Error() string   { return "looped" }
func (l *looped) Unwrap() []error { return l.errs }
