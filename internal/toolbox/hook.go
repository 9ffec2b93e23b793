package toolbox

import (
	"context"
	"encoding/json"
	"errors"

	"hermes"
)

// beforeTool shows hooks a call before it is judged. What they write is made canonical
// again, so that the same bytes are judged, shown, journaled and run.
func (b *Toolbox) beforeTool(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		ready, answer := b.o.Hooks.BeforeTool(ctx, c.Call, func(raw json.RawMessage) (json.RawMessage, error) {
			arguments, problem := fitted(c.Entry, raw)
			if problem != "" {
				return nil, errors.New(problem)
			}
			return arguments, nil
		})
		if c.Call = ready; answer != nil {
			c.by = byHook
			answer.Text, answer.Shown = b.o.Redact(answer.Text), b.o.Redact(answer.Shown)
			return b.answered(ctx, c, *answer)
		}
		return next(ctx, c)
	}
}

// beforeAsk lets hooks refuse a call about which a user is about to be asked.
func (b *Toolbox) beforeAsk(ctx context.Context, c *call, a hermes.ApprovalRequest) *hermes.Result {
	if !attended(c.Call) {
		return nil
	}
	answer := b.o.Hooks.BeforeAsk(ctx, c.Call, a)
	if answer == nil || ctx.Err() != nil { // an interrupt is no refusal
		return nil
	}
	answer.Text, answer.Shown = b.o.Redact(answer.Text), b.o.Redact(answer.Shown)
	if refused := b.recordAnswer(ctx, c, byHook, hermes.ApprovalAnswer{Decision: hermes.Deny}); refused != nil {
		return refused
	}
	return answer
}

// beforeRun shows hooks a call that is approved. It does not start one whose turn has
// ended meanwhile.
func (b *Toolbox) beforeRun(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		if answer := b.o.Hooks.BeforeRun(ctx, c.Call); answer != nil {
			c.by = byHook
			answer.Text = b.o.Redact(answer.Text)
			return *answer
		}
		if ctx.Err() != nil {
			c.by = byInterrupt
			return hermes.ErrorResult("interrupted: the turn was stopped before this call ran")
		}
		return next(ctx, c)
	}
}

// afterTool lets hooks change a result. They add sources of untrusted text to it, but
// never remove one.
func (b *Toolbox) afterTool(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		return b.o.Hooks.AfterTool(ctx, c.Call, next(ctx, c), func(was, now hermes.Result) hermes.Result {
			if now.Text != was.Text || now.Shown != was.Shown {
				now.Text, now.Shown = b.o.Redact(now.Text), b.o.Redact(now.Shown)
			}
			added := hermes.WithoutSources(now.Provenance, was.Provenance)
			now.Provenance = hermes.AddProvenance(was.Provenance, b.chosenNotes(c.Call, added))
			return now
		})
	}
}
