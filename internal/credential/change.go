package credential

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hermes"
)

// Remove removes a credential, also from the keychain. The reference is its id,
// its label or its position in the list, from 1.
func (p *Pool) Remove(ctx context.Context, ref string) (Entry, error) {
	r, err := p.referred(ref)
	if err != nil {
		return Entry{}, err
	}
	if borrowed(r.source) {
		return p.entry(r), fmt.Errorf("%w: %s", ErrKept, whereKept(p.name, r.source))
	}
	if err := p.drop(ctx, func(o record) bool { return o.id == r.id }); err != nil {
		return Entry{}, err
	}
	if r.kind == KindKeychain && p.s.cfg.Keychain != nil {
		name := strings.TrimPrefix(r.source, "keychain:")
		p.s.forget(name)
		if err := p.s.cfg.Keychain.Delete(ctx, name); err != nil {
			return p.entry(r), fmt.Errorf("the entry was removed, but its key is still in the keychain: %w", err)
		}
	}
	return p.entry(r), nil
}

func whereKept(pool, source string) string {
	if name, ok := strings.CutPrefix(source, "env:"); ok {
		return "remove " + name + " from the environment or the .env file"
	}
	return "remove api_key from config.yaml (model.api_key or providers." + strings.TrimPrefix(pool, "custom:") + ".api_key)"
}

// Logout removes all logins of the pool; keys stay. It returns what it removed.
func (p *Pool) Logout(ctx context.Context) ([]Entry, error) {
	login := func(r record) bool { return r.kind == KindOAuth || r.source == "login" }
	var gone []Entry
	for _, r := range p.records() {
		if login(r) {
			gone = append(gone, p.entry(r))
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	return gone, p.drop(ctx, login)
}

func (p *Pool) drop(ctx context.Context, which func(record) bool) error {
	return p.s.update(ctx, func(doc *document) error {
		doc.pools[p.name] = slices.DeleteFunc(doc.pools[p.name], which)
		return nil
	})
}

// Reset makes one credential, or all if the reference is empty, usable again.
// It returns how many were unusable.
func (p *Pool) Reset(ctx context.Context, ref string) (int, error) {
	which := p.records()
	if ref != "" {
		r, err := p.referred(ref)
		if err != nil {
			return 0, err
		}
		which = []record{r}
	}
	which = slices.DeleteFunc(which, func(r record) bool { return r.state.status == "" })
	if len(which) == 0 {
		return 0, nil
	}
	now := p.s.cfg.Now()
	return len(which), p.change(ctx, which, func(r *record) { r.state = state{at: now} })
}

// Prefer gives a credential a priority; the smallest is the first choice.
func (p *Pool) Prefer(ctx context.Context, ref string, priority int) (Entry, error) {
	r, err := p.referred(ref)
	if err != nil {
		return Entry{}, err
	}
	err = p.change(ctx, []record{r}, func(r *record) { r.priority = priority })
	r.priority = priority
	return p.entry(r), err
}

func (p *Pool) change(ctx context.Context, which []record, change func(*record)) error {
	all := p.records()
	err := p.s.update(ctx, func(doc *document) error {
		for _, r := range which {
			p.put(doc, r.id, all, change)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.sh.mu.Lock()
	defer p.sh.mu.Unlock()
	for _, r := range which {
		delete(p.sh.states, r.identity())
	}
	return nil
}

// Renew gets new tokens for a login now.
func (p *Pool) Renew(ctx context.Context, ref string) (Entry, error) {
	r, err := p.referred(ref)
	if err != nil {
		return Entry{}, err
	}
	if r.kind != KindOAuth {
		return p.entry(r), fmt.Errorf("%q is a key; keys are not renewed, only logins", r.label)
	}
	if program, ok := programOf(r.source); ok {
		return p.entry(r), fmt.Errorf("%w: it is the login of %s; run `%s`, which renews it", ErrKept, program.Title, program.Command)
	}
	renewed, err := p.s.renew(ctx, p.name, r)
	if err != nil {
		return p.entry(r), err
	}
	return p.entry(renewed), nil
}

// referred finds a credential by id, label, position in the list or beginning of
// its id.
func (p *Pool) referred(ref string) (record, error) {
	all := p.records()
	if p.name != "" {
		if _, err := p.s.load(); err != nil {
			return record{}, err
		}
	}
	for _, fits := range []func(int, record) bool{
		func(_ int, r record) bool { return r.id == ref },
		func(_ int, r record) bool { return strings.EqualFold(r.label, ref) },
		func(i int, _ record) bool { return strconv.Itoa(i+1) == ref },
		func(_ int, r record) bool { return len(ref) >= 3 && strings.HasPrefix(r.id, ref) },
	} {
		var found []record
		for i, r := range all {
			if fits(i, r) {
				found = append(found, r)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return record{}, fmt.Errorf("%w: %q; use the id", hermes.ErrAmbiguous, ref)
		}
	}
	return record{}, fmt.Errorf("%s has no credential %q (%w); `hermes auth list %s` shows them", p.name, ref, hermes.ErrNotFound, p.name)
}
