package credential

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/lazy"
	"hermes/internal/oauth"
)

// New is a credential to add: a key, the token of a login, or the login of another
// program.
type New struct {
	Label    string // empty makes one
	Secret   hermes.Secret
	Token    *oauth.Token
	Program  string // the id of a program whose login is taken over, with the user's consent
	Keychain bool   // store the key in the keychain
	Priority *int   // nil means after all others
}

// Errors that callers decide by.
var (
	// ErrKept means that a credential is stored elsewhere and must be changed there.
	ErrKept = errors.New("it is stored elsewhere")
	// ErrThere means that the same key is already in the pool.
	ErrThere = errors.New("this credential is already in the pool")
)

// Add puts a credential into the pool. A login replaces an older login of the
// same account.
func (p *Pool) Add(ctx context.Context, n New) (Entry, error) {
	r, err := p.record(ctx, n)
	if err != nil {
		return Entry{}, err
	}
	if n.Keychain {
		if err := p.deposit(ctx, &r); err != nil {
			return Entry{}, err
		}
	}
	now := p.s.cfg.Now()
	err = p.s.update(ctx, func(doc *document) error {
		all := p.records()
		if i := slices.IndexFunc(doc.pools[p.name], func(o record) bool { return replaces(r, o) }); i >= 0 {
			old := &doc.pools[p.name][i]
			r.id, r.priority = old.id, old.priority
			if n.Label != "" {
				old.label = n.Label
			}
			r.label = old.label
			old.secret, old.refresh, old.fingerprint, old.expires = r.secret, r.refresh, r.fingerprint, r.expires
			old.baseURL, old.state, old.refreshed = r.baseURL, state{at: now}, now
			return nil
		}
		if i := slices.IndexFunc(all, func(o record) bool { return o.fingerprint != "" && o.fingerprint == r.fingerprint }); i >= 0 {
			return fmt.Errorf("%w as %q", ErrThere, all[i].label)
		}
		r.priority = following(all)
		if n.Priority != nil {
			r.priority = *n.Priority
		}
		if r.label == "" {
			r.label = label(r, all)
		}
		doc.pools[p.name] = append(doc.pools[p.name], r)
		return nil
	})
	if err != nil {
		return Entry{}, err
	}
	return p.entry(r), nil
}

// variable matches the beginning of a line of an .env file. Keys may only end in =.
var variable = lazy.Regexp(`^(?:[A-Z][A-Z0-9]*_)+[A-Z0-9]+=.`)

func (p *Pool) record(ctx context.Context, n New) (record, error) {
	if p.name == "" {
		return record{}, errors.New("an address without a name has no credential pool; name the provider under providers in config.yaml")
	}
	id := make([]byte, 3)
	if _, err := rand.Read(id); err != nil {
		return record{}, err
	}
	r := record{id: hex.EncodeToString(id), label: n.Label, kind: KindKey, source: "manual", secret: n.Secret}
	if n.Program != "" {
		return p.program(ctx, r, n.Program)
	}
	if n.Token != nil {
		r.source = "login"
		if !n.Token.Lasting {
			r.kind, r.refresh = KindOAuth, hermes.Secret(n.Token.Refresh)
		}
		r.take(*n.Token, p.s.cfg.Now())
		return r, nil
	}
	text := strings.TrimSpace(n.Secret.Reveal())
	if text == "" {
		return record{}, errors.New("the key is empty")
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f || c > 0x7e }) {
		return record{}, errors.New("the key contains a blank or an invalid character; copy it again")
	}
	if strings.ContainsAny(text, "\"'`") {
		return record{}, errors.New("the key contains a quotation mark; copy it without quotes")
	}
	if variable().MatchString(text) {
		return record{}, errors.New("this begins with the name of a variable; paste only the part after the =")
	}
	r.secret = hermes.Secret(text)
	r.fingerprint = fingerprint(r.secret)
	return r, nil
}

// program makes a reference to the login of another program, which must be there. It
// may have expired: the program renews it.
func (p *Pool) program(ctx context.Context, r record, id string) (record, error) {
	i := slices.IndexFunc(Programs(), func(program Program) bool { return program.ID == id })
	if i < 0 {
		return r, fmt.Errorf("no login of a program %q is known", id)
	}
	program := Programs()[i]
	if program.Pool != p.name {
		return r, fmt.Errorf("the login of %s is for %s; run `hermes auth add %s --from %s`", program.Title, program.Pool, program.Pool, id)
	}
	if p.has(program) {
		return r, fmt.Errorf("%w: the login of %s", ErrThere, program.Title)
	}
	r.kind, r.source, r.label = KindOAuth, programSource+id, cmp.Or(r.label, program.Title)
	ready, err := p.current(ctx, r, program)
	if err != nil && ready.secret == "" {
		return r, err
	}
	return ready, nil
}

// deposit stores the key in the keychain; the record keeps only its name.
func (p *Pool) deposit(ctx context.Context, r *record) error {
	if p.s.cfg.Keychain == nil {
		return errors.New("this machine has no keychain; add the key without --keychain")
	}
	if r.kind != KindKey {
		return errors.New("the keychain can store keys only, not logins")
	}
	name := p.name + "/" + r.id
	if err := p.s.cfg.Keychain.Set(ctx, name, r.secret.Reveal()); err != nil {
		return fmt.Errorf("%w; without --keychain the key goes into auth.json, readable only by you", err)
	}
	r.kind, r.source, r.secret = KindKeychain, "keychain:"+name, ""
	return nil
}

// replaces reports whether a new login is one of the same account.
func replaces(r, old record) bool {
	_, taken := programOf(r.source)
	_, before := programOf(old.source)
	return !taken && !before && r.kind == KindOAuth && old.kind == KindOAuth && r.account != "" && r.account == old.account
}

func following(all []record) int {
	next := 0
	for _, r := range all {
		next = max(next, r.priority+1)
	}
	return next
}

// label makes a new name.
func label(r record, all []record) string {
	word := "key"
	if r.kind == KindOAuth {
		word = "login"
	}
	for n := 1; ; n++ {
		name := word + " " + strconv.Itoa(n)
		if !slices.ContainsFunc(all, func(o record) bool { return o.label == name }) {
			return name
		}
	}
}
