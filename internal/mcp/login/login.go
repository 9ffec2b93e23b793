// Package login logs in at MCP servers that demand it, by OAuth 2.1 as the protocol's
// specification has it (https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization).
//
// A [Login] is that of one server. In the background, [Login.Through] adds the token to
// requests, and renews it: it never opens a browser, but fails with a [NeededError] that says
// what to do. [Login.Enter] logs in with a user: in the browser, or with a code. Tokens are kept
// in one file for each server, which other processes renew too (store.go, renew.go, unsaved.go).
//
// What servers and login services say is checked before it is used: which service may log in
// for which server (discover.go), by which client (client.go), and which one answers (oauth).
// A token is sent to the server that it was given for, and to no other address.
//
// The handler of the Go SDK is not used: it registers a client at every login, renews tokens
// without the resource and without other processes, has no device flow, and repeats answers of
// services in errors. The package does not know the settings file or the terminal. Start at
// Login.
package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"hermes/internal/httpc"
	"hermes/internal/mcp/remote"
	"hermes/internal/oauth"
)

// Config says how to log in at one server.
type Config struct {
	// Server is the name of the server, for messages; URL is its address.
	Server, URL string
	// SSE says that the server has the transport of the protocol 2024-11-05.
	SSE bool
	// Path is the file of its tokens. The folder is made when it is needed.
	Path string
	// Link reaches the server, and what it names.
	Link   *remote.Link
	Client Client
	// Scope is what to ask for; "" is what the server says.
	Scope    string
	Redirect Redirect
	// Unsaved has what could not be written; nil is one of this Login alone.
	Unsaved *Unsaved
	// Log gets what the user should know, Trace the steps without secrets; nil logs none.
	Log, Trace *slog.Logger
	// Now and Sleep control the flows; nil means the real ones.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Client is who logs in. The zero value is registered at each login service.
type Client struct {
	ID, Secret string
	// Name is shown to the user by login services; "" is Hermes.
	Name string
	// Document is the address of a client metadata document, for services that read those.
	Document string
}

// Redirect is where browsers go after a login. The zero value is a free port of this machine.
type Redirect struct {
	Host string // "" is 127.0.0.1
	Port int    // 0 is any
	URI  string // replaces both
}

// Login is the login at one server. It may be used concurrently, also by several processes.
type Login struct {
	cfg    Config
	origin string        // to compare
	root   string        // the same, as the beginning of addresses
	turn   chan struct{} // holds one while a token of this process is renewed
}

// New returns the login of a server. It reads and sends nothing.
func New(c Config) *Login {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Unsaved == nil {
		c.Unsaved = &Unsaved{}
	}
	l := &Login{cfg: c, turn: make(chan struct{}, 1)}
	if u, err := url.Parse(c.URL); err == nil { // remote.New has refused others
		l.origin, l.root = httpc.Origin(u), (&url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host)}).String()
	}
	return l
}

// NeededError means that the user has to log in. Its text says how.
type NeededError struct{ Server, Why string }

// Error says why, and the command.
func (e *NeededError) Error() string {
	return fmt.Sprintf("%s; log in with `hermes mcp login %s`", e.Why, e.Server)
}

func (l *Login) needed(format string, args ...any) error {
	return &NeededError{Server: l.cfg.Server, Why: fmt.Sprintf(format, args...)}
}

// Through returns a client for the server that sends the token with each request. If the server
// refuses it, the token is renewed once; then requests fail with a *NeededError.
func (l *Login) Through(c *http.Client) *http.Client {
	return httpc.Through(c, l.send)
}

func (l *Login) send(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	if httpc.Origin(req.URL) != l.origin {
		return next.RoundTrip(req)
	}
	token, err := l.token(req.Context(), "")
	if err != nil {
		return nil, closing(req, err)
	}
	resp, err := next.RoundTrip(with(token, req, req.Body))
	if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return resp, err
	}
	c := challengeOf(resp)
	if resp.StatusCode == http.StatusForbidden {
		if c.err != "insufficient_scope" {
			return resp, nil
		}
		resp.Body.Close()
		return nil, l.wants(req.Context(), c)
	}
	resp.Body.Close()
	if token == "" {
		return nil, l.needed("it demands a login")
	}
	again, err := l.token(req.Context(), token)
	if err != nil {
		return nil, err
	}
	body, err := reopened(req)
	if err != nil || again == "" || again == token {
		return nil, errors.Join(err, l.needed("it refuses the login"))
	}
	resp, err = next.RoundTrip(with(again, req, body))
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		resp.Body.Close()
		return nil, l.needed("it refuses the login, also after it was renewed")
	}
	return resp, err
}

// with returns the request with a token; "" is none.
func with(token string, req *http.Request, body io.ReadCloser) *http.Request {
	out := req.Clone(req.Context())
	out.Body = body
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	return out
}

// closing closes the body of a request that is not sent, as a RoundTripper must.
func closing(req *http.Request, err error) error {
	if req.Body == nil {
		return err
	}
	return errors.Join(err, req.Body.Close())
}

// reopened returns the body of a request, to be sent again.
func reopened(req *http.Request) (io.ReadCloser, error) {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return nil, nil
	case req.GetBody == nil:
		return nil, errors.New("the request cannot be sent again")
	}
	return req.GetBody()
}

// wants keeps which scopes the server wants in addition, for the next login.
func (l *Login) wants(ctx context.Context, c challenge) error {
	err := l.change(ctx, func(r *record) {
		r.Wanted = union(r.Wanted, c.scope)
	})
	if err != nil {
		return err
	}
	return l.needed("it wants more rights (%s)", shown(cmp.Or(c.scope, "it does not say which")))
}

// challenge is what a server says about logins when it refuses a request.
type challenge struct{ metadata, scope, err string }

func challengeOf(resp *http.Response) challenge {
	list, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	var out challenge
	if err != nil { // then the places of the specification are tried
		return out
	}
	for _, c := range list {
		out.metadata = cmp.Or(out.metadata, c.Params["resource_metadata"])
		if c.Scheme == "bearer" {
			out.scope, out.err = cmp.Or(out.scope, c.Params["scope"]), cmp.Or(out.err, c.Params["error"])
		}
	}
	return out
}

// union joins lists of scopes, sorted.
func union(lists ...string) string {
	all := strings.Fields(strings.Join(lists, " "))
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

func (l *Login) oauth(r record) oauth.Config {
	c := oauth.Config{
		ClientID: r.Client.ID, ClientSecret: r.Client.Secret, TokenURL: r.TokenURL,
		Bound: oauth.Bound{Resource: r.Resource, Issuer: r.Issuer},
		Trace: l.cfg.Trace, Client: l.cfg.Link.Others, Now: l.cfg.Now, Sleep: l.cfg.Sleep,
	}
	if c.ClientID == l.cfg.Client.ID { // it is in the settings, and not kept elsewhere
		c.ClientSecret = l.cfg.Client.Secret
	}
	if r.Client.Method == methodBasic && c.ClientSecret != "" {
		c.Form = oauth.FormBasic
	}
	return c
}
