package toolbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/permission"
	"hermes/internal/text"
)

// Undecided are the settings of a project about which the user has not decided.
type Undecided struct {
	Subject hermes.Subject      // what the user is shown
	Rules   permission.Policies // as they hold if they are trusted
	Hash    string              // the version, as of [Approvals.Settings]
	// ChangedSince reports whether a file of them was changed or moved at a time or after it.
	ChangedSince func(time.Time) bool
	// Decide keeps the user's decision about exactly these settings.
	Decide func(ctx context.Context, trusted bool) error
}

// askTrust asks the user, once a session, whether the settings of the project are trusted, if they would
// allow a call that is asked about otherwise. It reports whether they are trusted now. No model, mode or setting
// answers; silence decides nothing. The question says what the session may have done to them. If it has read untrusted
// text, which may have had them changed, it does not ask: then why says so for the question about the call.
func (b *Toolbox) askTrust(ctx context.Context, c *call) (trusted bool, why string) {
	if b.approvals.rules.Undecided == nil || !attended(c.Call) || onlyUser(c.Call) || anyEveryMode(c.open) {
		return false, ""
	}
	u := b.approvals.rules.Undecided(c.Host.Session().Dir)
	if u == nil {
		return false, ""
	}
	seen := b.seen(c)
	seen.Texts = texts(c)
	if rest, _ := b.byRules(ctx, c, seen, u.Rules, c.open); len(rest) > 0 || !b.approvals.offers(u.Subject.Detail) {
		return false, ""
	}
	reason := "the settings of this project would allow a call of " + c.Name + " without asking. Yes trusts them as they are, until they change; no keeps that you do not, and the call is asked about by itself"
	changed, from := b.settingsChanged(c, u), strings.TrimSpace(c.Host.Session().Provenance)
	switch {
	case changed && from != "":
		return false, "the settings of this project would allow it, but they were changed since this session began, which has read text that you may not have written (" + from +
			"), so you are not asked to trust them here: look at them with `hermes trust`"
	case changed:
		reason += ". They were changed since this session began, maybe by the session itself"
	case from != "":
		reason += ". This session has read text that you may not have written (" + from + ")"
	}
	answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{
		CallID: c.ID, Tool: c.Name, Subject: text.Visible(u.Subject.Text), Detail: text.Visible(u.Subject.Detail), Dir: text.VisibleName(u.Subject.Dir),
		Risks: []hermes.Risk{{Key: "trust-project", Once: true, NoRemember: true, EveryMode: true, Reason: text.VisibleName(reason)}},
	})
	switch {
	case err != nil || answer.Decision == hermes.TimedOut || answer.Decision == hermes.Unattended:
		return false, ""
	case !answer.Allowed():
		if err := u.Decide(context.WithoutCancel(ctx), false); err != nil {
			b.o.Log.Warn("keep that the settings of a project are not trusted", "err", err)
		}
		return false, ""
	}
	if err := u.Decide(context.WithoutCancel(ctx), true); err != nil {
		b.o.Log.Warn("trust the settings of a project", "err", err)
		c.Host.Progress("the settings of the project could not be trusted: " + err.Error())
		return false, ""
	}
	return true, ""
}

// noteSettings remembers the version of the project's settings before the first call of the session.
func (b *Toolbox) noteSettings(c *call) {
	if b.approvals.rules.Settings == nil || c.Host == nil {
		return
	}
	b.approvals.mu.Lock()
	defer b.approvals.mu.Unlock()
	if b.approvals.began == nil {
		b.approvals.began = new(b.approvals.rules.Settings(c.Host.Session().Dir))
	}
}

// settingsChanged reports whether settings are not those with which the session began. If it is resumed, only the times of
// their files tell.
func (b *Toolbox) settingsChanged(c *call, u *Undecided) bool {
	b.approvals.mu.Lock()
	began := b.approvals.began
	b.approvals.mu.Unlock()
	started := c.Host.Session().Started
	return began == nil || *began != u.Hash || started.IsZero() || u.ChangedSince(started)
}

// offers reports whether settings are to be asked about: once a session.
func (a *approvals) offers(shown string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if shown = strings.TrimSpace(shown); slices.Contains(a.offered, shown) {
		return false
	}
	a.offered = append(a.offered, shown)
	return true
}
