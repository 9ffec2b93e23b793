package toolbox

import (
	"context"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/permission"
	"hermes/internal/text"
)

// Undecided are the settings of a project about which the user has not decided.
type Undecided struct {
	Subject hermes.Subject      // what the user is shown
	Rules   permission.Policies // as they hold if they are trusted
	// Decide keeps the user's decision about exactly these settings.
	Decide func(ctx context.Context, trusted bool) error
}

// askTrust asks the user, once a session, whether the settings of the project are trusted, if they would
// allow a call that is asked about otherwise. It reports whether they are trusted now. No model, mode or setting
// answers; silence decides nothing.
func (b *Toolbox) askTrust(ctx context.Context, c *call) bool {
	if b.approvals.rules.Undecided == nil || !attended(c.Call) || inChild(c.Call) || anyEveryMode(c.open) {
		return false
	}
	u := b.approvals.rules.Undecided(c.Host.Session().Dir)
	if u == nil {
		return false
	}
	seen := b.seen(c)
	seen.Texts = texts(c)
	if rest, _ := b.byRules(ctx, c, seen, u.Rules, c.open); len(rest) > 0 || !b.approvals.offers(u.Subject.Detail) {
		return false
	}
	answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{
		CallID: c.ID, Tool: c.Name, Subject: text.Visible(u.Subject.Text), Detail: text.Visible(u.Subject.Detail), Dir: text.VisibleName(u.Subject.Dir),
		Risks: []hermes.Risk{{Key: "trust-project", Once: true, NoRemember: true, EveryMode: true,
			Reason: "the settings of this project would allow a call of " + c.Name + " without asking. Yes trusts them as they are, until they change; no keeps that you do not, and the call is asked about by itself"}},
	})
	switch {
	case err != nil || answer.Decision == hermes.TimedOut || answer.Decision == hermes.Unattended:
		return false
	case !answer.Allowed():
		if err := u.Decide(context.WithoutCancel(ctx), false); err != nil {
			b.o.Log.Warn("keep that the settings of a project are not trusted", "err", err)
		}
		return false
	}
	if err := u.Decide(context.WithoutCancel(ctx), true); err != nil {
		b.o.Log.Warn("trust the settings of a project", "err", err)
		c.Host.Progress("the settings of the project could not be trusted: " + err.Error())
		return false
	}
	return true
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
