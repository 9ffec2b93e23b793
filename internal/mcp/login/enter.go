package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"hermes/internal/oauth"
)

// User is whom a login asks. Its methods return at once.
type User interface {
	// Visit shows an address to open in a browser. If not listening, the browser cannot return
	// to this machine. offer takes the final address of the browser that the user pastes; it
	// may be called until it returns nil, and its error says what is wrong with the text.
	Visit(ctx context.Context, address string, listening bool, offer func(text string) error)
	// Confirm shows a code to enter at an address.
	Confirm(ctx context.Context, d oauth.Device)
}

// Entered is what a login gave.
type Entered struct {
	Issuer, Scope string
	Expires       time.Time // zero: unknown
	// Renewed says whether the login can be renewed without the user.
	Renewed bool
}

// ErrNotDemanded means that a server answers without a login, and says nothing about logins.
var ErrNotDemanded = errors.New("it answers without a login")

// enterTime is how long the user may take.
const enterTime = 15 * time.Minute

// Enter logs in with a user: in the browser, or with a code on any device. It keeps the tokens
// and checks that the server accepts them. The last login remains if this one fails.
func (l *Login) Enter(ctx context.Context, u User, device bool) (Entered, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, enterTime, oauth.ErrExpired)
	defer cancel()
	status, c, err := l.probe(ctx, "")
	if err != nil {
		return Entered{}, fmt.Errorf("reach the MCP server %s: %w", l.cfg.Server, withoutURL(err))
	}
	was, _ := l.read() // one that is not readable is replaced
	demanded := status == http.StatusUnauthorized
	t, err := l.discover(ctx, c, demanded, was.Issuer)
	switch {
	case errors.Is(err, errNone):
		return Entered{}, ErrNotDemanded
	case err != nil:
		return Entered{}, err
	case was.Issuer != "" && was.Issuer != t.service.Issuer:
		return Entered{}, fmt.Errorf("the server now names another login service: %s, and not %s; if that is right, run `hermes mcp logout %s` first", shown(t.service.Issuer), shown(was.Issuer), l.cfg.Server)
	}
	r, err := l.ask(ctx, u, t, l.scope(c, t, was), was, device)
	if err != nil {
		return Entered{}, err
	}
	if err := l.replace(ctx, r); err != nil {
		return Entered{}, err
	}
	if status, _, err = l.probe(ctx, r.Access); err != nil {
		return Entered{}, fmt.Errorf("the login is kept, but the MCP server %s was not reached: %w", l.cfg.Server, withoutURL(err))
	}
	if status == http.StatusUnauthorized {
		return Entered{}, fmt.Errorf("the login succeeded, but the MCP server %s refuses it; ask who runs the server", l.cfg.Server)
	}
	return Entered{Issuer: r.Issuer, Scope: r.Scope, Expires: r.Expires, Renewed: r.Refresh != ""}, nil
}

// scope is what to ask for: what the settings say, else what the server says now, else what it
// says that it takes; and what it wanted earlier.
func (l *Login) scope(c challenge, t target, was record) string {
	asked := cmp.Or(l.cfg.Scope, c.scope, t.scopes)
	if was.Wanted != "" { // then what was granted is needed as well
		asked = union(asked, was.Scope, was.Wanted)
	}
	if slices.Contains(t.service.Scopes, "offline_access") { // else the login ends with the first token
		asked = union(asked, "offline_access")
	}
	return asked
}

// ask gets tokens from the service.
func (l *Login) ask(ctx context.Context, u User, t target, scope string, was record, device bool) (record, error) {
	s := t.service
	switch {
	case device && s.DeviceURL == "":
		return record{}, fmt.Errorf("the login service %s has no login by a code; log in without --device and oauth.flow", shown(s.Issuer))
	case !device && s.AuthURL == "":
		return record{}, fmt.Errorf("the login service %s has no login in the browser; log in with --device", shown(s.Issuer))
	}
	r := record{Issuer: s.Issuer, Resource: t.resource, TokenURL: s.TokenURL, RevokeURL: s.RevokeURL}
	c, redirect, socket, err := l.client(ctx, s, was, device)
	if err != nil {
		return r, err
	}
	r.Client = c
	flow := l.oauth(r)
	flow.Scopes = strings.Fields(scope)
	flow.Bound.IssuerSent = s.IssuerSent
	var token oauth.Token
	if device {
		flow.DeviceURL = s.DeviceURL
		token, err = l.byCode(ctx, u, flow)
	} else {
		flow.AuthURL, flow.Redirect = s.AuthURL, redirect
		if slices.Contains(flow.Scopes, "offline_access") {
			flow.Params = map[string]string{"prompt": "consent"} // without it, OpenID Connect gives no refresh token
		}
		begun, beginErr := flow.BeginOn(socket)
		if beginErr != nil {
			return r, beginErr
		}
		u.Visit(ctx, begun.Address, begun.Listening, begun.Offer)
		token, err = begun.Wait(ctx)
		err = errors.Join(err, begun.Close())
	}
	if err != nil {
		return r, l.refused(ctx, was, err)
	}
	r.take(token, scope)
	return r, nil
}

func (l *Login) byCode(ctx context.Context, u User, flow oauth.Config) (oauth.Token, error) {
	d, err := flow.Device(ctx)
	if err != nil {
		return oauth.Token{}, err
	}
	for _, address := range []string{d.Address, d.Full} {
		if address == "" {
			continue
		}
		if err := l.allowed(ctx, address); err != nil {
			return oauth.Token{}, fmt.Errorf("the address for the code: %w", err)
		}
	}
	u.Confirm(ctx, d)
	return flow.Poll(ctx, d)
}

// refused words why a login failed. A client that the service has forgotten is forgotten here.
func (l *Login) refused(ctx context.Context, was record, err error) error {
	refusal, ok := errors.AsType[*oauth.Error](err)
	if !ok || refusal.Code != "invalid_client" && refusal.Code != "unauthorized_client" || was.Client.Redirect == "" {
		return withoutURL(err)
	}
	forget := l.change(ctx, func(r *record) { r.Client = client{} })
	return errors.Join(fmt.Errorf("%w; the service may have forgotten Hermes, so log in again, which registers it once more", err), forget)
}

// The first messages of the protocol: of the newest version, whose services may answer no other, and
// of those before.
const (
	discovers   = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"hermes","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	initializes = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hermes","version":"1"}}}`
)

// probe sends a first message of the protocol with a token, and returns how it is answered.
func (l *Login) probe(ctx context.Context, token string) (status int, c challenge, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTime, errors.New("it did not answer in time"))
	defer cancel()
	if l.cfg.SSE {
		return l.say(ctx, "", token)
	}
	status, c, err = l.say(ctx, discovers, token)
	if err != nil || status < 300 || status == http.StatusUnauthorized || status == http.StatusForbidden {
		return status, c, err
	}
	return l.say(ctx, initializes, token)
}

// say sends one message; "" opens the stream of the oldest protocol.
func (l *Login) say(ctx context.Context, message, token string) (status int, c challenge, err error) {
	method, body := http.MethodPost, io.Reader(strings.NewReader(message))
	if message == "" {
		method, body = http.MethodGet, nil
	}
	req, err := http.NewRequestWithContext(ctx, method, l.cfg.URL, body)
	if err != nil {
		return 0, c, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if message != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if message == discovers {
		req.Header.Set("MCP-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", "server/discover")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := l.cfg.Link.Server.Do(req)
	if err != nil {
		return 0, c, err
	}
	resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		l.hangUp(ctx, id, req.Header)
	}
	return resp.StatusCode, challengeOf(resp), nil
}

// probeTime bounds one probe.
const probeTime = 30 * time.Second

// hangUp ends the session of a probe. A server that forgets it by itself does not matter.
func (l *Login) hangUp(ctx context.Context, id string, h http.Header) {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.cfg.URL, nil)
	if err != nil {
		return
	}
	req.Header = h.Clone()
	req.Header.Set("Mcp-Session-Id", id)
	if resp, err := l.cfg.Link.Server.Do(req); err == nil {
		resp.Body.Close()
	}
}
