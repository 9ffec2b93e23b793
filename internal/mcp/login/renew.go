package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hermes/internal/oauth"
)

// token returns the token to send, "" if there is none. refused is one that the server does
// not accept any more, "" if none was sent.
func (l *Login) token(ctx context.Context, refused string) (string, error) {
	l.save(ctx)
	r, err := l.read()
	if err != nil {
		return "", err
	}
	if r.Access != refused && r.fresh(l.cfg.Now()) || r.Access == "" && r.Refresh == "" {
		return r.Access, nil
	}
	if r.Refresh == "" {
		return "", l.needed("its login is no longer valid")
	}
	select { // one of this process at a time; the others then find the new token
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	type result struct {
		token string
		err   error
	}
	done := make(chan result, 1)
	// A request that is cancelled must not lose a token that was given already. Its time is
	// bounded by the lock and the exchange.
	go func() {
		defer func() { <-l.turn }()
		token, err := l.renew(context.WithoutCancel(ctx), refused)
		done <- result{token, err}
	}()
	select {
	case r := <-done:
		return r.token, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// renew gets a new token, unless another process has got one already.
func (l *Login) renew(ctx context.Context, refused string) (token string, err error) {
	err = l.locked(ctx, func() error {
		r, err := l.read()
		if err != nil {
			return err
		}
		if r.Access != refused && r.fresh(l.cfg.Now()) {
			token = r.Access
			return nil
		}
		if r.Refresh == "" {
			return l.needed("its login is no longer valid")
		}
		t, err := l.oauth(r).Refresh(ctx, r.Refresh)
		if err != nil {
			return l.notRenewed(r, err)
		}
		r.take(t, r.Scope)
		token = r.Access
		l.keep(r)
		return nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// take puts new tokens into the record. A service that sends no new refresh token lets the old
// one be used again.
func (r *record) take(t oauth.Token, asked string) {
	r.Access, r.Expires, r.Scope = t.Access, t.Expires, cmp.Or(t.Scope, asked)
	r.Refresh = cmp.Or(t.Refresh, r.Refresh)
}

// notRenewed forgets what the service does not accept any more.
func (l *Login) notRenewed(r record, err error) error {
	refusal, _ := errors.AsType[*oauth.Error](err)
	gone := refusal != nil && refusal.Code == "invalid_client"
	if !gone && !errors.Is(err, oauth.ErrRevoked) {
		return fmt.Errorf("its login cannot be renewed now: %w", withoutURL(err))
	}
	r.Access, r.Refresh, r.Expires = "", "", time.Time{}
	if gone {
		r.Client = client{}
	}
	return errors.Join(l.needed("its login is no longer valid"), l.write(r))
}

// revokeTime bounds the message to a service that a login has ended.
const revokeTime = 10 * time.Second

// revoke tells the service that the tokens are not used any more (RFC 7009).
func (l *Login) revoke(ctx context.Context, r record) error {
	ctx, cancel := context.WithTimeout(ctx, revokeTime)
	defer cancel()
	c := l.oauth(r)
	form := url.Values{"token": {cmp.Or(r.Refresh, r.Access)}}
	if c.Form != oauth.FormBasic {
		form.Set("client_id", c.ClientID)
		if c.ClientSecret != "" {
			form.Set("client_secret", c.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("its address for that is not valid")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.Form == oauth.FormBasic {
		req.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret))
	}
	resp, err := l.direct().Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered with status %d", resp.StatusCode)
	}
	return nil
}

// direct is the client for what holds secrets: it follows no redirect.
func (l *Login) direct() *http.Client {
	c := *l.cfg.Link.Others
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// withoutURL takes the address out of an error of a request: its query may hold secrets.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
