package provider

import (
	"context"
	"errors"
	"iter"

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
	return func(next hermes.Model) hermes.Model { return &windowFinder{Model: next, c: c, ch: ch} }
}

type windowFinder struct {
	hermes.Model
	c  *Catalogue
	ch choice
}

func (m *windowFinder) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		for d, err := range m.Model.Stream(ctx, r) {
			if e, ok := errors.AsType[*hermes.ModelError](err); ok && e.Class == hermes.ClassOverflow && !e.Retry {
				m.learn(e, base.Estimate(r))
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// learn reads the limit out of a refusal. size is that of the request, in tokens.
func (m *windowFinder) learn(e *hermes.ModelError, size int) {
	limit := fault.Window(e)
	if limit <= 0 && fault.Allowance(e) == 0 {
		limit = modelinfo.LimitIn(e.Error())
	}
	if limit > 0 {
		m.c.learned.Lower(m.ch.BaseURL, m.ch.model, limit)
		return
	}
	known, _ := m.c.lengths(m.ch)
	if limit := fault.Allowance(e); limit > 0 { // of this key, and not of the model: not for the next run
		if known == 0 || limit < known {
			m.c.learned.SetGuess(m.ch.BaseURL, m.ch.model, limit)
		}
		return
	}
	if m.c.window(m.ch) > 0 || chain.FarBelow(size, known) {
		return // the user knows it, or the refusal is wrong
	}
	size += size / 4 // the estimate may be too low
	if known > 0 {
		size = min(size, known)
	}
	if step := modelinfo.StepDown(size); step > 0 && size > 0 {
		m.c.learned.SetGuess(m.ch.BaseURL, m.ch.model, step)
	}
}

// boundAnswer is the layer that keeps an answer within the window: it lowers a
// limit that does not fit, and sets one for the user's own servers if the request
// has none. Such a server lets a small model repeat itself until the window is
// full, or for ever. Services have limits of their own.
func (c *Catalogue) boundAnswer(ch choice) chain.Layer {
	return func(next hermes.Model) hermes.Model {
		return &bounding{Model: next, c: c, ch: ch, own: c.ownModel(ch)}
	}
}

type bounding struct {
	hermes.Model
	c   *Catalogue
	ch  choice
	own bool // the user's own server, or an unknown one
}

func (m *bounding) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) { m.Model.Stream(ctx, m.bound(r))(yield) }
}

func (m *bounding) bound(r *hermes.Request) *hermes.Request {
	if !m.own && r.MaxTokens <= 0 {
		return r
	}
	most := answerRoom(r, m.c.infoOf(m.ch))
	if most == 0 || r.MaxTokens > 0 && r.MaxTokens <= most {
		return r
	}
	bounded := *r
	bounded.MaxTokens = most
	return &bounded
}

// answerRoom returns how long an answer may be, in tokens: at most half of the
// window, what the prompt leaves of it, and the model's own limit. It returns 0
// if the window is unknown, or so full that a limit could make the service
// refuse the request.
func answerRoom(r *hermes.Request, info hermes.ModelInfo) int {
	window := info.ContextLength
	if window <= 0 {
		return 0
	}
	const least = 512
	size := base.Estimate(r)
	room := min(window/2, window-size-size/2) // the estimate may be too low
	if room < least {
		return 0
	}
	if info.OutputLimit > 0 {
		room = min(room, info.OutputLimit)
	}
	return room
}
