package toolbox

import (
	"context"

	"hermes"
)

// judge lets the model of the smart mode decide about one call. It reports
// whether it did: without a refusal the call then runs, this once.
func (b *Toolbox) judge(ctx context.Context, c *hermes.Call, shown hermes.ApprovalRequest) (decided bool, refused *hermes.Result) {
	if b.approvals.rules.Judge == nil || !b.approvals.smart() || anyNoRemember(shown.Risks) {
		return false, nil
	}
	c.Host.Progress("asking a model whether this may run: " + reasons(shown.Risks))
	defer func() {
		if !decided {
			c.Host.Progress("") // what comes next is a question to the person
		}
	}()
	verdict, err := b.approvals.rules.Judge(ctx, c.Host.Session(), shown)
	if err != nil {
		if ctx.Err() == nil {
			b.log.Warn("judge a call", "tool", c.Name, "call", c.ID, "err", err)
		}
		return false, nil
	}
	b.log.Info("a call was judged", "tool", c.Name, "call", c.ID, "verdict", string(verdict), "reason", reasons(shown.Risks))
	switch verdict {
	case hermes.AllowOnce:
		c.Host.Progress("judged harmless, running without a question: " + reasons(shown.Risks))
		b.approvals.allowOnce()
		return true, nil
	case hermes.Deny:
		r := b.approvals.refusal("denied", "an automatic review judged it too dangerous to run or to ask for.", shown.Risks)
		return true, &r
	}
	return false, nil
}

func (a *approvals) smart() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode == ModeSmart
}

// allowOnce ends the row of refusals.
func (a *approvals) allowOnce() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = 0
}
