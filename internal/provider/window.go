package provider

import (
	"errors"

	"hermes"
	"hermes/internal/chain"
	"hermes/internal/fault"
	"hermes/internal/modelinfo"
	"hermes/internal/transport/base"
)

// lengths returns what is known now about a model's context length and its longest
// answer, in tokens; 0 is unknown.
func (c *Catalogue) lengths(ch choice) (window, output int) {
	info := c.infoOf(ch)
	return info.ContextLength, info.OutputLimit
}

// findWindow is the layer that remembers the context length after a service
// refused a request as too long. If the refusal names it, it is kept for the
// model and address. If not, it is guessed from the size of the request, one step
// down at a time.
func (c *Catalogue) findWindow(ch choice) chain.Layer {
	return chain.Watch(func(r *hermes.Request, _ hermes.Delta, err error) {
		if e, ok := errors.AsType[*hermes.ModelError](err); ok && e.Class == hermes.ClassOverflow && !e.Retry {
			c.learnWindow(ch, e, base.Estimate(r))
		}
	})
}

// learnWindow reads the limit out of a refusal. size is that of the request, in tokens.
func (c *Catalogue) learnWindow(ch choice, e *hermes.ModelError, size int) {
	limit := fault.Window(e)
	if limit <= 0 && fault.Allowance(e) == 0 {
		limit = modelinfo.LimitIn(e.Error())
	}
	if limit > 0 {
		c.learned.Lower(ch.BaseURL, ch.model, limit)
		return
	}
	known, _ := c.lengths(ch)
	if limit := fault.Allowance(e); limit > 0 { // of this key, and not of the model: not for the next run
		if known == 0 || limit < known {
			c.learned.SetGuess(ch.BaseURL, ch.model, limit)
		}
		return
	}
	if c.window(ch) > 0 || chain.FarBelow(size, known) {
		return // the user knows it, or the refusal is wrong
	}
	size += size / 4 // the estimate may be too low
	if known > 0 {
		size = min(size, known)
	}
	if step := modelinfo.StepDown(size); step > 0 && size > 0 {
		c.learned.SetGuess(ch.BaseURL, ch.model, step)
	}
}
