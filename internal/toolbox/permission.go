package toolbox

import (
	"context"
	"slices"

	"hermes"
)

// permission judges every call, whoever made it: the model, a script or a child. It
// finds the risks of the call, refuses what a rule forbids, and leaves to the layer
// approval what neither the mode nor a grant allows.
func (b *Toolbox) permission(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		if glob := b.denied(ctx, c); glob != "" {
			return forbidden("it matches the rule " + glob + " in approvals.deny")
		}
		var found []hermes.Risk
		if assessor, ok := c.tool.(hermes.RiskAssessor); ok {
			found = assessor.AssessRisk(ctx, c.Call)
		}
		tainted, ok := b.taint(c)
		if ok {
			found = append(slices.Clip(found), tainted)
		}
		if i := slices.IndexFunc(found, func(r hermes.Risk) bool { return r.Deny }); i >= 0 {
			return forbidden(found[i].Reason)
		}
		if len(found) > 0 {
			c.subject = subject(ctx, c)
			if ok { // what is kept is shown whole
				c.subject.Text, c.subject.Detail = spelled(c.Arguments), ""
			}
			c.open = b.approvals.open(c, found)
		}
		return next(ctx, c)
	}
}

// forbidden is the refusal of a call that no mode and no approval allows.
func forbidden(why string) hermes.Result {
	return blocked("forbidden", "BLOCKED: this is never run: no mode and no approval can allow it. "+
		"Do not retry it, do not rephrase it, and do not try to reach the same goal by a different command. "+
		"If it is really needed, the user must do it by hand.", why)
}
