// Package oauth logs a person in at a service and renews what comes of it:
// the authorization code with PKCE over a loopback redirect (RFC 6749, 7636,
// 8252), the device code (RFC 8628) and the refresh of tokens. Values in,
// tokens out; it keeps nothing and knows no service by name.
//
// It is written by hand: a server's answer must never reach an error or a log
// as it is, the polling must follow a clock that tests steer, and services
// differ in ways that a general library hides. Nothing prints a token: Token
// shows itself hidden, and an Error holds a code and the service's description
// with every secret of the request taken out.
//
// Start reading at Config, then code.go (browser), device.go, exchange.go.
package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Config is one service's way to log in. It is not changed afterwards and may
// be used concurrently.
type Config struct {
	ClientID     string
	ClientSecret string // public clients have none
	AuthURL      string // where the browser is sent; empty: no browser flow
	TokenURL     string
	DeviceURL    string // where a device code is asked for; empty: no device flow
	Scopes       []string
	// Redirect is the loopback address that the service sends the browser back
	// to; port 0 is any free one. Empty is http://127.0.0.1:0/callback.
	Redirect string
	// Form is what the service does differently.
	Form Form
	// Params go into the address that the browser opens.
	Params map[string]string

	Client *http.Client // nil is http.DefaultClient
	// Now, Sleep and Rand steer the flows; nil is the real thing.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	Rand  io.Reader
}

// Form is a variant of the protocol.
type Form string

// The forms. The zero value follows the standards.
const (
	FormStandard Form = ""
	// FormKey gives a lasting API key for the code: the redirect is called
	// callback_url, the exchange is JSON, and there is no client id. OpenRouter
	// does it so.
	FormKey Form = "key"
	// FormDevicePKCE proves the device flow with PKCE, too.
	FormDevicePKCE Form = "device_pkce"
)

// Token is what a login or a refresh gives. It does not print itself.
type Token struct {
	Access  string
	Refresh string // empty: the old one stays valid, or there is none
	ID      string // the OpenID token, if there is one
	Scope   string
	Expires time.Time // zero: not said
	// Resource is the address that the token is for, where the service names one.
	Resource string
	// Account is the person's own id at the service, where it is known.
	Account string
	// Lasting marks an API key, which is never refreshed.
	Lasting bool
}

// String says what it is and hides the rest.
func (t Token) String() string {
	if t.Access == "" {
		return "no token"
	}
	if t.Expires.IsZero() {
		return "a token"
	}
	return "a token until " + t.Expires.UTC().Format(time.RFC3339)
}

// GoString hides the token from %#v.
func (t Token) GoString() string { return t.String() }

// Format hides the token from every verb.
func (t Token) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, t.String()) }

// LogValue hides the token in logs.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText hides the token in JSON and other encodings.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Errors that callers decide by.
var (
	// ErrDenied means that the person, or the service in their name, said no.
	ErrDenied = errors.New("the login was refused")
	// ErrExpired means that the login was not finished in time.
	ErrExpired = errors.New("the login was not finished in time; start it again")
	// ErrRevoked means that a refresh token is no longer valid: only a new login helps.
	ErrRevoked = errors.New("the login is no longer valid; log in again")
	// ErrState means that an answer does not belong to this login.
	ErrState = errors.New("this answer belongs to another login; start the login again and use its own address")
)

// Error is a service's refusal, with its code of RFC 6749 or 8628.
type Error struct {
	Code        string // such as invalid_grant; empty where the answer had none
	Description string // the service's words, without secrets; may be empty
	Status      int
}

// Error tells it in plain words.
func (e *Error) Error() string {
	what := e.Code
	if e.Description != "" {
		what = e.Description
		if e.Code != "" {
			what += " (" + e.Code + ")"
		}
	}
	if what == "" {
		return fmt.Sprintf("the login service answered with status %d", e.Status)
	}
	return "the login service says: " + what
}

// Unwrap returns the sentinel that the code stands for, if there is one.
func (e *Error) Unwrap() error {
	switch e.Code {
	case "access_denied", "authorization_declined":
		return ErrDenied
	case "expired_token":
		return ErrExpired
	case "invalid_grant", "refresh_token_reused", "refresh_token_expired", "refresh_token_invalidated", "token_revoked":
		return ErrRevoked
	}
	return nil
}

func (c Config) client() *http.Client {
	client := http.Client{}
	if c.Client != nil {
		client = *c.Client
	}
	// A token endpoint has no business sending secrets elsewhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func (c Config) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c Config) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c Config) random() io.Reader {
	if c.Rand != nil {
		return c.Rand
	}
	return rand.Reader
}

// secure refuses addresses that would carry secrets in the open.
func secure(what, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return fmt.Errorf("the %s %q is no address; write it as https://host/path", what, address)
	}
	if u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("the %s %q must begin with https://, since secrets go there", what, address)
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
