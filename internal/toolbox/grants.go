package toolbox

import (
	"cmp"
	"context"
	"slices"

	"hermes"
)

// owner is who gives a grant on a frontend that names no user.
const owner = "owner"

// maxStored bounds the subject, in bytes, of a grant that is kept on disk.
const maxStored = 8 << 10

// scopes lists what the user may be offered for the session and for good. A
// subject with a secret in it is not written to disk, and a call without a
// subject cannot be told from others.
func (b *Toolbox) scopes(c *call) (session, always []hermes.GrantScope) {
	on := c.subject
	if anyOnce(c.open) {
		return nil, nil
	}
	if !anyBound(c.open) {
		session = append(session, hermes.ScopeKind)
	}
	if on.Text != "" {
		session = append(session, hermes.ScopeCall)
	}
	if b.approvals.rules.Grants == nil || anyNoRemember(c.open) {
		return session, nil
	}
	if on.Text != "" && len(on.Text) <= maxStored && b.o.Redact(on.Text) == on.Text {
		always = append(always, hermes.ScopeCall)
	}
	if !anyBound(c.open) {
		always = append(always, hermes.ScopeKind)
	}
	return session, always
}

// counted returns an answer as it counts. A scope that was not offered allows only
// this call. What cannot be allowed for good holds for the session, for as few calls
// as possible.
func (b *Toolbox) counted(answer hermes.ApprovalAnswer, c *call) hermes.ApprovalAnswer {
	session, always := b.scopes(c)
	if len(session) == 0 { // nothing is kept
		answer.Decision = hermes.AllowOnce
		return answer
	}
	offered := session
	if answer.Decision == hermes.AllowAlways {
		if offered = always; len(always) == 0 {
			answer.Decision, offered = hermes.AllowSession, session[len(session)-1:] // the narrowest
		}
	}
	if answer.Scope == "" {
		answer.Scope = offered[0]
	}
	if !slices.Contains(offered, answer.Scope) {
		answer.Decision = hermes.AllowOnce
	}
	return answer
}

func anyNoRemember(open []hermes.Risk) bool {
	return slices.ContainsFunc(open, func(r hermes.Risk) bool { return r.NoRemember })
}

func anyBound(open []hermes.Risk) bool {
	return slices.ContainsFunc(open, func(r hermes.Risk) bool { return r.Bound })
}

func anyEveryMode(open []hermes.Risk) bool {
	return slices.ContainsFunc(open, func(r hermes.Risk) bool { return r.EveryMode })
}

func anyOnce(open []hermes.Risk) bool {
	return slices.ContainsFunc(open, func(r hermes.Risk) bool { return r.Once })
}

// described is a call with one risk in the form that grants are compared with.
func (a *approvals) described(c *call, key string) hermes.Grant {
	g := hermes.Grant{Tool: c.Name, Key: key, Subject: c.subject.Text, Dir: c.subject.Dir, Unattended: !attended(c.Call)}
	if c.Host != nil {
		g.Platform = c.Host.Session().Platform
	}
	return g
}

// open returns the risks that are not approved yet. Each risk has its own key,
// and the approval of one says nothing about another.
func (a *approvals) open(c *call, found []hermes.Risk) []hermes.Risk {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(found), func(f hermes.Risk) bool {
		switch {
		case f.Once:
			return false
		case f.Bound:
			g := a.described(c, f.Key)
			return g.Subject != "" && (a.answered(g) || !f.NoRemember && a.rules.Grants != nil && a.rules.Grants.Covers(g))
		case f.EveryMode:
			g := a.described(c, f.Key)
			return a.answered(g) || !f.NoRemember && a.rules.Grants != nil && a.rules.Grants.Covers(g)
		}
		return a.covered(a.described(c, f.Key), onlyUser(c.Call))
	})
}

// covered reports whether the session, the settings or a stored grant allow a
// call with one risk.
func (a *approvals) covered(call hermes.Grant, child bool) bool {
	if a.answered(call) {
		return true
	}
	if !call.Unattended && !child && slices.Contains(a.rules.Allowed, call.Key) {
		return true
	}
	return a.rules.Grants != nil && a.rules.Grants.Covers(call)
}

// answered reports whether an answer of the user for this session allows a call with one risk.
func (a *approvals) answered(call hermes.Grant) bool {
	call.Unattended = false // the session's own grants always hold in it
	return slices.ContainsFunc(a.granted, func(g hermes.Grant) bool { return g.Covers(call, a.now()) })
}

// grant keeps what the user has allowed: AllowAlways on disk only, so that what
// is revoked ends in open sessions, too, and AllowSession for the session.
// The error is that of storing it; the grant then holds for the session.
func (a *approvals) grant(ctx context.Context, c *call, answer hermes.ApprovalAnswer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = 0
	if answer.Decision == hermes.AllowOnce {
		return nil
	}
	var grants []hermes.Grant
	for _, f := range c.open {
		g := a.described(c, f.Key)
		g.Unattended, g.Created = false, a.now()
		if answer.Scope == hermes.ScopeKind {
			g.Subject, g.Dir = "", ""
		}
		g.By = cmp.Or(c.Host.Session().User, owner)
		grants = append(grants, g)
	}
	var err error
	if answer.Decision == hermes.AllowAlways {
		if err = a.rules.Grants.Add(context.WithoutCancel(ctx), grants...); err == nil {
			return nil
		}
	}
	a.granted = append(a.granted, grants...)
	return err
}

// Granted lists what the user has allowed every command of a session beyond its walls, for
// the session or for good. It asks the store each time, so that what is revoked ends.
func (b *Toolbox) Granted(s hermes.SessionRef) []hermes.Need {
	a := b.approvals
	a.mu.Lock()
	grants := slices.Clone(a.granted)
	a.mu.Unlock()
	session := len(grants)
	if a.rules.Grants != nil {
		grants = append(grants, a.rules.Grants.All()...)
	}
	var needs []hermes.Need
	for i, g := range grants {
		n, ok := hermes.GrantedNeed(g.Key)
		call := hermes.Grant{Tool: commandTool, Key: g.Key, Platform: s.Platform, Unattended: i >= session && !s.Attended}
		if ok && g.Subject == "" && g.Dir == "" && g.Covers(call, a.now()) && !slices.Contains(needs, n) {
			needs = append(needs, n)
		}
	}
	return needs
}

// commandTool is the tool whose commands walls confine.
const commandTool = "terminal"
