package toolbox

import (
	"context"

	"hermes"
)

// judge lets the model of the smart mode decide about one call and reports
// whether it did. If it decided without a refusal, the call runs this once.
func (b *Toolbox) judge(ctx context.Context, c *call, shown hermes.ApprovalRequest) (decided bool, refused *hermes.Result) {
	if b.approvals.rules.Judge == nil || !attended(c.Call) || !b.approvals.smart() || anyNoRemember(shown.Risks) {
		return false, nil
	}
	c.Host.Progress("asking a model whether this is safe: " + reasons(shown.Risks))
	defer func() {
		if !decided {
			c.Host.Progress("") // a question to the user follows
		}
	}()
	verdict, err := b.approvals.rules.Judge(ctx, c.Host.Session(), shown)
	if err != nil {
		if ctx.Err() == nil {
			b.log.Warn("judge a call", "tool", c.Name, "call", c.ID, "err", err)
		}
		return false, nil
	}
	b.log.Info("judged a call", "tool", c.Name, "call", c.ID, "verdict", string(verdict), "reason", reasons(shown.Risks))
	switch verdict {
	case hermes.AllowOnce:
		c.Host.Progress("judged safe, running without asking: " + reasons(shown.Risks))
		b.approvals.allowOnce()
		return true, nil
	case hermes.Deny:
		r := b.approvals.refusal("denied", "an automatic check judged it too dangerous to run or to ask about.", shown.Risks)
		return true, &r
	}
	return false, nil
}

func (a *approvals) smart() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode == ModeSmart
}

// allowOnce resets the count of refusals in a row.
func (a *approvals) allowOnce() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = 0
}
