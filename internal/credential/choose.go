package credential

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
)

// The strategies, as the settings name them.
const (
	FillFirst  = "fill_first" // the first one that is usable
	RoundRobin = "round_robin"
	Random     = "random"
	LeastUsed  = "least_used"
)

// Strategies lists them.
func Strategies() []string { return []string{FillFirst, RoundRobin, Random, LeastUsed} }

// lease keeps a session with its credential.
type lease struct {
	id    string
	until time.Time
}

const (
	// leaseTime is how long a session keeps its credential after a call: as long
	// as the service's cache of it may be warm.
	leaseTime = 5 * time.Minute
	// mostLeases bounds the sessions that are remembered.
	mostLeases = 1024
)

// choose returns a credential for a session that is not one of the failed ones.
func (p *Pool) choose(session string, failed []string) (record, error) {
	all := p.records()
	now := p.s.cfg.Now()
	usable := slices.DeleteFunc(slices.Clone(all), func(r record) bool {
		return !r.usable(now) || slices.Contains(failed, r.id)
	})
	if len(usable) == 0 {
		return p.resort(all, failed, now)
	}
	strategy := p.s.cfg.Strategies[p.name]
	if len(usable) == 1 || strategy == "" || strategy == FillFirst {
		return usable[0], nil
	}
	p.sh.mu.Lock()
	defer p.sh.mu.Unlock()
	r, held := p.sh.leased(session, usable, now)
	if !held {
		switch strategy {
		case RoundRobin:
			r = p.sh.after(all, usable)
		case Random:
			r = usable[min(int(p.s.cfg.Rand()*float64(len(usable))), len(usable)-1)]
		case LeastUsed:
			r = p.sh.least(usable, now)
		default:
			r = usable[0]
			p.strange(strategy)
		}
	}
	p.sh.last = r.id
	p.sh.lend(session, r.id, now)
	return r, nil
}

// strange warns once about an unknown strategy. The caller holds the lock.
func (p *Pool) strange(strategy string) {
	if !p.sh.reported {
		p.sh.reported = true
		p.s.cfg.Warn("unknown credential strategy, using fill_first", fmt.Errorf("credential_pool_strategies.%s is %q, not one of %s",
			p.name, strategy, strings.Join(Strategies(), ", ")))
	}
}

// leased returns the credential that a session has. The caller holds the lock.
func (sh *shared) leased(session string, usable []record, now time.Time) (record, bool) {
	l, ok := sh.leases.Get(session)
	if !ok || session == "" || now.After(l.until) {
		return record{}, false
	}
	i := slices.IndexFunc(usable, func(r record) bool { return r.id == l.id })
	if i < 0 {
		return record{}, false
	}
	return usable[i], true
}

// lend records which session has which credential. The caller holds the lock.
func (sh *shared) lend(session, id string, now time.Time) {
	if session == "" {
		return
	}
	sh.leases.Put(session, lease{id: id, until: now.Add(leaseTime)})
}

// after returns the usable one that follows the last one lent, in the order of
// all. The caller holds the lock.
func (sh *shared) after(all, usable []record) record {
	at := slices.IndexFunc(all, func(r record) bool { return r.id == sh.last })
	for i := range all {
		next := all[(at+1+i)%len(all)].id
		if j := slices.IndexFunc(usable, func(r record) bool { return r.id == next }); j >= 0 {
			return usable[j]
		}
	}
	return usable[0]
}

// least returns the one with the fewest sessions, then the fewest requests. The
// caller holds the lock.
func (sh *shared) least(usable []record, now time.Time) record {
	sessions := map[string]int{}
	for _, l := range sh.leases.All() {
		if !now.After(l.until) {
			sessions[l.id]++
		}
	}
	return slices.MinFunc(usable, func(a, b record) int {
		return cmp.Or(cmp.Compare(sessions[a.id], sessions[b.id]), cmp.Compare(a.requests+sh.counts[a.id], b.requests+sh.counts[b.id]))
	})
}

// shortRest is how long a stated pause may be while the credential is still lent:
// the retry layer waits that long itself.
const shortRest = time.Minute

// resort handles a pool without a usable credential. A pause that is only our
// guess, or is over soon, does not block calls: it returns the credential that is
// available again first.
func (p *Pool) resort(all []record, failed []string, now time.Time) (record, error) {
	var first *record
	for i := range all {
		r := &all[i]
		if r.revoked() || slices.Contains(failed, r.id) {
			continue
		}
		if first == nil || r.state.until.Before(first.state.until) {
			first = r
		}
	}
	if first == nil {
		return record{}, p.exhausted(all)
	}
	wait := first.state.until.Sub(now)
	if !first.state.stated || wait <= shortRest {
		return *first, nil
	}
	return record{}, &hermes.ModelError{
		Class: hermes.ClassRateLimit, Provider: p.name, RetryAfter: wait, Retry: true, Fallback: true,
		Message: fmt.Sprintf("%s until %s", p.allRest(len(all)), first.state.until.Local().Format("15:04:05 on 2 January")),
	}
}

func (p *Pool) allRest(n int) string {
	if n == 1 {
		return "its only credential is paused"
	}
	return fmt.Sprintf("all %d credentials are paused", n)
}

// exhausted is the error of a pool without a usable credential: only the user can
// help.
func (p *Pool) exhausted(all []record) error {
	e := &hermes.ModelError{Class: hermes.ClassAuthPermanent, Provider: p.name, Fallback: true}
	if len(all) == 0 {
		e.Message = fmt.Sprintf("no credential; add one with `hermes auth add %s`", p.name)
		return e
	}
	var names []string
	for _, r := range all {
		names = append(names, fmt.Sprintf("%q", r.label))
	}
	e.Message = fmt.Sprintf("no usable credential (%s); run `hermes auth status %s` to see why, or `hermes auth add %s` to add one",
		strings.Join(names, ", "), p.name, p.name)
	return e
}
