package spend

import (
	"context"
	"time"

	"hermes"
	"hermes/internal/tokens"
)

// firstOutput is how many tokens an answer of a model is taken to have before
// one was seen.
const firstOutput = 2000

// seedTime is how far back the ledger is asked for the answers of a model that
// this process has not asked yet.
const seedTime = 3 * 24 * time.Hour

// guess is what a call may cost.
type guess struct {
	usage  hermes.Usage // of the prompt; no output
	amount hermes.Amount
	priced bool
}

// estimate guesses what a call will cost: the prompt by what was counted of
// the one before, the answer by those that the model gave.
func (g *Governor) estimate(ctx context.Context, books hermes.Ledger, model string, r *hermes.Request) guess {
	e := guess{usage: prompt(model, r)}
	output := g.typical(ctx, books, model)
	if r.MaxTokens > 0 {
		output = min(output, int64(r.MaxTokens))
	}
	whole := e.usage
	whole.Output = output
	e.amount.Tokens = whole.Total()
	e.amount.Money, e.priced = g.cost(model, whole)
	if !e.priced {
		// A cap in money that is used up holds for what has no known price too.
		e.amount.Money = 1
	}
	return e
}

// typical is how many tokens an answer of a model has, from those of this
// process or, before the first, of the last days.
func (g *Governor) typical(ctx context.Context, books hermes.Ledger, model string) int64 {
	g.mu.Lock()
	n, known := g.outputs[model]
	g.mu.Unlock()
	if known {
		return int64(n) + 1
	}
	n = firstOutput
	groups, err := books.Spent(ctx, hermes.SpendQuery{After: g.cfg.Now().Add(-seedTime), By: hermes.SpendByModel, Limit: -1})
	if err != nil {
		return firstOutput // a guess needs no certainty
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
	if len(g.outputs) >= maxModels {
		clear(g.outputs)
	}
	g.outputs[model] = n
}

// prompt guesses how a prompt will be counted. The newest answer in it tells
// how long all before it was, and how much of that is in the cache; what was
// added since goes by its size.
func prompt(model string, r *hermes.Request) hermes.Usage {
	naive := int64(size(r)+3) / 4
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := &r.Messages[i]
		if m.Usage == nil || m.Usage.Prompt() == 0 {
			continue
		}
		calls := max(m.Usage.Calls, 1) // an answer that was asked for again has the sum
		all := (m.Usage.Prompt()+m.Usage.Output)/calls + int64(sizeOf(r.Messages[i+1:])+3)/4
		if all > 3*naive+2000 {
			break // the transcript was shortened since
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

// size is the size of a request in bytes of text. It looks at lengths only: a
// session of thousands of messages must not wait for it.
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

// learn makes the next estimate better. Calls of which nothing was counted
// teach nothing.
func (g *Governor) learn(model string, c hermes.Charge) {
	u := c.Usage
	if u.Total() == 0 || c.Estimated {
		return
	}
	output := float64(u.Output) / float64(max(u.Calls, 1))
	g.mu.Lock()
	typical, known := g.outputs[model]
	g.mu.Unlock()
	if known && typical != firstOutput {
		output = (3*typical + output) / 4
	}
	g.setTypical(model, output)
}
