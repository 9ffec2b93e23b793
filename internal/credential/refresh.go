package credential

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/oauth"
)

const (
	// earlyRefresh is how long before it expires a token is renewed.
	earlyRefresh = 2 * time.Minute
	// refreshTime is how long another process may take to renew a login.
	refreshTime = time.Minute
)

// ready returns a credential with a secret that can be sent.
func (p *Pool) ready(ctx context.Context, r record) (record, error) {
	if program, ok := programOf(r.source); ok {
		return p.current(ctx, r, program)
	}
	switch r.kind {
	case KindKeychain:
		secret, err := p.s.fetch(ctx, r)
		r.secret = secret
		return r, err
	case KindOAuth:
		return p.fresh(ctx, r)
	}
	if r.secret == "" {
		return r, errors.New("it has no key")
	}
	return r, nil
}

// fetch reads the keychain, once.
func (s *Store) fetch(ctx context.Context, r record) (hermes.Secret, error) {
	name := strings.TrimPrefix(r.source, "keychain:")
	s.mu.Lock()
	secret, ok := s.fetched[name]
	s.mu.Unlock()
	if ok {
		return secret, nil
	}
	if s.cfg.Keychain == nil {
		return "", errors.New("it is stored in a keychain, but this machine has none")
	}
	text, err := s.cfg.Keychain.Get(ctx, name)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched[name] = hermes.Secret(text)
	return hermes.Secret(text), nil
}

// forget drops what was read from the keychain.
func (s *Store) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.fetched, name)
}

// fresh returns a login whose token can be sent. It renews a token that has
// expired or was refused.
func (p *Pool) fresh(ctx context.Context, r record) (record, error) {
	now := p.s.cfg.Now()
	p.sh.mu.Lock()
	refused := p.sh.stale[r.id] == r.fingerprint && r.fingerprint != ""
	p.sh.mu.Unlock()
	if !refused && !r.runsOut(now) {
		return r, nil
	}
	renewed, err := p.s.renew(ctx, p.name, r)
	if err == nil {
		return renewed, nil
	}
	if !refused && r.secret != "" && now.Before(r.expires) && !errors.Is(err, oauth.ErrRevoked) {
		p.s.cfg.Warn(fmt.Sprintf("cannot renew the login %q of %s yet", r.label, p.name), err)
		return r, nil // it is still valid for a while
	}
	return r, err
}

func (r record) runsOut(now time.Time) bool {
	return r.secret == "" || !r.expires.IsZero() && now.Add(earlyRefresh).After(r.expires)
}

// renew gets new tokens for a login. One goroutine of one process does it at a
// time; those that waited find it done. Once the service was called, the end of
// ctx does not stop it: the old refresh token may be spent by then.
func (s *Store) renew(ctx context.Context, pool string, old record) (record, error) {
	select {
	case s.refreshing <- struct{}{}:
		defer func() { <-s.refreshing }()
	case <-ctx.Done():
		return old, context.Cause(ctx)
	}
	lock, err := atomicfile.Acquire(ctx, s.cfg.Path+".refresh", "hermes login refresh", refreshTime)
	if err != nil {
		return old, err
	}
	defer lock.Release() // nothing could be done about an error
	r, err := s.find(pool, old.id)
	if err != nil {
		return old, err
	}
	if r.fingerprint != old.fingerprint && !r.runsOut(s.cfg.Now()) {
		return r, nil // another process or goroutine has renewed it
	}
	if r.revoked() {
		return r, oauth.ErrRevoked
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.ask(ctx, pool, r); err != nil {
		return r, err
	}
	if err := s.save(ctx, pool, r.id); err != nil {
		return r, err
	}
	return s.find(pool, r.id)
}

// ask gets new tokens from the service and keeps them as unsaved. If earlier
// tokens could not be written, it uses those: the service would refuse a second
// refresh.
func (s *Store) ask(ctx context.Context, pool string, r record) error {
	s.mu.Lock()
	_, waiting := s.unsaved[key(pool, r.id)]
	s.mu.Unlock()
	if waiting {
		return nil
	}
	login, ok := s.cfg.Login(pool)
	if !ok {
		return fmt.Errorf("cannot renew a login of %s; define its login under providers.%s.oauth in config.yaml", pool, pool)
	}
	token, err := login.Refresh(ctx, r.refresh.Reveal())
	if errors.Is(err, oauth.ErrRevoked) {
		return errors.Join(err, s.markRevoked(ctx, pool, r.id))
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsaved[key(pool, r.id)] = token
	return nil
}

// save writes renewed tokens into the file.
func (s *Store) save(ctx context.Context, pool, id string) error {
	s.mu.Lock()
	token, ok := s.unsaved[key(pool, id)]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	now := s.cfg.Now()
	err := s.update(ctx, func(doc *document) error {
		i := slices.IndexFunc(doc.pools[pool], func(r record) bool { return r.id == id })
		if i >= 0 { // else the user has removed it meanwhile
			doc.pools[pool][i].take(token, now)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot store the renewed login of %s, so it is not used: %w", pool, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unsaved, key(pool, id))
	return nil
}

// take updates a login with a token.
func (r *record) take(t oauth.Token, now time.Time) {
	r.secret, r.fingerprint = hermes.Secret(t.Access), fingerprint(hermes.Secret(t.Access))
	if t.Refresh != "" {
		r.refresh = hermes.Secret(t.Refresh)
	}
	if t.Account != "" {
		r.account = t.Account
	}
	if u := resource(t.Resource); u != "" {
		r.baseURL = u
	}
	r.expires, r.refreshed = t.Expires, now
	if r.state.reason == hermes.ClassAuth || r.revoked() {
		r.state = state{at: now}
	}
}

// markRevoked marks a login as one that only a new login can replace.
func (s *Store) markRevoked(ctx context.Context, pool, id string) error {
	now := s.cfg.Now()
	return s.update(ctx, func(doc *document) error {
		for i := range doc.pools[pool] {
			if doc.pools[pool][i].id == id {
				doc.pools[pool][i].state = state{status: statusRevoked, reason: hermes.ClassAuthPermanent, at: now}
			}
		}
		return nil
	})
}

// find returns a credential as the file has it now.
func (s *Store) find(pool, id string) (record, error) {
	doc, err := s.load()
	if err != nil {
		return record{}, err
	}
	for _, r := range doc.pools[pool] {
		if r.id == id {
			return r, nil
		}
	}
	return record{}, errors.New("the login was removed meanwhile")
}

// pendingSecrets lists the logins whose renewed tokens are not written, as id to pool.
func (s *Store) pendingSecrets() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for k := range s.unsaved {
		pool, id, _ := strings.Cut(k, "\x00")
		out[id] = pool
	}
	return out
}

func key(pool, id string) string { return pool + "\x00" + id }

// resource makes an address of the resource that a login names.
func resource(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), "/")
	if text == "" {
		return ""
	}
	switch {
	case strings.HasPrefix(text, "https://"):
		return text
	case strings.Contains(text, "://"):
		return "" // never send a token unencrypted
	case strings.HasSuffix(text, "/v1"):
		return "https://" + text
	}
	return "https://" + text + "/v1" // a bare host
}
