package spend

import (
	"context"
	"time"

	"hermes"
	"hermes/internal/tokens"
)

// firstOutput is the expected number of tokens of an answer before the first one
// was seen.
const firstOutput = 2000

// seedTime is how far back to look in the ledger for answers of a model that this
// process has not called yet.
const seedTime = 3 * 24 * time.Hour

// guess is what a call may cost.
type guess struct {
	usage  hermes.Usage // of the prompt; no output
	amount hermes.Amount
	priced bool
}

// estimate guesses what an attempt will cost: the prompt from the counts of the
// attempt or the call before, the answer from the model's earlier answers.
func (c *call) estimate(ctx context.Context, model string) guess {
	g, r := c.g, c.request
	e := guess{usage: prompt(model, r)}
	if c.counted != nil && c.counted.Prompt() > e.usage.Prompt() {
		e.usage = hermes.Usage{Input: c.counted.Prompt()}
	}
	output := g.typical(ctx, c.ledger, model)
	if r.MaxTokens > 0 {
		output = min(output, int64(r.MaxTokens))
	}
	whole := e.usage
	whole.Output = output
	e.amount.Tokens = whole.Total()
	e.amount.Money, e.priced, _ = g.cost(model, whole, g.longCache(r))
	if !e.priced {
		// A used-up cap in money also blocks models without a known price.
		e.amount.Money = max(e.amount.Money, 1)
	}
	return e
}

// typical returns the usual number of tokens in an answer of a model: from this
// process or, before its first answer, from the last days.
func (g *Governor) typical(ctx context.Context, ledger hermes.Ledger, model string) int64 {
	g.mu.Lock()
	n, known := g.outputs.Get(model)
	g.mu.Unlock()
	if known {
		return int64(n) + 1
	}
	n = firstOutput
	groups, err := ledger.Spent(ctx, hermes.SpendQuery{After: g.cfg.Now().Add(-seedTime), By: hermes.SpendByModel, Limit: -1})
	if err != nil {
		return firstOutput // it is only a guess
	}
	for _, s := range groups {
		if s.Name == model && s.Usage.Calls > 0 {
			n = float64(s.Usage.Output) / float64(s.Usage.Calls)
		}
	}
	g.setTypical(model, n)
	return int64(n) + 1
}

func (g *Governor) setTypical(model string, n float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outputs.Put(model, n)
}

// prompt guesses the token counts of a prompt. The newest answer in it says how
// long everything before it was, and how much of that is in the cache. The rest
// is estimated by its size.
func prompt(model string, r *hermes.Request) hermes.Usage {
	naive := int64(size(r)+3) / 4
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := &r.Messages[i]
		if m.Usage == nil || m.Usage.Prompt() == 0 {
			continue
		}
		calls := max(m.Usage.Calls, 1) // an answer with retries has the sum of all attempts
		all := (m.Usage.Prompt()+m.Usage.Output)/calls + int64(sizeOf(r.Messages[i+1:])+3)/4
		if all > 3*naive+2000 {
			break // the transcript was shortened since then
		}
		u := hermes.Usage{}
		if m.Model == model {
			u.CacheRead = min(all, (m.Usage.CacheRead+m.Usage.CacheWrite)/calls)
		}
		if m.Usage.CacheWrite > 0 {
			u.CacheWrite = all - u.CacheRead
		} else {
			u.Input = all - u.CacheRead
		}
		return u
	}
	return hermes.Usage{Input: naive}
}

// size returns the size of a request in bytes of text. It only adds up lengths,
// so that it is fast for sessions with thousands of messages.
func size(r *hermes.Request) int {
	n := len(r.System)
	for i := range r.Tools {
		n += len(r.Tools[i].Name) + len(r.Tools[i].Description) + len(r.Tools[i].Schema) + 16
	}
	return n + sizeOf(r.Messages)
}

func sizeOf(messages []hermes.Message) int {
	n := 0
	for i := range messages {
		m := &messages[i]
		n += 16
		for j := range m.Parts {
			n += len(m.Parts[j].Text)
			if m.Parts[j].Image != nil {
				n += 4 * tokens.Image
			}
		}
		for j := range m.Calls {
			n += len(m.Calls[j].Name) + len(m.Calls[j].Arguments)
		}
		for j := range m.Reasoning {
			n += len(m.Reasoning[j].Text)
		}
	}
	return n
}

// learn improves the next estimate. Calls without counts are ignored.
func (g *Governor) learn(model string, c hermes.Charge) {
	u := c.Usage
	if u.Total() == 0 || c.Estimated {
		return
	}
	output := float64(u.Output) / float64(max(u.Calls, 1))
	g.mu.Lock()
	typical, known := g.outputs.Get(model)
	g.mu.Unlock()
	if known && typical != firstOutput {
		output = (3*typical + output) / 4
	}
	g.setTypical(model, output)
}
