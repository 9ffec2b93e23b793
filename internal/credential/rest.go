package credential

import (
	"context"
	"slices"
	"strings"
	"time"

	"hermes"
)

// How long a credential is paused after a failure, if the service does not say.
const (
	restAuth    = 5 * time.Minute
	restLimit   = time.Hour
	restBilling = 24 * time.Hour
	restModel   = time.Minute // of a key that may not use one model, but others
	// freshToken is the minimum age of a refused token that is worth renewing: a
	// younger one cannot have expired.
	freshToken = time.Minute
)

// judge returns the state of a credential after a failure, and whether the
// failure is about a quota of its account.
func judge(e *hermes.ModelError, now time.Time) (st state, quota bool) {
	st = state{status: statusExhausted, reason: e.Class, at: now}
	rest := restLimit
	switch e.Class {
	case hermes.ClassAuthPermanent:
		st.status = statusRevoked
		return st, false
	case hermes.ClassAuth:
		rest = restAuth
	case hermes.ClassBilling:
		rest, quota = restBilling, true
	case hermes.ClassModelNotFound:
		rest, quota = restModel, true
	default:
		quota = true
	}
	if e.RetryAfter > 0 {
		rest, st.stated = e.RetryAfter, true
	}
	st.until = now.Add(rest)
	return st, quota
}

// Report records how a call ended; see hermes.Keys. Only the flags and the class
// of the error matter.
func (p *Pool) Report(ctx context.Context, k hermes.Key, e *hermes.ModelError) bool {
	all := p.records()
	now := p.s.cfg.Now()
	i := slices.IndexFunc(all, func(r record) bool { return r.id == k.ID })
	switch {
	case e == nil:
		if i >= 0 && all[i].state.status != "" && p.sh.lentSince(all[i]) {
			p.keep(ctx, all, []record{all[i]}, state{at: now})
		}
		return false
	case !e.Rotate:
		return false
	case i < 0: // it was removed while it was in use
		return slices.ContainsFunc(all, func(r record) bool { return r.usable(now) })
	}
	failed := all[i]
	if failed.kind != KindKeychain && fingerprint(k.Secret) != failed.fingerprint {
		return true // another process has renewed or replaced it
	}
	if _, program := programOf(failed.source); program && (e.Class == hermes.ClassAuth || e.Class == hermes.ClassAuthPermanent) {
		p.sh.mark(failed.id, failed.fingerprint) // until the program has renewed it
		return true
	}
	if failed.kind == KindOAuth && e.Class == hermes.ClassAuth && failed.refresh != "" && now.Sub(failed.refreshed) > freshToken {
		p.sh.mark(failed.id, failed.fingerprint)
		return true
	}
	st, quota := judge(e, now)
	hit := slices.DeleteFunc(slices.Clone(all), func(r record) bool { return !same(failed, r, quota) || r.revoked() })
	p.keep(ctx, all, hit, st)
	return slices.ContainsFunc(p.records(), func(r record) bool { return r.usable(now) })
}

// lentSince reports whether a credential was lent after it got its state. Only
// then does a success end the state.
func (sh *shared) lentSince(r record) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return !sh.used[r.id].Before(r.state.at) || !r.used.Before(r.state.at)
}

// mark records that a token was refused, so that it is renewed before it is lent.
func (sh *shared) mark(id, print string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.stale[id] = print
}

// keep sets the state of credentials: at once in this process, and in the file
// for the others, unless it is the only credential and stored elsewhere.
func (p *Pool) keep(ctx context.Context, all, hit []record, st state) {
	p.sh.mu.Lock()
	for _, r := range hit {
		p.sh.states[r.identity()] = st
	}
	p.sh.mu.Unlock()
	ownsNone := !slices.ContainsFunc(hit, func(r record) bool { return !borrowed(r.source) })
	if p.name == "" || len(all) == 1 && ownsNone {
		return
	}
	// Store the state even if the turn is over.
	err := p.s.update(context.WithoutCancel(ctx), func(doc *document) error {
		for _, r := range hit {
			p.put(doc, r.id, all, func(r *record) { r.state = st })
		}
		return nil
	})
	if err != nil {
		p.s.cfg.Warn("cannot store the state of a credential", err)
		return
	}
	p.sh.mu.Lock()
	defer p.sh.mu.Unlock()
	for _, r := range hit {
		if p.sh.states[r.identity()] == st {
			delete(p.sh.states, r.identity())
		}
	}
}

// put changes a credential in the file. It creates a missing reference and drops
// references whose secret is gone.
func (p *Pool) put(doc *document, id string, all []record, change func(*record)) {
	records := slices.DeleteFunc(doc.pools[p.name], func(r record) bool {
		return borrowed(r.source) && !slices.ContainsFunc(p.given, func(g record) bool { return g.source == r.source })
	})
	at := slices.IndexFunc(records, func(r record) bool { return r.id == id })
	if at < 0 {
		known := slices.IndexFunc(all, func(r record) bool { return r.id == id && borrowed(r.source) })
		if known < 0 {
			doc.pools[p.name] = records
			return // it was removed meanwhile
		}
		records = append(records, all[known])
		at = len(records) - 1
	}
	if i := slices.IndexFunc(p.given, func(g record) bool { return g.source == records[at].source }); i >= 0 {
		records[at].fingerprint = p.given[i].fingerprint
	}
	if i := slices.IndexFunc(all, func(r record) bool { return r.id == id && strings.HasPrefix(r.source, programSource) }); i >= 0 {
		records[at].fingerprint = all[i].fingerprint
	}
	change(&records[at])
	p.sh.settle(records)
	doc.pools[p.name] = records
}
