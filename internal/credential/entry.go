package credential

import (
	"time"

	"hermes"
)

// Entry is a credential as it may be shown.
type Entry struct {
	ID, Label string
	Kind      string // KindKey, KindOAuth or KindKeychain
	Source    string
	Priority  int
	Hint      string // head and tail of the secret; empty if it is stored elsewhere
	Account   string
	Expires   time.Time // of a login's token; zero: unknown
	// Program is set for the login of another program, and Renew for what the
	// user runs if it cannot be used as it is.
	Program, Renew string
	// Revoked, Resting and Until say why it cannot be used, Reason after what error.
	Revoked, Resting bool
	Until            time.Time
	Reason           hermes.Class
	Requests         int
	Used             time.Time
}

// Entries lists the credentials, best first.
func (p *Pool) Entries() ([]Entry, error) {
	if p.name != "" {
		if _, err := p.s.load(); err != nil {
			return nil, err
		}
	}
	var out []Entry
	for _, r := range p.records() {
		out = append(out, p.entry(r))
	}
	return out, nil
}

func (p *Pool) entry(r record) Entry {
	now := p.s.cfg.Now()
	p.sh.mu.Lock()
	defer p.sh.mu.Unlock()
	e := Entry{
		ID: r.id, Label: r.label, Kind: r.kind, Source: r.source, Priority: r.priority, Hint: Mask(r.secret), Account: r.account,
		Expires: r.expires, Revoked: r.revoked(), Resting: r.resting(now), Requests: r.requests + p.sh.counts[r.id], Used: r.used,
	}
	if e.Revoked || e.Resting {
		e.Reason = r.state.reason
	}
	if program, ok := programOf(r.source); ok {
		e.Program = program.Title
		if r.secret == "" && !p.unread(r, program) || !r.expires.IsZero() && !now.Before(r.expires) || r.fingerprint != "" && p.sh.stale[r.id] == r.fingerprint {
			e.Renew = program.Command
		}
	}
	if e.Resting {
		e.Until = r.state.until
	}
	return e
}
