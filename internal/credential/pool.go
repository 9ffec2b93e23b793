package credential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/lru"
	"hermes/internal/order"
)

// Pool lends the credentials of one service. It is a hermes.Keys.
type Pool struct {
	s     *Store
	name  string
	given []record // from the environment and the settings
	sh    *shared
	own   bool // without logins of other programs
}

// shared is the state that all views of one pool share in this process.
type shared struct {
	mu       sync.Mutex
	last     string                  // id that was lent last, for round_robin
	leases   *lru.Map[string, lease] // by session
	counts   map[string]int          // by id, since they were last written
	used     map[string]time.Time
	states   map[string]state  // by identity; states that are not in the file, or not yet
	stale    map[string]string // by id: the fingerprint of a token that was refused
	reported bool              // the warning about an unknown strategy
}

// Pool returns the pool with a name, joined with the given credentials, of which
// it uses Source and Secret. The pool with the empty name has only those.
func (s *Store) Pool(name string, given []hermes.Key) *Pool {
	s.mu.Lock()
	sh := s.shared[name]
	if sh == nil {
		sh = &shared{
			leases: lru.New[string, lease](mostLeases), counts: map[string]int{}, used: map[string]time.Time{},
			states: map[string]state{}, stale: map[string]string{},
		}
		s.shared[name] = sh
	}
	s.mu.Unlock()
	p := &Pool{s: s, name: name, sh: sh}
	for _, k := range given {
		if k.Secret == "" {
			continue
		}
		label := strings.TrimPrefix(k.Source, "env:")
		if k.Source == "config" {
			label = "config.yaml"
		}
		p.given = append(p.given, record{
			id: idOf(k.Source), label: label, kind: KindKey, source: k.Source, secret: k.Secret, fingerprint: fingerprint(k.Secret),
		})
	}
	return p
}

// Any reports whether there is a credential, even if it is paused.
func (p *Pool) Any() bool { return len(p.records()) > 0 }

// Next lends a credential; see hermes.Keys. It does I/O if a login must be renewed
// or a keychain read; otherwise it only checks whether the file has changed.
func (p *Pool) Next(ctx context.Context, session string) (hermes.Key, error) {
	var failed []string // ids whose secret is not available now
	var renew []string  // what the user is told to run
	for {
		r, err := p.choose(session, failed)
		if err != nil {
			return hermes.Key{}, withAdvice(err, renew)
		}
		ready, err := p.ready(ctx, r)
		if err == nil {
			p.s.announce(ready.secret)
			p.sh.count(r.id, p.s.cfg.Now())
			return p.key(ready), nil
		}
		if ctx.Err() != nil {
			return hermes.Key{}, context.Cause(ctx)
		}
		p.s.cfg.Warn(fmt.Sprintf("the credential %q of %s cannot be used", r.label, p.name), err)
		failed = append(failed, r.id)
		if e, ok := errors.AsType[*programError](err); ok {
			renew = append(renew, e.Error())
		}
	}
}

// withAdvice adds what the user can run to the error of a pool that is used up.
func withAdvice(err error, renew []string) error {
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok || len(renew) == 0 {
		return err
	}
	advised := *e
	advised.Message = strings.Join(renew, "; ")
	return &advised
}

func (p *Pool) key(r record) hermes.Key {
	k := hermes.Key{ID: r.id, Secret: r.secret, Source: r.source, Label: r.label, Account: r.account, BaseURL: r.baseURL}
	if r.kind == KindOAuth {
		k.Source = "oauth" // its secret is a token, which some protocols send differently
	}
	return k
}

// Spare reports whether another credential could be lent now.
func (p *Pool) Spare(k hermes.Key) bool {
	all := p.records()
	i := slices.IndexFunc(all, func(r record) bool { return r.id == k.ID })
	now := p.s.cfg.Now()
	return slices.ContainsFunc(all, func(r record) bool {
		return r.usable(now) && (i < 0 || !same(all[i], r, true))
	})
}

// same reports whether a failure of one credential also affects the other: the
// same key or, for quotas, the same account.
func same(a, b record, quota bool) bool {
	return a.id == b.id || a.identity() != "" && a.identity() == b.identity() || quota && a.account != "" && a.account == b.account
}

// records lists all credentials with their state, best first.
func (p *Pool) records() []record {
	var stored []record
	if p.name != "" {
		doc, err := p.s.load()
		if err != nil {
			p.s.complain(err)
		} else {
			stored = doc.pools[p.name]
		}
	}
	all := make([]record, 0, len(stored)+len(p.given))
	for _, r := range stored {
		if program, ok := programOf(r.source); ok {
			if p.own {
				continue
			}
			token, _ := p.s.takeOver(program) // an error comes again when it is lent
			all = append(all, r.owned(token))
			continue
		}
		if !borrowed(r.source) {
			all = append(all, r)
			continue
		}
		if i := slices.IndexFunc(p.given, func(g record) bool { return g.source == r.source }); i >= 0 {
			all = append(all, p.given[i].with(r))
		} // drop one that is gone
	}
	for _, g := range p.given {
		if !slices.ContainsFunc(stored, func(r record) bool { return r.source == g.source }) {
			all = append(all, g)
		}
	}
	p.sh.overlay(all)
	order.By(all, func(a, b record) int { return cmp.Compare(a.priority, b.priority) })
	return all
}

// with joins a given secret with the stored state of its reference. If the secret
// has changed, the state is dropped.
func (r record) with(stored record) record {
	if stored.fingerprint != r.fingerprint {
		stored.state = state{}
	}
	stored.secret, stored.fingerprint, stored.kind = r.secret, r.fingerprint, r.kind
	return stored
}

// overlay replaces the states from the file with newer ones of this process.
func (sh *shared) overlay(all []record) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for i := range all {
		if st, ok := sh.states[all[i].identity()]; ok && !st.at.Before(all[i].state.at) {
			all[i].state = st
		}
	}
}

func (sh *shared) count(id string, now time.Time) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.counts[id]++
	sh.used[id] = now
}

// counted reports whether there is something to write.
func (sh *shared) counted() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return len(sh.counts) > 0
}

// settle moves the counts into records that will be written now.
func (sh *shared) settle(records []record) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for i := range records {
		id := records[i].id
		records[i].requests += sh.counts[id]
		if at := sh.used[id]; at.After(records[i].used) {
			records[i].used = at
		}
		delete(sh.counts, id)
		delete(sh.used, id)
	}
}
