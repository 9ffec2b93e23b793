// Package oauth logs a user in at a service and refreshes tokens. It implements
// the authorization code with PKCE over a loopback redirect (RFC 6749, 7636,
// 8252), the device code (RFC 8628) and the refresh of tokens. It stores nothing
// and must not know any service by name.
//
// It does not use a general library: a server's answer must never reach an error
// or a log unchanged, tests must control the clock of the polling, and services
// differ in ways that a library hides. Nothing prints a token: Token hides its
// value, and an Error holds only a code and the service's description, without
// the secrets of the request.
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

// Config describes how to log in at one service. It must not be changed after
// its first use and may be used concurrently.
type Config struct {
	ClientID     string
	ClientSecret string // public clients have none
	AuthURL      string // where the browser is sent; empty: no browser flow
	TokenURL     string
	DeviceURL    string // where a device code is requested; empty: no device flow
	Scopes       []string
	// Redirect is the loopback address that the service sends the browser back
	// to; port 0 is any free one. Empty is http://127.0.0.1:0/callback.
	Redirect string
	// Form is the service's variant of the protocol.
	Form Form
	// Bound is what the answers of a login belong to.
	Bound Bound
	// Params go into the address that the browser opens.
	Params map[string]string

	// Trace logs each request to the service, without secrets; nil logs none.
	Trace  *slog.Logger
	Client *http.Client // nil is http.DefaultClient
	// Now, Sleep and Rand control the flows; nil means the real ones.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	Rand  io.Reader
}

// Bound binds a login to one resource and one issuer. The zero value binds to neither.
type Bound struct {
	// Resource is the address that tokens are for (RFC 8707). It is sent in every request.
	Resource string
	// Issuer is the service's name for itself (RFC 9207): a redirect that names another one, byte
	// for byte, ends the login. IssuerSent refuses one that names none, too.
	Issuer     string
	IssuerSent bool
}

// Form is a variant of the protocol.
type Form string

// The forms. The zero value follows the standards.
const (
	FormStandard Form = ""
	// FormKey returns a permanent API key for the code: the redirect is called
	// callback_url, the exchange is JSON, and there is no client id. OpenRouter
	// uses it.
	FormKey Form = "key"
	// FormDevicePKCE uses PKCE in the device flow, too.
	FormDevicePKCE Form = "device_pkce"
	// FormBasic sends the client's id and secret in a header (RFC 6749, 2.3.1).
	FormBasic Form = "basic"
)

// Token is the result of a login or a refresh. It hides its value when printed.
type Token struct {
	Access  string
	Refresh string // empty: the old one stays valid, or there is none
	ID      string // the OpenID token, if there is one
	Scope   string
	Expires time.Time // zero: unknown
	// Resource is the address that the token is for, if the service names one.
	Resource string
	// Account is the user's id at the service, if known.
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
	// ErrDenied means that the user or the service refused the login.
	ErrDenied = errors.New("the login was refused")
	// ErrExpired means that the login was not finished in time.
	ErrExpired = errors.New("the login was not finished in time; start it again")
	// ErrRevoked means that a refresh token is no longer valid: only a new login helps.
	ErrRevoked = errors.New("the login is no longer valid; log in again")
	// ErrState means that an answer does not belong to this login.
	ErrState = errors.New("this answer belongs to another login; start again and use the new address")
	// ErrIssuer means that an answer comes from another service than the login was begun at.
	ErrIssuer = errors.New("the answer comes from another login service than the one that was asked; it was not used, and nothing was sent")
)

// Error is a service's refusal, with its code of RFC 6749 or 8628.
type Error struct {
	Code        string // such as invalid_grant; empty if the answer had none
	Description string // the service's text, without secrets; may be empty
	Status      int
	// Moved is the host that the service redirects to. Secrets are not sent there.
	Moved string
}

// Error describes the refusal in plain words.
func (e *Error) Error() string {
	what := e.Code
	if e.Description != "" {
		what = e.Description
		if e.Code != "" {
			what += " (" + e.Code + ")"
		}
	}
	if what == "" && e.Moved != "" {
		return fmt.Sprintf("the login service answered with status %d and redirects to %s; logins send secrets, so they follow no redirect. If this is its new address, set it under oauth of the provider in config.yaml", e.Status, e.Moved)
	}
	if what == "" {
		return fmt.Sprintf("the login service answered with status %d", e.Status)
	}
	return "the login service says: " + what
}

// Unwrap returns the sentinel error for the code, if there is one.
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
	// A token endpoint must not redirect secrets elsewhere.
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

// secure refuses addresses that would send secrets unencrypted.
func secure(what, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return fmt.Errorf("the %s %q is not valid; write it as https://host/path", what, address)
	}
	if u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("the %s %q must begin with https://, because secrets are sent there", what, address)
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
