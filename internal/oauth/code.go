package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
)

// Login is a browser login that has begun. Close ends it.
type Login struct {
	// Address is the page that the user opens.
	Address string
	// Listening says whether the program listens for the browser's redirect. If
	// not, because the port is taken, the user must paste the final address.
	Listening bool

	c        Config
	redirect string
	state    string
	verifier string
	codes    chan result  // the first one counts
	socket   net.Listener // to listen at; nil once it is served
	listener *listener
}

type result struct {
	code string
	err  error
}

// Begin makes the address to open and listens for the redirect of the browser,
// on the loopback interface only.
func (c Config) Begin() (*Login, error) { return c.BeginOn(nil) }

// BeginOn is Begin with a socket that listens at the redirect address already, for clients
// that register the address first. The login closes it, also if BeginOn fails.
func (c Config) BeginOn(socket net.Listener) (*Login, error) {
	l := &Login{c: c, codes: make(chan result, 1), socket: socket}
	if err := l.begin(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Login) begin() error {
	c := l.c
	if err := secure("login address", c.AuthURL); err != nil {
		return err
	}
	challenge, err := "", error(nil)
	if l.verifier, challenge, err = c.pkce(); err != nil {
		return err
	}
	if l.state, err = c.word(24); err != nil {
		return err
	}
	if err := l.listen(); err != nil {
		return err
	}
	if l.Address, err = l.address(challenge); err != nil {
		return err
	}
	if c.Trace != nil {
		c.Trace.Info("oauth", "step", "authorize", "address", bare(c.AuthURL), "redirect", c.Redirect, "listening", l.Listening, "scope", strings.Join(c.Scopes, " "))
	}
	return nil
}

func (l *Login) address(challenge string) (string, error) {
	u, err := url.Parse(l.c.AuthURL)
	if err != nil {
		return "", fmt.Errorf("the login address %q: %w", l.c.AuthURL, err)
	}
	q := u.Query()
	for k, v := range l.c.Params {
		q.Set(k, v)
	}
	q.Set("code_challenge", challenge)
	q.Set("code_challenge_method", "S256")
	if l.c.Form == FormKey {
		q.Set("callback_url", l.redirect)
	} else {
		q.Set("response_type", "code")
		q.Set("client_id", l.c.ClientID)
		q.Set("redirect_uri", l.redirect)
		q.Set("state", l.state)
		if len(l.c.Scopes) > 0 {
			q.Set("scope", strings.Join(l.c.Scopes, " "))
		}
		if l.c.Bound.Resource != "" {
			q.Set("resource", l.c.Bound.Resource)
		}
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// Wait waits for the browser or for Offer, whichever is first, and exchanges
// the code. It may be called once.
func (l *Login) Wait(ctx context.Context) (Token, error) {
	select {
	case r := <-l.codes:
		if r.err != nil {
			return Token{}, r.err
		}
		return l.exchange(ctx, r.code)
	case <-ctx.Done():
		return Token{}, context.Cause(ctx)
	}
}

func (l *Login) exchange(ctx context.Context, code string) (Token, error) {
	if l.c.Form == FormKey {
		return l.c.keyFor(ctx, code, l.verifier)
	}
	return l.c.token(ctx, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {l.redirect}, "code_verifier": {l.verifier},
	})
}

// Offer takes what the user pasted: the browser's final address, "code#state", or
// only the code, which the verifier of this login protects. An error says what is
// wrong with it; the login goes on.
func (l *Login) Offer(text string) error {
	r, err := l.parse(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	l.deliver(r)
	return nil
}

func (l *Login) parse(text string) (result, error) {
	if text == "" {
		return result{}, errors.New("nothing was pasted; paste the final address from the browser")
	}
	if u, err := url.Parse(text); err == nil && u.Scheme != "" && u.Host != "" {
		return l.returned(u)
	}
	if strings.HasPrefix(text, "?") || strings.Contains(text, "code=") {
		return l.returned(&url.URL{RawQuery: strings.TrimPrefix(text, "?")})
	}
	code, state, both := strings.Cut(text, "#")
	if both && !l.mine(state) {
		return result{}, ErrState
	}
	if strings.ContainsAny(code, " \t\r\n") {
		return result{}, errors.New("this is not a code; paste the whole final address from the browser")
	}
	if l.c.Bound.IssuerSent {
		return result{}, errors.New("the code alone does not say which service it comes from; paste the whole final address from the browser")
	}
	return result{code: code}, nil
}

// returned reads the address that the browser was redirected to.
func (l *Login) returned(u *url.URL) (result, error) {
	q := u.Query()
	state := q.Get("state")
	if l.c.Form == FormKey { // the state is in the path, since the service sends none
		state = u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	}
	if !l.mine(state) {
		return result{}, ErrState
	}
	if b := l.c.Bound; b.Issuer != "" && q.Get("iss") != b.Issuer && (q.Has("iss") || b.IssuerSent) {
		return result{err: ErrIssuer}, nil
	}
	if e := q.Get("error"); e != "" {
		return result{err: &Error{Code: clean(e, nil), Description: clean(q.Get("error_description"), nil)}}, nil
	}
	if q.Get("code") == "" {
		return result{}, errors.New("the address contains no code; paste the final one from the browser")
	}
	return result{code: q.Get("code")}, nil
}

func (l *Login) mine(state string) bool {
	return subtle.ConstantTimeCompare([]byte(state), []byte(l.state)) == 1
}

// deliver passes on the first result; later ones are ignored.
func (l *Login) deliver(r result) {
	select {
	case l.codes <- r:
	default:
	}
}

// pkce makes a verifier and its challenge.
func (c Config) pkce() (verifier, challenge string, err error) {
	if verifier, err = c.word(48); err != nil {
		return "", "", err
	}
	sum := sha256.Sum256([]byte(verifier))
	return verifier, base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

// word returns n random bytes in base64.
func (c Config) word(n int) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(c.random(), b); err != nil {
		return "", fmt.Errorf("make random bytes: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}
